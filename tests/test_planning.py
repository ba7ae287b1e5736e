"""Planning: assurance by enumeration, robust n, ceilings, strength, and the plan command."""

import itertools
import json
import math

import numpy as np
import pytest
from scipy import special, stats

import bayesaudit as ba
from bayesaudit.calibration import assurance_curve, plan
from bayesaudit.calibration._methods import ends
from bayesaudit.cli import main

MEMBER = ba.Epsilon(1e-5, "member")


def full_table(claim, n, method, fnr, fpr, prob=0.9, measure=MEMBER):
    """Assurance by the interval's end of every outcome."""
    fn, fp = np.meshgrid(np.arange(n + 1), np.arange(n + 1), indexing="ij")
    counts = ba.AttackCounts(fn=fn, tp=n - fn, fp=fp, tn=n - fp)
    lower = ends(method, counts, measure, prob, "jeffreys")[0]
    k = np.arange(n + 1)
    return stats.binom.pmf(k, n, fnr) @ (lower > claim) @ stats.binom.pmf(k, n, fpr)


@pytest.mark.parametrize(("method", "value"), [("posterior", 0.8565), ("clopper-pearson", 0.4113)])
def test_assurance_of_the_notes(method, value):
    found = plan(0.5, fnr=0.35, fpr=0.25, n=100, method=method)
    assert found.assurance == pytest.approx(value, abs=5e-5)
    assert (found.n, found.n_models, found.n_first) == (100, 100, None)


def test_assurance_curves_of_the_notes():
    found = assurance_curve(2.5, [50, 100, 200, 500], fnr=0.05, fpr=0.05)
    np.testing.assert_allclose(found, [0.5337, 0.6687, 0.8772, 0.992], atol=1e-4)
    box = assurance_curve(4.0, [5000, 20000], fnr=0.6, fpr=0.005, method="clopper-pearson")
    np.testing.assert_allclose(box, [0.4148, 0.9773], atol=1e-4)


@pytest.mark.parametrize(
    "method", ["posterior", "two-direction", "clopper-pearson", "katz-log", "exact-unconditional"]
)
def test_assurance_equals_full_enumeration(method):
    n = 12 if method == "exact-unconditional" else 22
    found = assurance_curve(0.4, n, fnr=0.3, fpr=0.2, method=method)
    assert found == pytest.approx(full_table(0.4, n, method, 0.3, 0.2), abs=1e-8)


def test_bisection_in_rows_equals_the_full_table(monkeypatch):
    from bayesaudit.calibration import assurance as module

    found = []
    for limit in (10**9, 1):
        monkeypatch.setattr(module, "ALL", limit)
        found.append(assurance_curve(1.0, [30, 75], fnr=0.2, fpr=0.1, method="clopper-pearson"))
    np.testing.assert_allclose(found[1], found[0], atol=1e-12)


@pytest.mark.parametrize(
    ("method", "n"), [("posterior", (147, 153)), ("clopper-pearson", (458, 468))]
)
def test_robust_n_of_the_notes(method, n):
    found = plan(2.5, fnr=0.05, fpr=0.05, method=method)
    assert (found.n_first, found.n) == n
    window = range(found.n, math.floor(1.1 * found.n + 20) + 1)
    values = assurance_curve(2.5, list(window), fnr=0.05, fpr=0.05, method=method)
    assert values.min() == pytest.approx(found.lowest) and found.lowest >= 0.8
    before = assurance_curve(
        2.5, [found.n_first - 1, found.n - 1], fnr=0.05, fpr=0.05, method=method
    )
    assert before.max() < 0.8


