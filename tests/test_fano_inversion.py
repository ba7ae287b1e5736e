import json
from pathlib import Path

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayesaudit import fano
from bayesaudit.fano._solver import phi

ROWS = json.loads((Path(__file__).parent / "data" / "fano.json").read_text(encoding="utf-8"))
METHODS = ("erokhin", "paper", "han-verdu")


def rows(name):
    return [
        pytest.param(r["inputs"], r["out"], id=str(r["id"]))
        for r in ROWS["values"]
        if r["fn"] == name
    ]


def close(value, right, tolerance=1e-12):
    return value == pytest.approx(float(right), rel=tolerance, abs=1e-40)


def secret(inputs):
    if "M" in inputs:
        return {"categories": int(inputs["M"])}
    return {"prior": [float(p) for p in inputs["p"]]}


@pytest.mark.parametrize(("inputs", "out"), rows("fano_uniform"))
def test_uniform_reference(inputs, out):
    mu, m = float(inputs["mu_nats"]), int(inputs["M"])
    right, t = float(out["adv"]), float(out["t"])
    for value in (fano.advantage(mu, categories=m), fano.advantage([mu, mu], categories=m)[1]):
        assert close(value, right)
        assert value >= right * (1 - 1e-15)
    error = fano.error(mu, categories=m)
    # d log t/d log mu, from the derivative of Fano's equation
    slope = np.log((1 - t) * (m - 1) / t) if 0 < t < 1 else np.inf
    condition = 1 + (mu / (t * slope) if t > 0 and slope > 1e-9 else 0)
    assert error <= t * (1 + 1e-15)
    assert error == pytest.approx(t, rel=1e-12 + 4e-15 * condition)
    bound = fano.fano_bound(mu, categories=m)
    assert close(bound.success, out["s"])
    assert bound.success >= float(out["s"]) * (1 - 1e-15)


@pytest.mark.parametrize(("inputs", "out"), rows("fano_prior"))
@pytest.mark.parametrize("method", METHODS)
def test_prior_reference(inputs, out, method):
    mu, prior = float(inputs["mu_nats"]), secret(inputs)["prior"]
    if len(prior) == 1:
        bound = fano.fano_bound(mu, prior=prior, method=method)
        assert (bound.advantage, bound.success, bound.error) == (0.0, 1.0, 0.0)
        assert not bound.vacuous and "convention" in bound.notes[0]
        return
    right = max(float(out["adv_" + method.replace("-", "")]), 0.0)
    shuffled = [prior[i] for i in np.random.default_rng(0).permutation(len(prior))]
    for value in (
        fano.advantage(mu, prior=prior, method=method),
        fano.advantage([mu, mu], prior=[*shuffled, 0.0], method=method)[0],
    ):
        assert close(value, right)
        assert value >= right * (1 - 1e-15)
    if method != "han-verdu":
        t = float(out["t_" + method])
        assert close(fano.error(mu, prior=prior, method=method), t)
        assert fano.error(mu, prior=prior, method=method) <= t * (1 + 1e-15)


@pytest.mark.parametrize("case", ROWS["cases"], ids=lambda case: case["id"])
def test_inversion_cases(case):
    mu, m = float(case["input"]["mutual_information_nats"]), case["input"]["M"]
    bound = fano.fano_bound(mu, categories=m)
    assert close(bound.advantage, case["right"]["advantage"])
    assert close(bound.success, case["right"]["p"])


@pytest.mark.parametrize(("inputs", "out"), rows("asymptotic_small") + rows("asymptotic_poisson"))
def test_asymptotic_regimes(inputs, out):
    value = fano.advantage(float(inputs["mu_nats"]), categories=int(inputs["M"]))
    assert close(value, out["exact"])
    assert value == pytest.approx(float(out["adv"]), rel=1e-3)


