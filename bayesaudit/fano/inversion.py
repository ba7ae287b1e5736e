"""From a bound on the mutual information to the advantage of every adversary."""

import math
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayesaudit._checks import check_choice, check_nonnegative
from bayesaudit.fano._prior import Prior, as_prior
from bayesaudit.fano._result import AdvantageBound
from bayesaudit.fano._solver import solve, solve_scalar

__all__ = ["METHODS", "Method", "advantage", "conditional_entropy_bound", "error", "fano_bound"]

Method = Literal["erokhin", "paper", "han-verdu"]
METHODS = ("erokhin", "paper", "han-verdu")

_EPS = 2.0**-52


def _uniform_scalar(categories: float, mu: float, left: float | None) -> tuple[float, float]:
    """(advantage, error) for M equally likely categories; `left` is H(X|Y) if it is known."""
    log_m = math.log(categories)
    share = (categories - 1.0) / categories
    if left is None:
        left = log_m - mu - 2.0 * _EPS * log_m
    y, w = solve_scalar(
        mu / share, left / share, 1.0 / (categories - 1.0), 0.0, share, math.log(categories)
    )
    return y, share * w


def _uniform_array(
    categories: NDArray[np.float64], mu: NDArray[np.float64], left: NDArray[np.float64] | None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    log_m = np.log(categories)
    share = (categories - 1.0) / categories
    if left is None:
        left = log_m - mu - 2.0 * _EPS * log_m
    y, w = solve(
        mu / share, left / share, 1.0 / (categories - 1.0), np.zeros_like(mu), share, log_m
    )
    return y, share * w


def _with_head(
    prior: Prior, letters: int, mu: NDArray[np.float64], left: NDArray[np.float64] | None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(advantage, error) by Fano's inequality on the `letters` most likely categories.

    Erokhin's curve in the regime that keeps k letters is the paper's equation for the prior cut
    to those letters and renormalised, with the information divided by their probability.
    """
    odds, lam, spread = prior.head(letters)
    weights = prior.weights
    assert weights is not None
    first, others, total = float(weights[0]), weights[1:letters], prior.total
    share = float(others.sum()) / total
    tail = float(weights[letters:].sum()) / total
    head = first / total + share
    rest = share / head
    if left is None:
        shares = others / (total * head)
        log_first = math.log1p(-rest) if rest < 0.5 else math.log(first / (total * head))
        entropy = -head * ((1.0 - rest) * log_first + float((shares * np.log(shares)).sum()))
        left = entropy - mu - 4.0 * _EPS * (entropy + mu)
    a = -math.log(rest / others.size)
    y, w = _solve_flat(mu / share + spread, left / share, odds, lam, rest, a)
    all_others = prior.rest
    middle = 0.5 * share / all_others
    from_error = np.maximum(1.0 - (tail + share * w) / all_others, middle)
    return np.where(y <= 0.5, np.minimum(y * share / all_others, middle), from_error), np.where(
        y <= 0.5, all_others - y * share, tail + share * w
    )


def _solve_flat(
    r: NDArray[np.float64], left: NDArray[np.float64], *shape: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    if r.size == 1:
        y, w = solve_scalar(float(r[0]), float(left[0]), *shape)
        return np.array([y]), np.array([w])
    return solve(r, left, *(np.full_like(r, value) for value in shape))


def _erokhin(
    prior: Prior, mu: NDArray[np.float64], left: NDArray[np.float64] | None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    information, excess = prior.boundaries
    regime = np.searchsorted(information, mu)  # entry i: the regime that keeps i + 1 letters
    gain = np.zeros_like(mu)
    loss = np.full_like(mu, prior.rest)
    ends = excess / prior.rest * (1.0 + 8e-14)
    for index in np.unique(regime):
        which = np.flatnonzero((regime == index) & (mu > 0))
        if which.size == 0:
            continue
        full = index == information.size
        part = left[which] if left is not None and full else None
        values, losses = _with_head(prior, int(index) + 1, mu[which], part)
        # The ends of a regime are fixed numbers, so that the curve is monotone across them.
        low = ends[index - 1]
        high = 1.0 if full else ends[index]
        gain[which] = np.clip(values, min(low, 1.0), min(high, 1.0))
        loss[which] = losses
    return gain, loss


def _paper(
    prior: Prior, mu: NDArray[np.float64], left: NDArray[np.float64] | None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    return _with_head(prior, int(prior.categories), mu, left)


def _han_verdu(
    prior: Prior, mu: NDArray[np.float64], left: NDArray[np.float64] | None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    rest, largest = prior.rest, prior.largest
    surprise = -math.log1p(-rest) if rest < 0.5 else -math.log(largest)
    room = surprise - mu - 4.0 * _EPS * (surprise + mu)
    y, w = _solve_flat(mu / rest, room / rest, largest / rest, 0.0, rest, surprise)
    return y, rest * w


_NONUNIFORM = {"erokhin": _erokhin, "paper": _paper, "han-verdu": _han_verdu}


def _check_information(values: Any, name: str) -> NDArray[np.float64]:
    try:
        array = np.asarray(values)
    except ValueError:
        raise TypeError(f"{name} must be numbers, got a ragged sequence.") from None
    if array.dtype.kind not in "iuf":
        raise TypeError(f"{name} must be real numbers, got {values!r:.60}.")
    array = array.astype(float)
    if not (array >= 0).all():
        bad = float(array[~(array >= 0)].flat[0])
        raise ValueError(f"{name} must be >= 0 nats, got {bad!r}.")
    return array


def _both(
    mutual_information: ArrayLike | None,
    categories: ArrayLike | None,
    prior: ArrayLike | None,
    conditional_entropy: ArrayLike | None,
    method: str,
) -> tuple[Any, Any]:
    """Return (advantage, error): two floats for scalars, else two arrays."""
    if (mutual_information is None) == (conditional_entropy is None):
        raise TypeError("give exactly one of mutual_information and conditional_entropy.")
    if type(mutual_information) is float and type(categories) in (int, float) and prior is None:
        if categories >= 2 and mutual_information >= 0 and method in METHODS:
            try:
                number = float(categories)
            except OverflowError:
                raise ValueError("categories must be below 1.8e308.") from None
            if number % 1.0 == 0.0:
                return _uniform_scalar(number, mutual_information, None)
    check_choice(method, "method", METHODS)
    if (categories is None) == (prior is None):
        raise TypeError(
            "give exactly one of categories (equally likely) and prior (probabilities)."
        )
    if prior is None:
        return _uniform(mutual_information, categories, conditional_entropy)
    law = as_prior(prior=prior)
    given = mutual_information if conditional_entropy is None else conditional_entropy
    name = "mutual_information" if conditional_entropy is None else "conditional_entropy"
    given = _check_information(given, name)
    if law.delta:
        return _shaped(np.zeros(given.size), given.shape), _shaped(
            np.zeros(given.size), given.shape
        )
    if law.uniform:
        return _uniform(mutual_information, law.categories, conditional_entropy)
    flat, left = given.ravel(), None
    if conditional_entropy is not None:
        left = flat
        flat = np.maximum(law.entropy - flat, 0.0)
    gain, loss = _NONUNIFORM[method](law, flat, left)
    return _shaped(gain, given.shape), _shaped(loss, given.shape)


def _uniform(mu: ArrayLike | None, categories: Any, left: ArrayLike | None) -> tuple[Any, Any]:
    try:
        numbers = np.asarray(categories)
        numbers = numbers.astype(float) if numbers.dtype.kind in "iuO" else numbers
    except (ValueError, TypeError, OverflowError):
        raise ValueError(
            f"categories must be whole numbers >= 2, got {categories!r:.60}."
        ) from None
    if numbers.dtype.kind != "f":
        raise TypeError(f"categories must be whole numbers >= 2, got {categories!r:.60}.")
    good = (numbers >= 2) & (numbers == np.floor(numbers)) & (numbers < np.inf)
    if not good.all():
        bad = float(numbers[~good].flat[0])
        raise ValueError(
            "categories must be whole numbers >= 2 (with 1 there is nothing to guess), "
            f"got {bad!r}."
        )
    if left is None:
        mu = _check_information(mu, "mutual_information")
        numbers, mu = np.broadcast_arrays(numbers, mu)
        rest = None
    else:
        rest = _check_information(left, "conditional_entropy")
        numbers, rest = np.broadcast_arrays(numbers, rest)
        mu = np.maximum(np.log(numbers) - rest, 0.0)
        rest = rest.ravel()
    if mu.size == 1:
        value = None if rest is None else float(rest[0])
        gain, loss = _uniform_scalar(float(numbers.flat[0]), float(mu.flat[0]), value)
        return _shaped(np.array([gain]), mu.shape), _shaped(np.array([loss]), mu.shape)
    gain, loss = _uniform_array(numbers.ravel(), mu.ravel(), rest)
    return _shaped(gain, mu.shape), _shaped(loss, mu.shape)


def _shaped(values: NDArray[np.float64], shape: tuple[int, ...]) -> Any:
    return values.reshape(shape) if shape else float(values[0])


def advantage(
    mutual_information: ArrayLike | None = None,
    *,
    categories: ArrayLike | None = None,
    prior: ArrayLike | None = None,
    conditional_entropy: ArrayLike | None = None,
    method: Method = "erokhin",
) -> float | NDArray[np.float64]:
    """Bound the advantage of every adversary from the information that the output carries.

    Parameters
    ----------
    mutual_information : array_like, any shape
        An upper bound on I(X; Y) in nats, >= 0; infinity says nothing is known.
    categories : array_like of int, optional
        M >= 2, the number of equally likely values of the secret; broadcasts with the
        information. No vector of M entries is made: 10**10 costs what 2 costs.
    prior : array_like, shape (n_categories,), optional
        Probabilities of the values of the secret, in any order. Letters of probability 0 are
        dropped; if one letter has all the probability the advantage is 0.
    conditional_entropy : array_like, optional
        A lower bound on H(X | Y) in nats, instead of `mutual_information`: keeps the digits when
        nearly everything is revealed.
    method : {"erokhin", "paper", "han-verdu"}
        "erokhin" is the tightest bound that follows from the prior and the information alone;
        "paper" is Fano's inequality as Guo et al. use it; "han-verdu" is the data processing
        inequality ``d(s || p*) <= I``. All three agree for a uniform prior.

    Returns
    -------
    float or ndarray
        ``(s - p*)/(1 - p*)`` in [0, 1], where s bounds the probability of guessing the secret and
        p* is the largest prior probability. Never below the exact value (but for the last
        rounding, 1e-16), less than 1e-13 above it, and monotone in the information.

    Raises
    ------
    ValueError
        A negative information, fewer than two categories, or a prior that does not add up to 1.

    Notes
    -----
    For p sorted decreasing, Erokhin's curve keeps the k letters above a threshold theta:
    ``a = 1 - (k-1) theta - sum_{i>k} p_i``, ``R = -sum_{i<=k} p_i log p_i + a log a +
    (k-1) theta log theta``; ``R = I`` is solved and ``s = a``. It is attained by a channel, so
    nothing better follows from the information. With all letters kept it is Fano's inequality.
    The paper's bound is positive at zero information unless the prior is uniform; Erokhin's is 0.

    References
    ----------
    Guo, Sablayrolles and Sanjabi (2023), *Analyzing Privacy Leakage in Machine Learning via
    Multiple Hypothesis Testing: A Lesson From Fano*, arXiv:2210.13662. Erokhin (1958),
    *epsilon-entropy of a discrete random variable*, Theory Probab. Appl. 3(1), 97-100,
    doi:10.1137/1103008. Han and Verdu (1994), IEEE Trans. Inf. Theory 40(4), 1247-1251.

    Examples
    --------
    >>> round(advantage(1.0, categories=10), 6)
    0.654686
    >>> f"{advantage(1e-12, categories=10**10):.8g}"
    '1.4471682e-11'
    >>> p = [0.4, 0.35, 0.2, 0.05]
    >>> [round(advantage(0.05, prior=p, method=m), 4) for m in METHODS]
    [0.1876, 0.2834, 0.2616]
    """
    return _both(mutual_information, categories, prior, conditional_entropy, method)[0]


def error(
    mutual_information: ArrayLike | None = None,
    *,
    categories: ArrayLike | None = None,
    prior: ArrayLike | None = None,
    conditional_entropy: ArrayLike | None = None,
    method: Method = "erokhin",
) -> float | NDArray[np.float64]:
    """Bound from below the probability that an adversary's guess of the secret is wrong.

    The parameters are those of `advantage`. The result keeps its relative accuracy when it is
    small, which ``1 - success`` would not.

    Examples
    --------
    >>> round(error(1.0, categories=10), 6)
    0.310783
    >>> f"{error(conditional_entropy=1e-12, categories=2):.6g}"
    '3.11528e-14'
    """
    return _both(mutual_information, categories, prior, conditional_entropy, method)[1]


def conditional_entropy_bound(
    mutual_information: float, *, categories: int | None = None, prior: ArrayLike | None = None
) -> float:
    """Return ``H(X) - I`` in nats, floored at 0: the uncertainty that is left at least.

    Examples
    --------
    >>> round(conditional_entropy_bound(1.0, categories=10), 4)
    1.3026
    """
    law = as_prior(categories, prior)
    return max(law.entropy - check_nonnegative(mutual_information, "mutual_information"), 0.0)


def fano_bound(
    mutual_information: float | None = None,
    *,
    categories: int | None = None,
    prior: ArrayLike | None = None,
    conditional_entropy: float | None = None,
    method: Method = "erokhin",
    premise: str | None = None,
    neighboring_relation: str | None = None,
) -> AdvantageBound:
    """Return `advantage` for one information bound, with its error, success and premise.

    Parameters
    ----------
    mutual_information, categories, prior, conditional_entropy, method
        As in `advantage`, scalars.
    premise : str, optional
        Where the information bound came from; shown with the result.
    neighboring_relation : str, optional
        The relation under which that bound holds.

    Examples
    --------
    >>> bound = fano_bound(0.1, categories=10)
    >>> round(bound.success, 6), round(bound.error, 6), bound.vacuous
    (0.256866, 0.743134, False)
    """
    law = as_prior(categories, prior)
    gain, loss = _both(
        mutual_information,
        law.categories if law.uniform else None,
        None if law.uniform else law,
        conditional_entropy,
        method,
    )
    information = mutual_information
    if information is None:
        information = max(law.entropy - float(conditional_entropy), 0.0)
    return AdvantageBound.of(
        law,
        advantage=gain,
        error=loss,
        method=method,
        premise=premise or f"mutual information <= {float(information):.6g} nats",
        inputs={"mutual_information": float(information)},
        neighboring_relation=neighboring_relation,
    )