@pytest.mark.parametrize("method", ["posterior", "two-direction", "clopper-pearson"])
def test_planned_n_simulated_gives_the_promised_assurance(method):
    found = plan(0.5, fnr=0.35, fpr=0.25, method=method, target=0.7)
    rng = np.random.default_rng(3)
    size = 50_000
    drawn = np.stack([rng.binomial(found.n, rate, size) for rate in (0.35, 0.25)], axis=1)
    (fn, fp), times = (part.T for part in np.unique(drawn, axis=0, return_counts=True))
    counts = ba.AttackCounts(fn=fn, tp=found.n - fn, fp=fp, tn=found.n - fp)
    if method == "posterior":  # the 5 % quantile exceeds the claim
        shown = ba.posterior(counts, MEMBER).cdf(0.5) < 0.05
    elif method == "two-direction":
        terms = [ba.Epsilon(1e-5, "member", term) for term in ("fnr", "fpr")]
        shown = np.any([ba.posterior(counts, term).cdf(0.5) < 0.025 for term in terms], axis=0)
    else:
        shown = ba.confidence_interval(counts, MEMBER, 0.9, method=method).lower > 0.5
    error = math.sqrt(found.assurance * (1 - found.assurance) / size)
    assert abs(np.sum(times[shown]) / size - found.assurance) <= 3 * error


def test_dependent_trials_need_more_models():
    plain = plan(0.5, fnr=0.35, fpr=0.25)
    dependent = plan(0.5, fnr=0.35, fpr=0.25, per_model=10, icc=0.1)
    assert dependent.n_effective == plain.n
    assert dependent.n_models == math.ceil(plain.n * 1.9 / 10)
    assert dependent.n == 10 * dependent.n_models
    fixed = plan(0.5, fnr=0.35, fpr=0.25, n=190, per_model=10, icc=0.1)
    assert fixed.n_effective == 100
    assert fixed.assurance == plan(0.5, fnr=0.35, fpr=0.25, n=100).assurance


def test_pilot_averages_the_assurance_over_its_posterior():
    pilot = ba.AttackCounts(fn=9, tp=16, fp=6, tn=19)
    found = plan(0.5, pilot=pilot, n=60)
    # The average over draws of the rates, by its definition.
    rng = np.random.default_rng(8)
    x, y = rng.beta(9.5, 16.5, 64), rng.beta(6.5, 19.5, 64)
    values = [assurance_curve(0.5, 60, fnr=a, fpr=b) for a, b in zip(x, y, strict=True)]
    assert np.mean(values) == pytest.approx(found.assurance, abs=4 * np.std(values) / 8)
    assert found.limit == pytest.approx(ba.posterior(pilot, MEMBER).sf(0.5))
    assert found.expected_lower is None and found.true_epsilon is None
    more = assurance_curve(0.5, [200, 1200], pilot=pilot)
    assert found.assurance < more[0] < more[1] < found.limit
    assert more[1] == pytest.approx(found.limit, abs=0.06)


def test_strength_as_mu():
    mu = 1.2
    y = special.ndtr(-mu / 2)
    middle = plan(0.5, mu=mu, n=50)
    assert middle.strength == {"fnr": pytest.approx(y), "fpr": pytest.approx(y)}
    low = plan(0.5, mu=mu, fpr=0.05, n=50)
    assert low.strength["fnr"] == pytest.approx(special.ndtr(special.ndtri(0.95) - mu))


@pytest.mark.parametrize(
    ("method", "value"),
    [("posterior", 4.8964), ("clopper-pearson", 3.2813), ("exact-unconditional", 4.1933)],
)
def test_ceiling_is_the_end_of_a_perfect_attack(method, value):
    if method == "exact-unconditional":
        with pytest.raises(ValueError, match=r"below 4\.1933"):
            plan(4.2, fnr=0, fpr=0, n=100, method=method)
        return
    assert plan(3.0, fnr=0, fpr=0, n=100, method=method).ceiling == pytest.approx(value, abs=1e-4)
    with pytest.raises(ValueError, match=f"below {value:.4f}".replace(".", r"\.")):
        plan(value + 0.01, fnr=0, fpr=0, n=100, method=method)