@pytest.mark.parametrize(("inputs", "out"), rows("asymptotic_full"))
def test_nearly_everything_revealed(inputs, out):
    value = fano.error(float(inputs["mu_nats"]), categories=int(inputs["M"]))
    # t has the condition number mu/(t log((1-t)(M-1)/t)) of about 1e3 there
    assert close(value, out["exact"])
    m, mu = int(inputs["M"]), float(inputs["mu_nats"])
    assert close(fano.error(conditional_entropy=np.log(m) - mu, categories=m), out["exact"])


def test_plain_bisection_is_unsafe_where_this_is_not():
    mu, m, true = 1e-12, 10**10, 1.4471681625000555e-11  # 60 digits

    def f(t):  # as the paper's Algorithm 1 evaluates it
        return np.log(m) - mu + t * np.log(t) + (1 - t) * np.log(1 - t) - t * np.log(m - 1)

    low, high = 0.0, 1 - 1 / m
    for _ in range(200):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if f(middle) > 0 else (low, middle)
    naive = (1 - high - 1 / m) / (1 - 1 / m)
    assert naive < true * (1 - 1e-4)  # claims more privacy than there is
    assert true <= fano.advantage(mu, categories=m) <= true * (1 + 1e-13)


def high_precision(mu, prior):
    """Erokhin's curve by bisection on the threshold with 60 digits; the doubles are exact."""
    with mp.workdps(60):
        p = sorted((mp.mpf(x) for x in prior), reverse=True)
        total = sum(p)
        p = [x / total for x in p]
        mu = mp.mpf(mu)

        def curve(theta):
            kept = [x for x in p if x > theta] or [p[0]]
            tail = sum(p[len(kept) :])
            a = 1 - (len(kept) - 1) * theta - tail
            information = -sum(x * mp.log(x) for x in kept) + a * mp.log(a)
            if theta > 0:
                information += (len(kept) - 1) * theta * mp.log(theta)
            return information, a

        if mu >= curve(mp.mpf(0))[0]:
            return mp.mpf(1)
        low, high = mp.mpf(0), p[1]
        for _ in range(190):
            middle = (low + high) / 2
            if curve(middle)[0] >= mu:
                low = middle
            else:
                high = middle
        return (curve(low)[1] - p[0]) / (1 - p[0])


def random_prior(rng):
    """Spread, nearly uniform (gaps down to 1e-12) or skewed (letters down to 1e-9)."""
    n = int(rng.integers(2, 10))
    weights = (
        rng.gamma(10.0 ** rng.uniform(-1, 1.5), size=n) + 1e-18,
        1 + 10.0 ** -rng.uniform(1, 12) * rng.standard_normal(n),
        10.0 ** -rng.uniform(0, 9, n),
    )[int(rng.integers(3))]
    return weights / weights.sum()


@pytest.mark.parametrize("seed", range(12))
def test_erokhin_against_60_digits(seed):
    rng = np.random.default_rng(seed)
    for _ in range(4):
        prior = random_prior(rng)
        mu = float(-(prior * np.log(prior)).sum() * 10.0 ** -rng.uniform(0, 16))
        right = high_precision(mu, prior)
        for value in (fano.advantage(mu, prior=prior), fano.advantage([mu, mu], prior=prior)[0]):
            assert float((mp.mpf(value) - right) / right) >= -1e-15
            assert float((mp.mpf(value) - right) / right) <= 1e-13


@pytest.mark.parametrize("seed", range(10))
def test_uniform_against_60_digits(seed):
    rng = np.random.default_rng(100 + seed)
    with mp.workdps(60):
        for _ in range(4):
            m = int(10.0 ** rng.uniform(0.31, 14))
            mu = float(np.log(m) * 10.0 ** -rng.uniform(0, 20))
            value = fano.advantage(mu, categories=m)
            q = mp.mpf(1) / m

            def information(y, q=q):
                s = q + (1 - q) * mp.mpf(y)
                return s * mp.log(s / q) + ((1 - s) * mp.log((1 - s) / (1 - q)) if s < 1 else 0)

            # The root is between value (1 - 1e-13) and value (1 + 1e-15): a two-sided certificate.
            assert value >= 1 or information(mp.mpf(value) * (1 + mp.mpf(10) ** -15)) >= mu
            assert information(mp.mpf(value) * (1 - mp.mpf(10) ** -13)) < mu


