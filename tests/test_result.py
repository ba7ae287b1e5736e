"""What all results share: dicts over the fields, plain reprs, tables for a person."""

import importlib
import json
import math
import pkgutil
import subprocess
import sys
from dataclasses import dataclass, field, fields, is_dataclass
from html.parser import HTMLParser

import numpy as np
import pytest

import bayesaudit as ba
from bayesaudit._result import Result, Table, shown

COUNTS = ba.AttackCounts(fn=35, tp=65, fp=25, tn=75)
MODELS = ba.AttackCounts(fn=[19, 28, 7], tp=[31, 22, 43], fp=[17, 4, 6], tn=[33, 46, 44])
EPSILON = ba.Epsilon(delta=1e-5)
SCORES = ba.AttackScores(score=range(200), member=[0] * 100 + [1] * 100)


@dataclass(frozen=True, slots=True)
class Part(Result):
    number: float
    hidden: object = None

    _omit = ("hidden",)
    _also = ("twice", "why", "absent=hidden.name")
    _if_any = ("why",)

    @property
    def why(self):
        return None if math.isfinite(self.number) else "not finite"

    def twice(self):
        return 2 * self.number


@dataclass(frozen=True, slots=True, eq=False)
class Points(Table):
    x: np.ndarray
    y: np.ndarray
    part: Part
    note: str = field(default="<script>alert(1)</script>", repr=False)


def all_results():
    for module in pkgutil.walk_packages(ba.__path__, "bayesaudit."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    found, left = [], [Result]
    while left:
        for cls in left.pop().__subclasses__():
            left.append(cls)
            if is_dataclass(cls) and cls.__module__.startswith("bayesaudit"):
                found.append(cls)
    # `dataclass(slots=True)` makes a second class: the one that the module holds is the result.
    return [c for c in set(found) if getattr(sys.modules[c.__module__], c.__name__) is c]


def results():
    """Return a result of many kinds, all cheap."""
    exact = ba.posterior(COUNTS, EPSILON)
    roc = SCORES.roc()
    return [
        COUNTS,
        MODELS,
        exact,
        ba.posterior(MODELS, EPSILON),
        exact.interval(0.9),
        ba.posterior(MODELS, EPSILON).interval(0.9, kind="lower"),
        ba.rectangle(MODELS),
        roc,
        ba.confidence_band(SCORES),
        ba.threshold_bound(SCORES, ba.Epsilon(1e-5, "member")),
        ba.epsilon_curve(COUNTS, [0, 1e-5, 0.1]),
        ba.tradeoff_curve(SCORES, 4),
        ba.compare(MODELS),
        ba.dependence.icc(MODELS),
        ba.dependence.tipping_point(COUNTS, EPSILON),
        ba.onerun.audit(n_canaries=100, n_guesses=50, n_correct=40, delta=1e-5),
        ba.calibration.coverage(EPSILON, [0.1, 0.2], 0.1, 20, 20),
        ba.calibration.plan(1.0, fnr=0.1, fpr=0.1),
        ba.games.gaussian_claim(1.0, 1e-5),
    ]


def test_dict_follows_the_fields_and_what_the_class_declares():
    assert Part(1.5).to_dict() == {"number": 1.5, "twice": 3.0, "absent": None}
    infinite = Part(math.inf).to_dict()
    assert infinite == {"number": None, "twice": None, "why": "not finite", "absent": None}


def test_table_has_its_arrays_as_columns():
    points = Points(np.array([1, 2]), np.array([0.5, np.nan]), Part(1.0))
    assert points.to_dict() == {
        "x": [1, 2],
        "y": [0.5, None],
        "part": {"number": 1.0, "twice": 2.0, "absent": None},
        "note": "<script>alert(1)</script>",
    }
    assert points.records() == [{"x": 1, "y": 0.5}, {"x": 2, "y": None}]
    frame = points.to_frame()
    assert frame.columns.tolist() == ["x", "y"] and frame.x.tolist() == [1, 2]


def test_repr_is_plain():
    assert repr(ba.posterior(COUNTS, EPSILON).interval(0.9)) == (
        "Interval(lower=0.6626, upper=1.276, prob=0.9, kind='eti', statement='credible', "
        "method='exact posterior', guarantee='posterior mass')"
    )
    assert repr(Part(np.float64(2) / 3)) == "Part(number=0.6667)"
    assert repr(Points(np.arange(3), np.linspace(0, 1, 101), Part(0.1))) == (
        "Points(x=[0, 1, 2], y=<101 float64 from 0.0 to 1.0>, part=Part(number=0.1))"
    )


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.99999, "0.99999"),
        (0.999991234567, "0.99999123"),
        (1 - 1e-12, repr(1 - 1e-12)),
        (1234567.891, "1234568"),
        (1e-5, "1e-05"),
        (5e-217 / 3, "1.667e-217"),
        (math.inf, "inf"),
        (2.0, "2"),
        (None, "–"),
        ([1.0, 2.5], "1, 2.5"),
        (list(range(100)), "100 values from 0 to 99"),
        ({"fn": 3, "tp": [1, 2]}, "fn 3, tp 1, 2"),
    ],
)
def test_numbers_are_short_and_never_rounded_to_one(value, text):
    assert shown(value) == text


