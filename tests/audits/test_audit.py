"""`ba.audit` and its `Audit`: one object behind the command line, tables and JSON."""

import json

import numpy as np
import pytest

import bayesaudit as ba
from bayesaudit.cli import main

STATEMENTS = {"credible", "confidence", "approximate", "not a bound"}
GUARANTEES = {
    "posterior mass",
    "guaranteed",
    "near nominal",
    "asymptotic",
    "approximate",
    "posterior",
    "prior-driven",
    "not identified",
    "not a bound",
}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Files of every kind: name -> path."""
    folder = tmp_path_factory.mktemp("attacks")
    rng = np.random.default_rng(4)
    member = np.arange(240) % 2
    score = np.round(member + rng.normal(size=240), 3)
    model = np.arange(240) // 30
    shifted = np.round(score + rng.normal(size=8)[model], 3)
    rows = {
        "scores": ["score,member", *(f"{s},{m}" for s, m in zip(score, member, strict=True))],
        "models": [
            "score,member,model",
            *(f"{s},{m},m{j}" for s, m, j in zip(shifted, member, model, strict=True)),
        ],
        "guesses": [
            "member,guess",
            *(f"{m},{int(s > 0.5)}" for s, m in zip(score, member, strict=True)),
        ],
        "per_model": ["model,fn,tp,fp,tn", "a,3,17,2,18", "b,7,13,1,19", "c,2,18,6,14"],
        "one_model": ["model,fn,tp,fp,tn", "a,30,170,20,180"],
        "tallies": ["fn,tp,fp,tn", "35,65,25,75", "0,100,0,100", "48,52,50,50"],
    }
    for name, lines in rows.items():
        (folder / f"{name}.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return {name: str(folder / f"{name}.csv") for name in rows}


COUNTS = {"fn": 35, "tp": 65, "fp": 25, "tn": 75}
#: Arguments of `ba.audit`, the same for `estimate`: (what is audited, keyword arguments).
ASKED = [
    (COUNTS, {}),
    (COUNTS, {"claim": 1.0}),
    (COUNTS, {"delta": [0.0, 0.05], "prob": 0.95, "direction": "member", "prior": (1.0, 1.0)}),
    (COUNTS, {"looks": 3}),
    (COUNTS, {"looks": "anytime"}),
    (COUNTS, {"prior": {"fnr": (0.5, 0.5), "fpr": (1.0, 2.0)}}),
    ({"fn": 0, "tp": 1000, "fp": 0, "tn": 1000}, {"delta": 0.0}),
    ({"fn": 50, "tp": 50, "fp": 50, "tn": 50}, {"delta": 0.1}),
    ({"fn": 70, "tp": 30, "fp": 60, "tn": 40}, {"claim": 0.2}),
    ({"fn": 350, "tp": 650000, "fp": 25, "tn": 750000}, {}),
    ("tallies", {}),
    ("tallies", {"delta": [0.0, 0.1], "claim": 2.0}),
    ("per_model", {}),
    ("per_model", {"claim": 0.5, "delta": [0.0, 0.01]}),
    ("per_model", {"icc_prior": "uniform"}),
    ("per_model", {"icc_prior": 0.0}),
    ("per_model", {"icc_prior": (2.0, 8.0), "looks": 2}),
    ("per_model", {"looks": "anytime"}),
    ("one_model", {"claim": 1.0}),
    ("guesses", {}),
    ("guesses", {"delta": 0.0, "prior": "uniform"}),
    ("scores", {"threshold": 0.5}),
    ("scores", {"threshold": 0.5, "claim": 1.0, "looks": 4}),
    ("models", {"threshold": 0.5}),
    ("scores", {"threshold": "band", "claim": 0.5}),
    ("scores", {"threshold": "band", "looks": 5, "delta": [0.0, 0.1]}),
    ("scores", {"threshold": "split", "random_seed": 3}),
    ("scores", {"threshold": "split", "delta": [0.0, 0.1], "claim": 0.3}),
    ("scores", {"threshold": "multi-split", "random_seed": 3}),
    ("scores", {"threshold": "bonferroni", "claim": 0.1}),
    ("scores", {"threshold": "optimistic"}),
    ("models", {"threshold": "split", "random_seed": 2, "icc_prior": (2.0, 8.0)}),
    ("models", {"threshold": "band"}),
]
ONE_RUN = [
    ({"n_canaries": 1000, "n_guesses": 200, "n_correct": 150}, {}),
    ({"n_canaries": 1000, "n_guesses": 200, "n_correct": 150}, {"delta": [0.0, 1e-3]}),
    (
        {"n_canaries": 100, "n_guesses": 50, "n_correct": 45},
        {"claim": 0.5, "independent_canaries": True},
    ),
    ("scores", {"guesses": [40, (60, 20)]}),
    ("scores", {"guesses": [40], "claim": 0.2}),
]
OPTIONS = {
    "random_seed": "seed",
    "n_canaries": "canaries",
    "n_guesses": "guesses",
    "n_correct": "correct",
}


def arguments(files, what, asked):
    """Return the command line of the same question."""
    words = [] if isinstance(what, dict) else [files[what]]
    options = {**(what if isinstance(what, dict) else {}), **asked}
    for name, value in options.items():
        option = "--" + OPTIONS.get(name, name).replace("_", "-")
        if value is True:
            words.append(option)
            continue
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, dict):
                one = (*one["fnr"], *one["fpr"])
            text = ",".join(map(str, one)) if isinstance(one, tuple) else str(one)
            words += [option, text]
    return words


def answer(files, what, asked):
    attack = ba.AttackCounts(**what) if isinstance(what, dict) else files[what]
    return ba.audit(attack, **asked)


def ident(case):
    return str(case) if isinstance(case, str) else ",".join(map(str, case)) or "plain"


@pytest.mark.parametrize(("what", "asked"), ASKED, ids=ident)
def test_the_json_is_that_of_the_command_line(files, capsys, what, asked):
    assert main(["estimate", *arguments(files, what, asked), "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    found = answer(files, what, asked).to_dict()
    assert json.loads(json.dumps(found, allow_nan=False)) == printed


@pytest.mark.parametrize(("what", "asked"), ONE_RUN, ids=ident)
def test_the_json_of_one_run_is_that_of_the_command_line(files, capsys, what, asked):
    assert main(["estimate", "--one-run", *arguments(files, what, asked), "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    if isinstance(what, dict):
        found = ba.audit_one_run(**what, **asked)
    else:
        found = ba.audit_one_run(files[what], **asked)
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False)) == printed


@pytest.mark.parametrize(("what", "asked"), ASKED, ids=ident)
def test_every_line_says_what_it_promises_and_every_rendering_shows_it(files, what, asked):
    result = answer(files, what, asked)
    assert len({type(line) for line in result.lines}) == 1
    for line in result.lines:
        assert line.statement in STATEMENTS and line.guarantee in GUARANTEES
        assert line.promise and line.assumption
        assert line.delta in result.delta and line.prob == result.prob
        assert (line.reason is not None) == bool(np.any(np.isinf([line.lower, line.upper])))
        assert (line.statement == "credible") == (line.posterior is not None)
        assert result.line(line.method, line.delta) is line
    text, page = str(result), result._repr_html_()
    assert "np.float64" not in text + repr(result.lines[0])
    assert page.count("<table>") == page.count("</table>") > 0
    frame = result.to_frame()
    tallies = result.n_tallies or 1
    assert len(frame) >= tallies * len(result.delta)
    assert {"delta", "method", "lower", "upper", "statement", "guarantee"} <= set(frame)
    if result.n_tallies is None:
        assert result.conclusion in text


def test_many_tallies_are_one_audit_with_one_table(files):
    result = ba.audit(files["tallies"], claim=1.0)
    assert result.n_tallies == 3
    assert result.line("exact posterior").lower.shape == (3,)
    header, *rows = str(result).splitlines()[2:]
    assert len(rows) == 3 and header.split()[0] == "tally"
    single = ba.audit(ba.AttackCounts(fn=0, tp=100, fp=0, tn=100), claim=1.0)
    assert result[1].line("exact posterior").lower == pytest.approx(
        single.line("exact posterior").lower, abs=1e-12
    )
    assert result[1].conclusion == single.conclusion
    # The declared direction stands beside the folded one only where it says something else.
    assert result[0].line("exact posterior, member") is None
    assert result[2].line("exact posterior, member") is not None
    assert set(result.to_frame().tally) == {0, 1, 2}


def test_an_array_without_an_axis_is_taken_as_tallies_and_says_so():
    cells = {"fn": [3, 5], "tp": [17, 15], "fp": [2, 4], "tn": [18, 16]}
    loose = ba.audit(ba.AttackCounts(**cells))
    assert loose.n_tallies == 2 and any("axis='model'" in note for note in loose.warnings)
    tallies = ba.audit(ba.AttackCounts(**cells, axis="tally"))
    assert tallies.n_tallies == 2 and not tallies.warnings
    models = ba.audit(ba.AttackCounts(**cells, axis="model"))
    assert models.n_tallies is None and models.dependence.n_models == 2


def test_what_is_recommended_is_guaranteed_for_these_data(files):
    assert answer(files, COUNTS, {}).recommended.method == "exact-unconditional"
    assert answer(files, COUNTS, {"looks": "anytime"}).recommended.method == "anytime"
    large = {"fn": 350, "tp": 650000, "fp": 25, "tn": 750000}
    assert answer(files, large, {}).recommended.method == "clopper-pearson"
    assert answer(files, "scores", {"threshold": "band"}).recommended.is_guaranteed
    for strategy in ("optimistic", "bonferroni"):
        assert answer(files, "scores", {"threshold": strategy}).recommended is None
    # Bounds that rest on independent trials are not what per-model data may quote.
    quoted = answer(files, "per_model", {}).recommended
    assert quoted is None or quoted.method == "betting"
    run = ba.audit_one_run(n_canaries=1000, n_guesses=200, n_correct=150)
    assert run.recommended.method == "all-subset" and run.recommended.p_value is None


def test_a_promise_that_the_looks_break_is_refused(files):
    for strategy in ("band", "split", "multi-split", "bonferroni"):
        with pytest.raises(ValueError, match=f"looks anytime does not go with .* {strategy}"):
            ba.audit(files["scores"], threshold=strategy, looks="anytime")
    assert ba.audit(files["scores"], threshold=0.5, looks="anytime").recommended.is_guaranteed


def test_declared_looks_share_the_error_of_every_confidence_line(files):
    once, thrice = answer(files, COUNTS, {}), answer(files, COUNTS, {"looks": 3})
    counts, measure = ba.AttackCounts(**COUNTS), ba.Epsilon(1e-5)
    for line in thrice.lines:
        if line.statement == "credible":
            assert line.lower == once.line(line.method).lower
        else:
            right = ba.confidence_interval(counts, measure, 1 - 0.1 / 3, method=line.method)
            assert line.lower == right.lower
    (note,) = thrice.warnings
    assert "guaranteed" in note and "asymptotic" in note and "credible" in note
    with pytest.raises(ValueError, match="curve does not go with looks anytime"):
        answer(files, COUNTS, {"looks": "anytime"}).curve()
    curve, adjusted = once.curve([1e-5]), thrice.curve([1e-5])
    assert adjusted.lower == curve.lower
    assert adjusted.confidence_lower == thrice.line("clopper-pearson").lower


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"delta": 2.0}, r"delta must be in \[0, 1\], got 2.0"),
        ({"delta": []}, "delta must be a number or several"),
        ({"prob": 95}, "did you mean 0.95"),
        ({"claim": -1}, "claim must be finite and >= 0"),
        ({"direction": "up"}, "direction must be one of"),
        ({"looks": 0}, "looks must be >= 1"),
        ({"threshold": 0.5}, "holds counts, which take no threshold"),
        ({"random_seed": 1}, "random_seed needs threshold split"),
        ({"icc_prior": "uniform"}, "icc_prior needs data with a model column"),
    ],
)
def test_bad_questions_are_refused_by_name(asked, message):
    with pytest.raises(ValueError, match=message):
        ba.audit(ba.AttackCounts(**COUNTS), **asked)


def test_bad_attacks_are_refused():
    with pytest.raises(TypeError, match="attack must be AttackCounts, AttackScores or a file"):
        ba.audit({"fn": 1})
    scores = ba.AttackScores(score=[0.1, 0.9], member=[0, 1])
    with pytest.raises(ValueError, match="holds scores, which need threshold"):
        ba.audit(scores)
    with pytest.raises(ValueError, match="threshold must be a number, got 'best'"):
        ba.audit(scores, threshold="best")
    with pytest.raises(ValueError, match="missing n_guesses, n_correct"):
        ba.audit_one_run(n_canaries=3)
    with pytest.raises(ValueError, match="guesses must be declared"):
        ba.audit_one_run(scores)
    with pytest.raises(ValueError, match="takes scores or n_correct"):
        ba.audit_one_run(scores, guesses=2, n_correct=1)


def test_fail_above_is_an_exit_status(capsys, files, tmp_path):
    cells = ["--fn", "35", "--tp", "65", "--fp", "25", "--tn", "75"]
    assert main(["estimate", *cells, "--fail-above", "0.63", "--quiet"]) == 1
    assert main(["estimate", *cells, "--fail-above", "0.64", "--quiet"]) == 0
    assert capsys.readouterr().out == ""
    out = tmp_path / "audit.json"
    assert main(["estimate", *cells, "--out", str(out), "--quiet", "--fail-above", "0.1"]) == 1
    found = ba.audit(ba.AttackCounts(**COUNTS)).to_dict()
    assert json.loads(out.read_text()) == json.loads(json.dumps(found))
    assert main(["estimate", files["tallies"], "--fail-above", "4", "--quiet"]) == 1
    assert main(["estimate", files["tallies"], "--fail-above", "5", "--quiet"]) == 0
    optimistic = [files["scores"], "--threshold", "optimistic", "--fail-above", "1"]
    assert main(["estimate", *optimistic]) == 2
    assert "--fail-above needs a guaranteed lower bound" in capsys.readouterr().err


def test_draws_stand_beside_the_lines():
    result = ba.audit(ba.AttackCounts(**COUNTS), delta=[1e-5, 0.1], claim=1.0)
    sampled = result.sample(random_seed=3)
    assert sampled.draws.passed
    for delta in result.delta:
        exact, draws = sampled.line("exact posterior", delta), sampled.line("draws", delta)
        for end in ("lower", "upper"):
            gap = abs(getattr(draws, end) - getattr(exact, end))
            assert gap < 4.5 * draws.summary["mcse"][end]
    assert result.line("draws") is None
    alone = ba.audit_draws(sampled.draws.dt, delta=0.1, claim=1.0)
    assert alone.line("draws").lower == sampled.line("draws", 0.1).lower
    assert alone.draws.cross_check[0.1].passed
    assert alone.to_dict()["results"]["claim"]["prob_above"] == alone.lines[0].prob_above
    with pytest.raises(ValueError, match="model takes method nuts"):
        result.sample("independent", method="conjugate")
    with pytest.raises(ValueError, match="sample needs counts"):
        ba.audit_one_run(n_canaries=9, n_guesses=3, n_correct=2).sample()