@pytest.mark.parametrize("method", ["paper", "han-verdu"])
def test_other_methods_against_60_digits(method):
    rng = np.random.default_rng(31)
    for _ in range(25):
        prior = np.sort(random_prior(rng))[::-1]
        mu = float(-(prior * np.log(prior)).sum() * 10.0 ** -rng.uniform(0, 12))
        value = fano.advantage(mu, prior=prior, method=method)
        with mp.workdps(60):
            p = [mp.mpf(x) for x in prior]
            p = [x / sum(p) for x in p]

            def needed(y, p=p):  # the information that allows the advantage y
                s = p[0] + (1 - p[0]) * y
                t = 1 - s
                if method == "han-verdu":
                    return s * mp.log(s / p[0]) + (t * mp.log(t / (1 - p[0])) if t > 0 else 0)
                h = -s * mp.log(s) - (t * mp.log(t / (len(p) - 1)) if t > 0 else 0)
                return -sum(x * mp.log(x) for x in p) - h

            assert value == 1 or needed(value * (1 + mp.mpf(10) ** -15)) >= mu
            assert needed(value * (1 - 2 * mp.mpf(10) ** -13)) < mu


@settings(max_examples=300, deadline=None)
@given(
    m=st.one_of(st.integers(2, 50), st.integers(51, 10**12), st.integers(10**12, 10**40)),
    share=st.floats(1e-300, 1.0),
    ulps=st.integers(1, 40),
    method=st.sampled_from(METHODS),
)
def test_monotone_for_neighbouring_floats(m, share, ulps, method):
    mu = share * np.log(float(m))
    chain = [mu]
    for _ in range(ulps):
        chain.append(np.nextafter(chain[-1], np.inf))
    one_by_one = [fano.advantage(float(x), categories=m, method=method) for x in chain]
    assert (np.diff(one_by_one) >= 0).all()
    assert (np.diff(fano.advantage(chain, categories=m)) >= 0).all()
    errors = [fano.error(float(x), categories=m) for x in chain]
    assert (np.diff(errors) <= 0).all()
    assert 0 <= one_by_one[0] <= one_by_one[-1] <= 1


@settings(max_examples=200, deadline=None)
@given(
    weights=st.lists(st.floats(1e-9, 1.0), min_size=2, max_size=9),
    share=st.floats(0.0, 1.1),
    factor=st.floats(1.0, 1.0 + 1e-9),
    method=st.sampled_from(METHODS),
)
def test_monotone_for_any_prior(weights, share, factor, method):
    prior = np.array(weights) / np.sum(weights)
    entropy = -(prior * np.log(prior)).sum()
    mus = share * entropy * np.array([1 - 1e-9, 1.0, factor, 1.5])
    values = fano.advantage(mus, prior=prior, method=method)
    assert (np.diff(values) >= 0).all()
    erokhin = fano.advantage(mus, prior=prior)
    assert (erokhin <= values * (1 + 3e-13) + 1e-300).all()


def test_monotone_across_the_regimes_of_a_prior():
    prior = np.array([0.854, 0.096, 0.031, 0.010, 0.009])
    law = fano._prior.as_prior(prior=prior)
    for end in law.boundaries[0]:
        around = end * (1 + np.arange(-200, 201) * 2.0**-52) if end > 0 else [0.0, 5e-324, 1e-300]
        assert (np.diff(fano.advantage(around, prior=prior)) >= 0).all()
    whole = np.linspace(0.0, 0.6, 5001)
    assert (np.diff(fano.advantage(whole, prior=prior)) >= 0).all()


def test_scalars_and_arrays_agree():
    rng = np.random.default_rng(3)
    m = np.floor(10.0 ** rng.uniform(0.31, 15, 500))
    mu = np.log(m) * 10.0 ** -rng.uniform(0, 20, 500)
    one_by_one = [fano.advantage(float(x), categories=float(k)) for x, k in zip(mu, m, strict=True)]
    np.testing.assert_allclose(fano.advantage(mu, categories=m), one_by_one, rtol=1e-13)
    table = fano.advantage(mu[:4], categories=m[:3, None])
    assert table.shape == (3, 4)
    assert table[2, 1] == fano.advantage([mu[1]] * 2, categories=m[2])[0]


