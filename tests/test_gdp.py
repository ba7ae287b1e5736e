"""The Gaussian DP conversions, against 60-digit arithmetic and their limits."""

import mpmath
import numpy as np
import pytest

from bayesaudit._gdp import gdp_delta, gdp_epsilon, gdp_log_delta, gdp_mu


def log_delta_in_60_digits(mu: float, epsilon: float) -> float:
    with mpmath.workdps(90):
        mu, epsilon = mpmath.mpf(mu), mpmath.mpf(epsilon)
        first = mpmath.ncdf(mu / 2 - epsilon / mu)
        return float(mpmath.log(first - mpmath.exp(epsilon) * mpmath.ncdf(-mu / 2 - epsilon / mu)))


def grid() -> list[tuple[float, float]]:
    mus = [1e-6, 1e-3, 0.02, 0.3, 0.4999999, 0.5, 0.500001, 1, 3.7, 12, 100]
    cuts = [-3, -0.2, 0, 0.3, 2, 5, 9.99, 10.01, 20, 36]
    return [(mu, mu * (a + mu / 2)) for mu in mus for a in cuts if a + mu / 2 >= 0]


@pytest.mark.parametrize(("mu", "epsilon"), grid())
def test_log_delta_equals_60_digit_arithmetic(mu, epsilon):
    expected = log_delta_in_60_digits(mu, epsilon)
    assert gdp_log_delta(mu, epsilon) == pytest.approx(expected, rel=1e-12, abs=1e-13)


def test_delta_is_the_exponential_and_broadcasts():
    mu = np.array([[0.1], [1.0], [4.0]])
    epsilon = np.array([0.0, 0.5, 2.0, 9.0])
    expected = [[np.exp(log_delta_in_60_digits(m, e)) for e in epsilon] for m in mu[:, 0]]
    np.testing.assert_allclose(gdp_delta(mu, epsilon), expected, rtol=1e-12)


def test_conversions_are_inverse_to_each_other():
    mu, epsilon = np.array([pair for pair in grid() if pair[1] > 0]).T
    delta = gdp_delta(mu, epsilon)
    usable = (delta > 1e-300) & (delta < 0.9999)
    assert usable.sum() > 50
    mu, epsilon, delta = mu[usable], epsilon[usable], delta[usable]
    np.testing.assert_allclose(gdp_epsilon(mu, delta), epsilon, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(gdp_mu(epsilon, delta), mu, rtol=1e-12)


def test_epsilon_brackets_the_root_in_60_digits():
    for mu, delta in [(0.1, 1e-5), (1, 1e-5), (5.36, 1e-5), (30, 1e-12), (0.01, 1e-8)]:
        epsilon = float(gdp_epsilon(mu, delta))
        for factor, sign in [(1 - 1e-13, 1), (1 + 1e-13, -1)]:
            assert np.sign(log_delta_in_60_digits(mu, epsilon * factor) - np.log(delta)) == sign


def test_reference_values():
    # jax_privacy and 80-bit arithmetic agree on these.
    mu = [5.359822537549037, 1.9358942780664101, 1.0546128873216953, 0.5888289022921369, 0.1]
    epsilon = [36.48948789301772, 9.604714356937015, 4.655653841441554, 2.3937946927603155]
    np.testing.assert_allclose(gdp_epsilon(mu, 1e-5), [*epsilon, 0.34066936468432074], rtol=1e-12)
    assert gdp_epsilon(1.0, 0.4) == 0.0


@pytest.mark.parametrize(
    ("mu", "delta", "epsilon"),
    [
        (0.0, 0.0, 0.0),
        (0.0, 0.3, 0.0),
        (1.0, 0.0, np.inf),
        (1.0, 1.0, 0.0),
        (np.inf, 0.5, np.inf),
        (np.inf, 1.0, 0.0),
        (1.0, gdp_delta(1.0, 0.0), 0.0),
    ],
)
def test_epsilon_limits(mu, delta, epsilon):
    assert gdp_epsilon(mu, delta) == pytest.approx(epsilon, abs=1e-15)


@pytest.mark.parametrize(
    ("epsilon", "delta", "mu"),
    [
        (0.0, 0.0, 0.0),
        (3.0, 0.0, 0.0),
        (3.0, 1.0, np.inf),
        (np.inf, 0.1, np.inf),
        (0.0, 0.38292492254802624, 1.0),
        (0.0, 0.5, 1.3489795003921634),
    ],
)
def test_mu_limits(epsilon, delta, mu):
    assert gdp_mu(epsilon, delta) == pytest.approx(mu, rel=1e-14)


@pytest.mark.parametrize(
    ("mu", "epsilon", "delta"), [(0, 1, 0), (0, 0, 0), (1, np.inf, 0), (np.inf, 3, 1)]
)
def test_delta_limits(mu, epsilon, delta):
    assert gdp_delta(mu, epsilon) == delta


def test_scalars_in_scalar_out_and_shapes_broadcast():
    assert np.ndim(gdp_delta(1.0, 1.0)) == 0
    assert gdp_epsilon(np.ones((3, 1)), np.full(4, 1e-5)).shape == (3, 4)
    assert gdp_mu(np.ones((2, 1)), np.full(5, 1e-5)).shape == (2, 5)
    assert gdp_epsilon(np.array([]), 0.1).shape == (0,)
