"""The house: a room imports from the floors below it, and nothing goes round in a circle."""

import ast
import subprocess
import sys
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "bayesaudit"

#: Rooms, from the ground up; those of one floor may import each other, but not in a circle.
FLOORS = (
    {"_version", "_checks", "_files", "_gdp", "_plain", "_quadrature", "_table", "_text"},
    {"_result", "_interval"},
    {"counts", "scores", "roc", "reading", "proportions", "_observed"},
    {"measures", "rates", "score_laws"},
    {"posteriors"},
    {"anytime", "betting", "intervals", "unconditional", "onerun", "fano"},
    {"thresholds", "curves", "score_curves", "dependence"},
    {"models", "sampling"},
    {"diagnostics"},
    {"games", "calibration"},
    {"audits"},
    {"plots", "reports"},
    {"cli"},
)
#: What the command line may import: it parses, asks and prints.
ASKED = {
    "_checks", "_files", "_plain", "_table", "_version", "audits", "calibration", "diagnostics",
    "fano", "games", "plots", "reading", "reports", "sampling",
}  # fmt: skip
#: What it imports from deeper down all the same: to become fewer, never more.
DEEPER = {
    ("_input", "counts"),
    ("_input", "rates"),
    ("_plan", "betting"),
    ("_plan", "counts"),
    ("_simulate", "_gdp"),
}
#: Libraries that the exact path does without; rooms of PyMC import them at the top.
HEAVY = {"scipy.stats", "pandas", "xarray", "matplotlib", "arviz", "pymc", "pytensor", "nutpie"}


def modules():
    found = {}
    for path in PACKAGE.rglob("*.py"):
        parts = [PACKAGE.name, *path.relative_to(PACKAGE).with_suffix("").parts]
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports(name, path, known):
    """Return every module of the package that a module imports, wherever and for whatever."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name} imports relatively"
            found |= {
                full if (full := f"{node.module}.{alias.name}") in known else node.module
                for alias in node.names
            }
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return {one for one in found if one in known and one != name}


def top_level(path):
    """Return what is imported when a module is, by its full name."""
    found = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom):
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return found


def heavy(name):
    return any(name == one or name.startswith(f"{one}.") for one in HEAVY)


def room(name):
    return name.split(".")[1]


def circle(graph):
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return error.args[1]
    return None


MODULES = modules()
#: The package's own module only names where the public names are.
GRAPH = {
    name: imports(name, path, MODULES) - {"bayesaudit"}
    for name, path in MODULES.items()
    if name not in ("bayesaudit", "bayesaudit.__main__")
}


def test_a_circle_is_seen():
    assert circle({"a": {"b"}, "b": {"c"}, "c": {"a"}})
    assert not circle({"a": {"b", "c"}, "b": {"c"}})


def test_no_circle_between_modules_not_even_for_types():
    assert circle(GRAPH) is None


def test_no_circle_between_rooms():
    rooms = {}
    for name, others in GRAPH.items():
        rooms.setdefault(room(name), set()).update(map(room, others))
    assert circle({one: others - {one} for one, others in rooms.items()}) is None


def test_every_room_has_a_floor():
    assert {room(name) for name in GRAPH} <= set().union(*FLOORS)


def test_imports_go_down():
    height = {one: floor for floor, rooms in enumerate(FLOORS) for one in rooms}
    above = {
        (name, other)
        for name, others in GRAPH.items()
        for other in others
        if height[room(other)] > height[room(name)]
    }
    assert not above


def test_the_command_line_asks_and_prints():
    asked = {
        (name.split(".")[-1], room(other))
        for name, others in GRAPH.items()
        if room(name) == "cli"
        for other in others
        if room(other) not in ASKED | {"cli"}
    }
    assert asked <= DEEPER


def test_heavy_libraries_load_where_they_are_used():
    found = {
        name: loaded
        for name in GRAPH
        if room(name) not in ("models", "sampling")
        and (loaded := {one for one in top_level(MODULES[name]) if heavy(one)})
    }
    assert not found


def test_importing_light_rooms_loads_nothing_heavy():
    light = [one for floor in FLOORS[:7] for one in sorted(floor) if one in map(room, GRAPH)]
    names = ", ".join(f"bayesaudit.{one}" for one in light)
    code = f"import {names}; import sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not HEAVY & set(done.stdout.split())