def test_limits():
    assert fano.advantage(0.0, categories=7) == 0.0
    assert fano.advantage(np.inf, categories=7) == 1.0
    assert fano.advantage(np.log(7), categories=7) == 1.0
    assert fano.error(0.0, categories=4) == 0.75
    p = [0.4, 0.35, 0.2, 0.05]
    assert fano.advantage(0.0, prior=p) == 0.0
    assert fano.advantage(0.0, prior=p, method="paper") > 0.2
    assert fano.advantage(5.0, prior=p) == 1.0
    assert fano.advantage(1e-320, categories=3) > 0.0
    assert fano.advantage(1.0, categories=10**300) == pytest.approx(1 / np.log(10.0**300), rel=0.02)
    assert fano.advantage([0.1, 0.2], prior=[1.0, 0.0]).tolist() == [0.0, 0.0]
    assert fano.conditional_entropy_bound(99.0, categories=2) == 0.0


@pytest.mark.parametrize("left", [1e-3, 1e-9, 1e-30, 1e-200])
def test_conditional_entropy_keeps_the_digits(left):
    with mp.workdps(60):
        for prior in ([0.5, 0.3, 0.2], [0.25] * 4):
            t = mp.mpf(fano.error(conditional_entropy=left, prior=prior))
            h = -t * mp.log(t) - (1 - t) * mp.log1p(-t) + t * mp.log(len(prior) - 1)
            assert float(h / left - 1) == pytest.approx(0.0, abs=2e-13)
            assert h <= left
    values = fano.error(conditional_entropy=[left, left], categories=[2, 10**9])
    assert values[0] == fano.error(conditional_entropy=left, categories=2)


def test_extreme_inputs_stay_in_range():
    tiny = (0.0, 5e-324, 1e-310, 1e-300, 1e-100)
    for mu in (*tiny, 0.1, 709.0, 1e5, np.inf):
        for m in (2, 1e15, 1e308):
            one = fano.advantage(float(mu), categories=m)
            assert 0 <= one <= 1
            assert fano.advantage([mu, mu], categories=m)[0] == pytest.approx(one, rel=1e-13)
            assert 0 <= fano.error(conditional_entropy=mu, categories=m) <= 1 - 1 / m
        for prior in ([1.0, 1e-300], [1.0, 5e-324], [0.5, 0.5, 1e-200], [1 - 1e-9, 1e-9]):
            for method in METHODS:
                assert 0 <= fano.advantage(mu, prior=prior, method=method) <= 1


def test_a_million_letters():
    rng = np.random.default_rng(0)
    for weights in (rng.exponential(size=10**6) ** 3, 1.0 / np.arange(1.0, 10**6 + 1)):
        prior = weights / weights.sum()
        mus = np.array([1e-9, 0.1, 0.1 + 1e-15, 3.0, 13.0])
        values = fano.advantage(mus, prior=prior)
        assert (np.diff(values) >= 0).all()
        assert (values <= fano.advantage(mus, prior=prior, method="paper") * (1 + 1e-12)).all()
        # the curve's own equation at the threshold that the advantage implies
        s = prior.max() + (1 - prior.max()) * values[1]
        ordered = np.sort(prior)[::-1]
        kept = np.flatnonzero(np.cumsum(ordered) - np.arange(1, 10**6 + 1) * ordered + ordered <= s)
        k = kept[-1] + 1
        theta = (ordered[:k].sum() - s) / (k - 1)
        a, head = s, ordered[:k]
        found = a * np.log(a) + (k - 1) * theta * np.log(theta) - (head * np.log(head)).sum()
        assert found == pytest.approx(0.1, rel=1e-9)


