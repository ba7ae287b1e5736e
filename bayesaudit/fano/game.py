"""The attack game: draw a secret, show the output, let the Bayes-optimal adversary guess."""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayesaudit._checks import check_integers, check_nonnegative, check_prob
from bayesaudit._interval import Interval
from bayesaudit._result import Result
from bayesaudit.fano._prior import as_prior, check_categories
from bayesaudit.fano._solver import phi
from bayesaudit.fano.gaussian import gaussian_success
from bayesaudit.proportions import proportion_interval

__all__ = [
    "Channel",
    "GameResult",
    "SimplexGaussian",
    "bayes_success",
    "channel_information",
    "randomized_response",
    "simulate_game",
]


class Channel(Protocol):
    """What `simulate_game` needs of a mechanism: to run it, and its likelihood."""

    n_categories: int

    def sample(self, secrets: NDArray[np.int64], rng: np.random.Generator) -> Any:
        """Return one output per secret, along the first axis."""
        ...

    def log_likelihood(self, outputs: Any) -> NDArray[np.float64]:
        """Return log p(output | secret), shape (n_outputs, n_categories), up to a row constant."""
        ...


@dataclass(frozen=True, slots=True)
class SimplexGaussian:
    """M Gaussians at equal pairwise distance; a `Channel`.

    Attributes
    ----------
    distance : float
        D/sigma, the pairwise distance over the noise's standard deviation.
    n_categories : int
        M >= 2.
    """

    distance: float
    n_categories: int

    def sample(self, secrets: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.float64]:
        """Return the M coordinates of each output, shape (n_secrets, M)."""
        outputs = rng.standard_normal((secrets.size, self.n_categories))
        outputs[np.arange(secrets.size), secrets] += self.distance / np.sqrt(2.0)
        return outputs

    def log_likelihood(self, outputs: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the log-likelihoods up to a constant of each row."""
        return outputs * (self.distance / np.sqrt(2.0))

    def success(self) -> float:
        """Return the exact Bayes success for equally likely categories."""
        return gaussian_success(self.distance, categories=self.n_categories)


@dataclass(frozen=True, slots=True)
class GameResult(Result):
    """Outcome of the game.

    Attributes
    ----------
    n_correct, n_trials : int
        Right guesses and rounds played.
    base_success : float
        p*, the success of a guess made without the output.
    bayes_success : float or None
        The exact success of this adversary, where the channel is a matrix.
    information : float or None
        The exact mutual information in nats, where the channel is a matrix.
    """

    n_correct: int
    n_trials: int
    base_success: float
    bayes_success: float | None = None
    information: float | None = None

    _also = ("success", "advantage")

    @property
    def success(self) -> float:
        """Share of right guesses."""
        return self.n_correct / self.n_trials

    @property
    def advantage(self) -> float:
        """Empirical ``(s - p*)/(1 - p*)``; negative if luck was bad; 0 for a delta prior."""
        if self.base_success == 1:
            return 0.0
        return (self.success - self.base_success) / (1.0 - self.base_success)

    def interval(self, prob: float = 0.95) -> Interval:
        """Return the Clopper–Pearson confidence interval of the success (guaranteed).

        Parameters
        ----------
        prob : float
            Confidence in (0, 1); each end errs by (1 − prob)/2.
        """
        tail = (1 - check_prob(prob)) / 2
        lower, upper = proportion_interval(self.n_correct, self.n_trials, tail)
        return Interval(lower, upper, prob, "eti", "confidence", "clopper-pearson", "guaranteed")


def _check_channel(
    channel: ArrayLike, prior: ArrayLike | None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    rows = np.asarray(channel, dtype=float)
    if rows.ndim != 2 or rows.size == 0:
        raise ValueError(f"channel must be a matrix of probabilities, got shape {rows.shape}.")
    if not (rows >= 0).all() or np.abs(rows.sum(axis=1) - 1.0).max() > 1e-6:
        raise ValueError("every row of channel must be probabilities that add up to 1.")
    return rows / rows.sum(axis=1, keepdims=True), _check_weights(prior, rows.shape[0])


def _check_weights(prior: ArrayLike | None, n_categories: int) -> NDArray[np.float64]:
    if prior is None:
        check_categories(n_categories, "the number of categories of channel")
        return np.full(n_categories, 1.0 / n_categories)
    as_prior(prior=prior)
    weights = np.asarray(prior, dtype=float)
    if weights.size != n_categories:
        raise ValueError(
            f"channel must have one row per letter of prior, got {n_categories} for {weights.size}."
        )
    return weights / weights.sum()


def randomized_response(epsilon: float, *, categories: int) -> NDArray[np.float64]:
    """Return M-ary randomised response: the truth with weight e^epsilon, others with weight 1.

    It attains Fano's inequality at its own information, and the pure-DP optimum.

    Examples
    --------
    >>> randomized_response(0.0, categories=2)
    array([[0.5, 0.5],
           [0.5, 0.5]])
    """
    shrink = np.exp(-check_nonnegative(epsilon, "epsilon"))
    count = int(check_categories(categories))
    rows = np.full((count, count), shrink)
    np.fill_diagonal(rows, 1.0)
    return rows / (1.0 + (count - 1) * shrink)


def bayes_success(channel: ArrayLike, prior: ArrayLike | None = None) -> float:
    """Return the exact success of the best adversary: ``sum_y max_i p_i W(y | i)``.

    Parameters
    ----------
    channel : array_like, shape (n_categories, n_outputs)
        Row i is the distribution of the output when the secret is i.
    prior : array_like, shape (n_categories,), optional
        Probabilities in the order of the rows, zeros allowed; uniform if left out.

    Examples
    --------
    >>> bayes_success([[0.75, 0.25], [0.25, 0.75]])
    0.75
    """
    rows, weights = _check_channel(channel, prior)
    return min(float((weights[:, None] * rows).max(axis=0).sum()), 1.0)


def channel_information(channel: ArrayLike, prior: ArrayLike | None = None) -> float:
    """Return the exact mutual information of a prior and a finite channel, in nats.

    Parameters
    ----------
    channel, prior
        As in `bayes_success`.

    Examples
    --------
    >>> round(channel_information([[0.9, 0.1], [0.1, 0.9]]), 6)
    0.368064
    """
    rows, weights = _check_channel(channel, prior)
    output = weights @ rows
    seen = output > 0
    terms = phi(rows[:, seen] / output[seen] - 1.0)
    return float((weights[:, None] * output[seen] * terms).sum())


def simulate_game(
    channel: ArrayLike | Channel,
    prior: ArrayLike | None = None,
    *,
    n_trials: int = 10_000,
    rng: np.random.Generator,
) -> GameResult:
    """Play the attack game of Guo et al. (their Figure 1) with the Bayes-optimal adversary.

    Each round draws a secret from the prior, runs the channel on it, and lets an adversary who
    knows both the prior and the channel guess the value of largest posterior probability.

    Parameters
    ----------
    channel : array_like, shape (n_categories, n_outputs), or Channel
        A matrix of output probabilities, or an object that samples and gives likelihoods.
    prior : array_like, shape (n_categories,), optional
        Probabilities in the order of the rows; uniform if left out.
    n_trials : int
        Rounds, >= 1.
    rng : numpy.random.Generator
        Randomness.

    References
    ----------
    Guo, Sablayrolles and Sanjabi (2023), arXiv:2210.13662, Figure 1.

    Examples
    --------
    >>> game = simulate_game(
    ...     randomized_response(2.0, categories=4), n_trials=2000, rng=np.random.default_rng(1)
    ... )
    >>> low, high = game.interval(0.999)
    >>> low <= game.bayes_success <= high
    True
    """
    trials = int(check_integers(n_trials, "n_trials", minimum=1))
    if hasattr(channel, "sample"):
        weights = _check_weights(prior, channel.n_categories)
        secrets = rng.choice(weights.size, size=trials, p=weights)
        scores = channel.log_likelihood(channel.sample(secrets, rng))
        exact = information = None
    else:
        rows, weights = _check_channel(channel, prior)
        secrets = rng.choice(weights.size, size=trials, p=weights)
        cumulative = np.cumsum(rows, axis=1)
        drawn = (rng.random(trials)[:, None] * cumulative[secrets, -1:]) >= cumulative[secrets]
        with np.errstate(divide="ignore"):
            scores = np.log(rows).T[drawn.sum(axis=1)]
        exact, information = bayes_success(rows, weights), channel_information(rows, weights)
    with np.errstate(divide="ignore"):
        guesses = np.argmax(scores + np.log(weights), axis=1)
    return GameResult(
        n_correct=int((guesses == secrets).sum()),
        n_trials=trials,
        base_success=float(weights.max()),
        bayes_success=exact,
        information=information,
    )