def test_exact_posterior_names_counts_measure_and_prior_in_one_line():
    assert repr(ba.posterior(COUNTS, EPSILON, prior=(2.0, 3.0))) == (
        f"ExactPosterior(measure={EPSILON!r}, counts={COUNTS!r}, prior=(2.0, 3.0))"
    )


def test_draws_posterior_is_one_line_and_prints_few():
    draws = ba.posterior(ba.sample(COUNTS, draws=200, random_seed=1), EPSILON)
    assert repr(draws) == f"DrawsPosterior({EPSILON!r}, 4 chains of 200 draws)"
    assert len(str(draws).splitlines()) < 10


def test_interval_says_what_it_promises():
    post = ba.posterior(COUNTS, EPSILON)
    assert str(post.interval(0.9)) == (
        "90 % credible interval [0.6626, 1.276] (exact posterior; posterior mass)"
    )
    assert str(post.interval(0.9, kind="upper")).startswith("95 % credible upper bound 1.276 (")
    many = ba.confidence_interval(MODELS, EPSILON, 0.95)
    assert str(many) == "95 % confidence interval of 3 tallies (clopper-pearson; guaranteed)"
    assert type(post.interval(0.9).lower) is float


@pytest.mark.parametrize("result", results(), ids=lambda result: type(result).__name__)
def test_results_read_well(result):
    one_line = repr(result)
    assert "\n" not in one_line and "np." not in one_line and "array(" not in one_line
    assert len(str(result).splitlines()) < 30
    html = result._repr_html_()
    tags = []
    parser = HTMLParser()
    parser.handle_starttag = lambda tag, attrs: tags.append((tag, dict(attrs)))
    parser.feed(html)
    assert {tag for tag, _ in tags} <= {"table", "caption", "thead", "tbody", "tr", "th", "td"}
    assert {name for _, attrs in tags for name in attrs} <= {"scope"}
    if not isinstance(result, ba.Posterior) or not result.shape:
        json.dumps(result.to_dict(), allow_nan=False)
    if isinstance(result, Table):
        assert len(result.to_frame()) == len(result.records()) >= 1


def test_html_is_escaped():
    html = Points(np.arange(2), np.arange(2), Part(1.0))._repr_html_()
    assert "<script" not in html and "&lt;script&gt;" in html


def test_every_result_has_the_plain_repr_and_fields_that_exist():
    found = all_results()
    assert len(found) > 30
    for cls in found:
        assert "bayesaudit" in cls.__repr__.__code__.co_filename, cls
        names = {one.name for one in fields(cls)}
        assert set(cls._omit) <= names, cls
        for part in cls._also:
            path = part.split("=")[-1].split(".")[0]
            assert path in names or hasattr(cls, path), (cls, part)


def test_importing_results_loads_no_numpy():
    code = "import sys, bayesaudit._result; print({'numpy', 'pandas', 'html'} & set(sys.modules))"
    found = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert found.stdout.strip() == "set()"