def test_phi_against_high_precision():
    with mp.workdps(40):
        for u in (
            -1.0,
            -1 + 1e-12,
            -0.7,
            -0.5,
            -0.3,
            -1e-8,
            0.0,
            1e-300,
            1e-5,
            0.49,
            0.51,
            3.0,
            1e9,
        ):
            right = (1 + mp.mpf(u)) * mp.log1p(mp.mpf(u)) - mp.mpf(u) if u > -1 else mp.mpf(1)
            value = float(phi(np.array(u)))
            assert value == pytest.approx(float(right), rel=2e-15, abs=1e-300)


def blahut_arimoto(prior, beta):
    """Return (information, expected distortion) on the Hamming rate-distortion curve."""
    m = prior.size
    kernel = np.exp(-beta * (1 - np.eye(m)))
    output = prior.copy()
    for _ in range(200_000):
        channel = output * kernel
        channel /= channel.sum(axis=1, keepdims=True)
        updated = prior @ channel
        moved = np.abs(updated - output).max()
        output = updated
        if moved < 1e-16:
            break
    joint = prior[:, None] * channel
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(joint > 0, joint * np.log(channel / output), 0.0)
    return terms.sum(), 1.0 - np.trace(joint)


@pytest.mark.parametrize("beta", [0.7, 1.5, 2.5, 4.0, 7.0])
@pytest.mark.parametrize(
    "prior", [[0.4, 0.35, 0.2, 0.05], [0.7, 0.2, 0.1], [0.3, 0.3, 0.2, 0.1, 0.1], [0.5, 0.5]]
)
def test_erokhin_equals_blahut_arimoto(prior, beta):
    information, distortion = blahut_arimoto(np.array(prior), beta)
    information = max(information, 0.0)
    assert fano.error(information, prior=prior) == pytest.approx(distortion, abs=1e-10)


def test_messages():
    with pytest.raises(ValueError, match=r"categories must be whole numbers >= 2.*got 1\.0"):
        fano.advantage(1.0, categories=1)
    with pytest.raises(ValueError, match="categories must be a whole number >= 2"):
        fano.fano_bound(1.0, categories=2.5)
    with pytest.raises(ValueError, match=r"must be >= 0 nats, got -1\.0"):
        fano.advantage(-1.0, categories=2)
    with pytest.raises(ValueError, match="mutual_information must be >= 0 nats, got nan"):
        fano.advantage(float("nan"), categories=2)
    with pytest.raises(TypeError, match="mutual_information must be real numbers"):
        fano.advantage("1", categories=2)
    with pytest.raises(TypeError, match="exactly one of categories"):
        fano.advantage(1.0)
    with pytest.raises(TypeError, match="exactly one of mutual_information"):
        fano.advantage(1.0, conditional_entropy=1.0, categories=2)
    with pytest.raises(ValueError, match=r"prior must add up to 1, got 0\.9"):
        fano.advantage(1.0, prior=[0.5, 0.4])
    with pytest.raises(ValueError, match="prior must hold finite probabilities >= 0"):
        fano.advantage(1.0, prior=[1.5, -0.5])
    with pytest.raises(TypeError, match="one-dimensional"):
        fano.advantage(1.0, prior=[[0.5, 0.5]])
    with pytest.raises(ValueError, match="method must be one of"):
        fano.advantage(1.0, categories=2, method="fano")
    with pytest.raises(ValueError, match=r"below 1\.8e308"):
        fano.advantage(1.0, categories=10**400)
    with pytest.raises(TypeError, match="categories must be whole numbers"):
        fano.advantage(1.0, categories=True)


def test_result_is_plain_json():
    bound = fano.fano_bound(0.1, categories=10**10, premise="a premise")
    document = json.loads(json.dumps(bound.to_dict()))
    assert document["categories"] == 10**10
    assert document["premise"] == "a premise"
    assert document["method"] == "erokhin" and document["vacuous"] is False
    assert fano.fano_bound(5.0, categories=2).vacuous
    nothing_known = fano.fano_bound(np.inf, categories=2).to_dict()
    assert nothing_known["inputs"] == {"mutual_information": None} and nothing_known["vacuous"]
