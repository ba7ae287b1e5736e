"""Adversaries: from what was published to a score for every candidate of every challenge.

Scores are evidence: higher means that the candidate is likelier the one trained on. The score of a
membership pair is that of ``z1`` minus that of ``z0``, so that > 0 means "z1".
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from bayesaudit._checks import check_choice, check_integers
from bayesaudit.games.challenges import Challenges
from bayesaudit.games.dpsgd import TrainedModels
from bayesaudit.games.networks import with_bias
from bayesaudit.games.protocols import Choice, Datasets, Known, Mechanism, Population

__all__ = ["CalibratedLoss", "LossComparison", "OptimalTest", "StepLikelihood"]

Loss = Callable[[Any, NDArray, NDArray], NDArray]

# Reference models have seeds of their own: no trial has this number.
_REFERENCE_KEY = 0xFFFFFFFF


def _losses(outputs: Any, x: NDArray, y: NDArray, loss: Loss | None) -> NDArray[np.float64]:
    if loss is not None:
        records = [(x[min(i, len(x) - 1)], y[min(i, len(y) - 1)]) for i in range(len(outputs))]
        return np.stack([record_losses(loss, outputs[i], *pair) for i, pair in enumerate(records)])
    if not hasattr(outputs, "losses"):
        raise TypeError(
            "the mechanism's outputs have no losses(x, y): give the adversary "
            "loss=function(model, x, y) -> losses of shape (n_records,)."
        )
    return outputs.losses(x, y)


def record_losses(loss: Loss, model: Any, x: NDArray, y: NDArray) -> NDArray[np.float64]:
    """Call a loss function of the user's and check what it returns: one number a record."""
    values = np.asarray(loss(model, x, y))
    if values.shape != y.shape or values.dtype.kind not in "iuf":
        raise ValueError(
            f"loss must return one number a record, shape {y.shape}, "
            f"got shape {values.shape} of {values.dtype} (no mean or sum over the records)."
        )
    return values.astype(np.float64)


def _initial_losses(outputs: Any, x: NDArray, y: NDArray, loss: Loss | None) -> NDArray[np.float64]:
    if loss is not None:
        return _losses(outputs.initial, x, y, loss)
    return outputs.initial_losses(x, y)


def _flat(known: Known) -> tuple[NDArray, NDArray]:
    models, challenges, candidates = known.y.shape
    return (
        known.x.reshape(models, challenges * candidates, -1),
        known.y.reshape(models, challenges * candidates),
    )


@dataclass(frozen=True, slots=True)
class LossComparison:
    """Compare the candidates' losses: the one the model fits better was trained on.

    Parameters
    ----------
    challenges : Challenges
        The design of the candidates.
    loss : callable, optional
        ``loss(model, x, y)`` with x of shape (n_records, n_features), y of shape (n_records,);
        returns losses of shape (n_records,). Not needed for `DPSGD`.
    against_initial : bool
        Score by how far training lowered the loss, not by the loss: random initial weights then
        cancel. The outputs must hold the models that training started from (`DPSGD`, or
        `PerModel` with ``initial``).
    threshold : float
        What the pair score ``z1`` minus ``z0`` must exceed for the guess "z1".

    References
    ----------
    .. [1] Yeom, Giacomelli, Fredrikson & Jha (2018), Privacy risk in machine learning.
       arXiv:1709.01604.
    """

    challenges: Challenges
    loss: Loss | None = None
    against_initial: bool = False
    threshold: float = 0.0

    def choose(
        self, data: Population, n_train: int, n_challenges: int, rng: np.random.Generator
    ) -> Choice:
        """Draw base records and candidates from the design."""
        return self.challenges.draw(data, n_train, n_challenges, rng)

    def score(self, outputs: Any, known: Known) -> NDArray[np.float64]:
        """Return minus the losses, shape (n_models, n_challenges, n_candidates)."""
        x, y = _flat(known)
        evidence = -_losses(outputs, x, y, self.loss)
        if self.against_initial:
            evidence += _initial_losses(outputs, x, y, self.loss)
        evidence = evidence.reshape(known.y.shape)
        if self.threshold:
            evidence[..., 1] -= self.threshold
        return evidence


@dataclass(frozen=True, slots=True)
class CalibratedLoss:
    """`LossComparison` minus the candidates' mean loss under reference models.

    References are trained by the same mechanism on fresh draws of the population, without the
    candidates (a finite population may hold them: then each candidate is as likely as another).

    Parameters
    ----------
    challenges : Challenges
        The design of the candidates.
    n_references : int
        Number of reference models, >= 1.
    loss : callable, optional
        As for `LossComparison`.
    references : object, optional
        The trained references; `prepare` makes them.

    References
    ----------
    .. [1] Watson, Guo, Cormode & Sablayrolles (2022), On the importance of difficulty calibration
       in membership inference attacks. arXiv:2111.08440.
    """

    challenges: Challenges
    n_references: int = 16
    loss: Loss | None = None
    references: Any = None
    against_initial: ClassVar[bool] = False

    def choose(
        self, data: Population, n_train: int, n_challenges: int, rng: np.random.Generator
    ) -> Choice:
        """Draw base records and candidates from the design."""
        return self.challenges.draw(data, n_train, n_challenges, rng)

    def prepare(
        self, mechanism: Mechanism, data: Population, n_train: int, n_challenges: int, seed: int
    ) -> "CalibratedLoss":
        """Train the references and return the adversary that uses them."""
        check_integers(self.n_references, "n_references", minimum=1)
        sets, rngs = [], []
        for reference in range(self.n_references):
            key = np.random.SeedSequence(seed, spawn_key=(_REFERENCE_KEY, reference))
            game, training = (np.random.Generator(np.random.SFC64(s)) for s in key.spawn(2))
            width = self.challenges.draw(data, n_train, n_challenges, game).x.shape[-1]
            x, y = data.draw(n_train, game)
            sets.append((np.pad(x, ((0, 0), (0, width - x.shape[1]))), y))
            rngs.append(training)
        datasets = Datasets(
            np.stack([x for x, _ in sets]).astype(np.float32), np.stack([y for _, y in sets])
        )
        return replace(self, references=mechanism.train(datasets, rngs))

    def score(self, outputs: Any, known: Known) -> NDArray[np.float64]:
        """Return reference loss minus loss, shape (n_models, n_challenges, n_candidates)."""
        if self.references is None:
            raise ValueError("the reference models are missing: call prepare first.")
        x, y = _flat(known)
        own = _losses(outputs, x, y, self.loss)
        expected = np.stack(
            [
                _losses(
                    self.references, x[model : model + 1], y[model : model + 1], self.loss
                ).mean(axis=0)
                for model in range(len(x))
            ]
        )
        return (expected - own).reshape(known.y.shape)