def test_perfect_attack_needs_few_trials():
    found = plan(4.0, fnr=0.0, fpr=0.0)
    assert found.assurance == pytest.approx(1) and found.ceiling > 4.0
    assert plan(3.9, fnr=0.0, fpr=0.0).n <= found.n


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"claim": 3, "fnr": 0.35, "fpr": 0.25}, r"claim must be below 0\.9555"),
        ({"claim": -1, "fnr": 0.35, "fpr": 0.25}, "claim must be finite and >= 0"),
        ({"claim": 1}, "strength must be given"),
        ({"claim": 1, "fnr": 0.1}, "strength must be given"),
        ({"claim": 1, "mu": 1, "fnr": 0.1}, "both mu and fnr"),
        ({"claim": 1, "mu": -1}, "mu must be > 0"),
        ({"claim": 0.5, "fnr": 0.3, "fpr": 0.2, "per_model": 0}, "per_model must be >= 1"),
        ({"claim": 0.5, "fnr": 0.3, "fpr": 0.2, "icc": 2}, "icc must be in"),
        ({"claim": 0.5, "fnr": 0.3, "fpr": 0.2, "target": 80}, "did you mean 0.8"),
        ({"claim": 1.2, "fnr": 0.3, "fpr": 0.2, "max_n": 200}, "max_n must be larger"),
        ({"claim": 9, "fnr": 0, "fpr": 0, "max_n": 1000}, "largest epsilon that 1000 trials"),
    ],
)
def test_refusals(arguments, message):
    with pytest.raises(ValueError, match=message):
        plan(**arguments)


def test_pilot_refuses_a_target_it_does_not_allow():
    pilot = ba.AttackCounts(fn=18, tp=32, fp=12, tn=38)
    with pytest.raises(ValueError, match=r"target must be below 0\.9723"):
        plan(0.5, pilot=pilot, target=0.99)
    with pytest.raises(ValueError, match="pilot must stand alone"):
        plan(0.5, pilot=pilot, fnr=0.1)


def test_more_is_never_less_on_the_whole():
    found = assurance_curve(0.5, [25, 50, 100, 200, 400], fnr=0.35, fpr=0.25)
    assert all(a < b for a, b in itertools.pairwise(found))


# -- command line ----------------------------------------------------------------------------------


def test_plan_command(capsys, tmp_path):
    picture = tmp_path / "plan.png"
    arguments = ["plan", "--claim", "0.5", "--fnr", "0.35", "--fpr", "0.25", "--n", "100"]
    assert main([*arguments, "--plot", str(picture)]) == 0
    out = capsys.readouterr().out
    assert "0.8565" in out and "0.4113" in out and "two-direction" in out
    assert picture.stat().st_size > 5000
    assert main([*arguments, "--json"]) == 0
    document = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    results = document["results"]
    assert results["n"] == 100 and results["assurance"] == pytest.approx(0.8565, abs=1e-4)
    assert results["ceiling"] == pytest.approx(4.8964, abs=1e-4)
    assert results["methods"]["clopper-pearson"]["assurance"] == pytest.approx(0.4113, abs=1e-4)
    assert document["inputs"]["claim"] == 0.5


def test_plan_command_with_models(capsys):
    arguments = ["--claim", "0.5", "--fnr", "0.35", "--fpr", "0.25", "--per-model", "10"]
    assert main(["plan", *arguments, "--icc", "0.1", "--json"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["results"]["n_models"] == 16
    assert "known" in err
    assert main(["plan", *arguments, "--n", "100", "--json"]) == 0
    assert "assumption" in capsys.readouterr().err


def test_plan_command_with_a_pilot_file(capsys, tmp_path):
    path = tmp_path / "pilot.csv"
    path.write_text("fn,tp,fp,tn\n18,32,12,38\n", encoding="utf-8")
    assert main(["plan", "--claim", "0.5", "--pilot", str(path), "--n", "144"]) == 0
    assert "| pilot) = 0.9723" in capsys.readouterr().out


def test_plan_command_refuses_in_one_line(capsys):
    assert main(["plan", "--claim", "3", "--fnr", "0.35", "--fpr", "0.25"]) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1 and "below 0.9555" in err


def test_methods_that_cannot_show_the_claim_say_why(capsys):
    arguments = ["--claim", "4", "--fnr", "0", "--fpr", "0", "--n", "100", "--json"]
    assert main(["plan", *arguments]) == 0
    methods = json.loads(capsys.readouterr().out)["results"]["methods"]
    assert methods["clopper-pearson"]["n"] is None
    assert "3.2813" in methods["clopper-pearson"]["reason"]
