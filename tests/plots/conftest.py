"""Results of every kind in the cases that figures get wrong, and a call that draws each."""

from types import SimpleNamespace

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure

import bayesaudit as ba

MEMBER = ba.Epsilon(1e-5, "member")
#: FN, TP, FP, TN and the measure.
CASES = {
    "ordinary": (35, 65, 25, 75, ba.Epsilon(0.05)),
    "no error": (0, 100, 0, 100, ba.Epsilon(1e-5)),
    "n = 1e6": (300_000, 700_000, 250_000, 750_000, ba.Epsilon(1e-5)),
    "atom": (50, 50, 50, 50, ba.Epsilon(0.1)),
    "always 0": (50, 50, 50, 50, ba.Epsilon(0.99)),
    "delta = 0": (35, 65, 25, 75, ba.Epsilon(0)),
    "one trial": (0, 1, 0, 1, ba.Epsilon(0)),
    "mu": (35, 65, 25, 75, ba.GaussianMu()),
    "advantage": (65, 35, 75, 25, ba.Advantage()),
}


@pytest.fixture(autouse=True)
def no_figure_is_left():
    import matplotlib.pyplot as plt

    yield
    plt.close("all")


@pytest.fixture(scope="session")
def posteriors():
    """The exact posterior and that of draws, of every case."""
    found = {}
    for name, (fn, tp, fp, tn, measure) in CASES.items():
        counts = ba.AttackCounts(fn=fn, tp=tp, fp=fp, tn=tn)
        draws = ba.posterior(ba.sample(counts, draws=500, random_seed=1, groups=()), measure)
        found[name] = {"exact": ba.posterior(counts, measure), "draws": draws}
    return found


@pytest.fixture(scope="session")
def results():
    """Results of the other kinds, by name."""
    rng = np.random.default_rng(1)
    member = np.arange(600) % 2 == 1
    scores = ba.AttackScores(score=rng.normal(size=600) + 1.2 * member, member=member)
    perfect = ba.AttackScores(score=np.arange(200.0), member=np.arange(200) >= 100)
    counts, none = (ba.AttackCounts(fn=k, tp=100 - k, fp=k, tn=100 - k) for k in (30, 0))
    fine = np.concatenate([[0], np.geomspace(1e-6, 0.02, 8), np.linspace(0.03, 0.6, 30)])
    rates = np.array([0.02, 0.1, 0.3, 0.6])
    fpr, fnr = np.meshgrid(rates, rates)
    question = {"claim": 1.0, "fnr": 0.2, "fpr": 0.1}
    methods = ("posterior", "clopper-pearson")
    return SimpleNamespace(
        band=ba.confidence_band(scores),
        perfect=ba.confidence_band(perfect),
        tradeoff=ba.tradeoff_curve(scores),
        curve=ba.epsilon_curve(counts, fine),
        curve_no_error=ba.epsilon_curve(none, fine),
        curve_coarse=ba.epsilon_curve(counts, [0, 1e-5, 0.1, 0.4]),
        curve_lower=ba.epsilon_curve(counts, fine, kind="lower"),
        tipping=ba.dependence.tipping_point(counts, MEMBER),
        tipping_no_error=ba.dependence.tipping_point(none, MEMBER),
        coverage=[
            ba.calibration.coverage(MEMBER, fnr, fpr, 20, 20, method=name) for name in methods
        ],
        n=np.array([20, 40, 80, 160]),
        plans=[ba.calibration.plan(method=name, **question) for name in methods],
        assurance={
            name: ba.calibration.assurance_curve(n=[20, 40, 80, 160], method=name, **question)
            for name in methods
        },
        fano=[ba.fano.best_bound(categories=10, pure_epsilon=e, gdp_mu=e) for e in (0.3, 1, 3)],
        lines=lines(counts),
        tallies=ba.posterior(
            ba.AttackCounts(fn=[0, 35], tp=[100, 65], fp=[0, 25], tn=[100, 75]), MEMBER
        ).interval(),
    )


def lines(counts):
    """Lines as an audit has them: each promise, one end, no end."""
    measure = ba.Epsilon(1e-5)
    intervals = [
        ba.posterior(counts, measure).interval(),
        ba.confidence_interval(counts, measure),
        ba.confidence_interval(counts, measure, method="wilson"),
        ba.two_direction_bound(counts, 1e-5),
    ]
    common = {"delta": 1e-5, "prob": 0.9, "upper": None}
    return [
        *intervals,
        SimpleNamespace(
            method="optimistic", lower=0.9, statement="not a bound", guarantee="", **common
        ),
        SimpleNamespace(
            method="betting", lower=None, statement="confidence", guarantee="guaranteed",
            reason="one model: nothing is independent", **common,
        ),
    ]  # fmt: skip


@pytest.fixture(scope="session")
def calls(posteriors, results):
    """Every figure of one axes, in every case that matters: name -> a function of the axes."""
    plots, r = ba.plots, results
    found = {}
    for name in ("ordinary", "no error", "n = 1e6", "atom", "delta = 0"):
        for engine, post in posteriors[name].items():
            found[f"region, {name}, {engine}"] = (plots.region, (post,), {})
        pair = tuple(posteriors[name].values())
        found[f"cdf, {name}"] = (plots.cdf, pair, {"claim": 1.0})
        found[f"density, {name}"] = (plots.density, pair[:1], {"claim": 1.0})
        found[f"cdf_difference, {name}"] = (plots.cdf_difference, pair, {})
    found |= {
        "forest": (plots.forest, (r.lines,), {"claim": 1.0}),
        "forest of tallies": (plots.forest, (r.tallies,), {}),
        "roc": (plots.roc, (r.band,), {}),
        "roc, no error": (plots.roc, (r.perfect,), {}),
        "tradeoff": (plots.tradeoff, (r.tradeoff,), {"claim": 1.0}),
        "tradeoff, band": (plots.tradeoff, (r.perfect,), {"claim": 1.0}),
        "epsilon_curve": (plots.epsilon_curve, (r.curve,), {}),
        "epsilon_curve, no error": (plots.epsilon_curve, (r.curve_no_error,), {}),
        "epsilon_curve, coarse": (plots.epsilon_curve, (r.curve_coarse,), {}),
        "epsilon_curve, lower": (plots.epsilon_curve, (r.curve_lower,), {}),
        "tipping": (plots.tipping, (r.tipping,), {"claim": 1.0}),
        "tipping, no error": (plots.tipping, (r.tipping_no_error,), {"claim": 1.0}),
        "coverage": (plots.coverage, (r.coverage[0],), {}),
        "assurance": (plots.assurance, (r.n, r.assurance), {"plans": r.plans}),
        "fano_bounds": (plots.fano_bounds, (r.fano[1],), {}),
        "fano_curves": (plots.fano_curves, ([0.3, 1, 3], r.fano), {"xlabel": "ε (nats)"}),
    }
    return {
        name: lambda ax=None, f=function, a=args, k=options: f(*a, **k, ax=ax)
        for name, (function, args, options) in found.items()
    }


@pytest.fixture(scope="session")
def pages(calls):
    """The axes of every figure, drawn without pyplot on a light and on a dark page."""
    return {
        page: {name: drawn_on(draw, style) for name, draw in calls.items()}
        for page, style in (("light", "default"), ("dark", "dark_background"))
    }


def drawn_on(draw, style):
    with mpl.style.context(style):
        return draw(Figure().subplots())