@dataclass(frozen=True, slots=True)
class StepLikelihood:
    """The likelihood of `DPSGD`'s noised sums, step by step, under each candidate.

    With the noised sum S of a step, the base records' expected contribution m and a candidate's
    clipped gradient g at the step's (public) parameters, each step adds
    ``log((1-q) p(S | m) + q p(S | m' + g))``, p Gaussian with the noise's standard deviation.
    The optimal test where the base records do not move the candidates' directions (private
    columns) or at q = 1; elsewhere m stands for the sampled sum, which is unknown.

    Parameters
    ----------
    challenges : Challenges
        The design of the candidates.
    sampling : {"poisson", "fixed-size"}
        How batches are thought to be drawn: m' = m under Poisson sampling; in a batch of fixed
        size a candidate displaces one base record. "fixed-size" tests the suspicion that code
        samples without replacement; it is a valid (and weak) test of code that does not.

    References
    ----------
    .. [1] Nasr et al. (2023), Tight auditing of differentially private machine learning.
       arXiv:2302.07956.
    """

    challenges: Challenges
    sampling: Literal["poisson", "fixed-size"] = "poisson"

    def __post_init__(self) -> None:
        check_choice(self.sampling, "sampling", ("poisson", "fixed-size"))

    def choose(
        self, data: Population, n_train: int, n_challenges: int, rng: np.random.Generator
    ) -> Choice:
        """Draw base records and candidates from the design."""
        return self.challenges.draw(data, n_train, n_challenges, rng)

    def score(self, outputs: TrainedModels, known: Known) -> NDArray[np.float64]:
        """Return log-likelihoods up to a constant, shape (n_models, n_challenges, n_candidates)."""
        mechanism, network = outputs.mechanism, outputs.network
        deviation = mechanism.noise_multiplier * mechanism.clip_norm
        if not deviation > 0:
            raise ValueError("the likelihood of a step needs noise_multiplier > 0.")
        rate, base = mechanism.sampling_rate, known.base
        x, y = _flat(known)
        x, base_x = with_bias(x), with_bias(base.x)
        if self.sampling == "fixed-size":
            batch = round(rate * known.n_train)
            out_share = min(1.0, batch / base.n_records)
            in_share = (batch - 1) / base.n_records
        else:
            out_share = in_share = rate
        total = np.zeros(y.shape)
        for flat, noised in outputs.steps():
            gradients = network.clipped_gradients(flat, x, y, mechanism.clip_norm)
            whole = network.clipped_sum(flat, base_x, base.y, mechanism.clip_norm)
            residual = (noised - out_share * whole).astype(np.float64)
            shift = gradients.astype(np.float64) - (out_share - in_share) * whole[:, None]
            inner = np.einsum("mp,mcp->mc", residual, shift)
            exponent = (inner - 0.5 * np.einsum("mcp,mcp->mc", shift, shift)) / deviation**2
            if rate < 1:
                exponent = np.logaddexp(np.log1p(-rate), np.log(rate) + exponent)
            total += exponent
        return total.reshape(known.y.shape)


@dataclass(frozen=True, slots=True)
class OptimalTest:
    """The likelihood-ratio test for mechanisms with a known likelihood.

    Parameters
    ----------
    challenges : Challenges
        The design of the candidates.
    mechanism : object
        With ``log_likelihood(outputs, datasets)``, such as `GaussianMean`.

    Notes
    -----
    Optimal for one challenge a model (Neyman-Pearson). With more, a challenge's other secrets are
    replaced by the mean of their candidates; that is still exact where challenges do not share a
    coordinate of the output.
    """

    challenges: Challenges
    mechanism: Any

    def choose(
        self, data: Population, n_train: int, n_challenges: int, rng: np.random.Generator
    ) -> Choice:
        """Draw base records and candidates from the design."""
        return self.challenges.draw(data, n_train, n_challenges, rng)

    def score(self, outputs: Any, known: Known) -> NDArray[np.float64]:
        """Return log-likelihoods, shape (n_models, n_challenges, n_candidates)."""
        _, challenges, candidates = known.y.shape
        n_base = known.base.n_records
        x = np.concatenate([known.base.x, known.x.mean(axis=2)], axis=1)
        y = np.concatenate([known.base.y, known.y[:, :, 0]], axis=1)
        scores = np.empty(known.y.shape)
        for challenge in range(challenges):
            place = n_base + challenge
            kept = x[:, place].copy()
            for candidate in range(candidates):
                x[:, place] = known.x[:, challenge, candidate]
                likelihood = self.mechanism.log_likelihood(outputs, Datasets(x, y))
                scores[:, challenge, candidate] = likelihood
            x[:, place] = kept
        return scores
