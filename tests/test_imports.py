import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
HEAVY = ("pymc", "pytensor", "arviz", "matplotlib", "pandas", "xarray", "scipy.stats", "nutpie")

LIGHT_PATHS = {
    "import": "import bayesaudit",
    "exact path": (
        "import bayesaudit as ba\n"
        "counts = ba.AttackCounts(fn=35, tp=65, fp=25, tn=75)\n"
        "ba.posterior(counts, ba.Epsilon(1e-5)).interval(0.9)\n"
        "ba.confidence_interval(counts, ba.Epsilon(1e-5))"
    ),
    "command line": (
        "from bayesaudit.cli import main\n"
        "main(['estimate', '--fn', '35', '--tp', '65', '--fp', '25', '--tn', '75', '--json'])"
    ),
}


def test_light_paths_load_nothing_heavy():
    for name, code in LIGHT_PATHS.items():
        script = (
            f"{code}\nimport sys; print(*[m for m in {HEAVY} if m in sys.modules], file=sys.stderr)"
        )
        done = subprocess.run(
            [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
        )
        assert done.stderr.strip() == "", name


def test_every_public_name_exists():
    import bayesaudit

    for name in bayesaudit.__all__:
        assert getattr(bayesaudit, name) is not None
    assert set(bayesaudit.__all__) <= set(dir(bayesaudit))
