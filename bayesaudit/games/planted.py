"""DP-SGD with planted bugs: the implementations that an audit is meant to catch."""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from bayesaudit._checks import check_choice
from bayesaudit.games.dpsgd import DPSGD
from bayesaudit.games.networks import Network

__all__ = ["BUGS", "FaultyDPSGD"]

BUGS = {
    "noise/B": "noise of standard deviation sigma C / B on the sum",
    "noise/sqrt(B)": "noise of standard deviation sigma C / sqrt(B) on the sum",
    "sigma/sqrt(2)": "noise of standard deviation sigma C / sqrt(2) on the sum",
    "sigma/2": "noise of standard deviation sigma C / 2: a substitution accounted as add/remove",
    "clip after averaging": "the mean gradient is clipped instead of each record's",
    "clip by layer": "each layer's part of the gradient is clipped to C by itself",
    "without replacement": "batches of fixed size accounted as Poisson samples",
    "shuffle": "an epoch's disjoint batches accounted as Poisson samples",
    "same noise": "the first step's noise is added at every step",
    "shared class noise": "one noise vector serves all classes",
    "norm without bias": "the gradient's norm leaves the biases out",
}

Bug = Literal[
    "noise/B",
    "noise/sqrt(B)",
    "sigma/sqrt(2)",
    "sigma/2",
    "clip after averaging",
    "clip by layer",
    "without replacement",
    "shuffle",
    "same noise",
    "shared class noise",
    "norm without bias",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultyDPSGD(DPSGD):
    """`DPSGD` with one planted bug; it still claims what the correct code would deserve.

    Parameters
    ----------
    bug : str
        A key of `BUGS`; "shared class noise" and "norm without bias" are for softmax regression.

    Other parameters are those of `DPSGD`.

    Examples
    --------
    >>> trainer = FaultyDPSGD(
    ...     bug="noise/B", n_classes=2, noise_multiplier=4.0, sampling_rate=1.0, n_steps=10
    ... )
    >>> trainer.noise_scale(64)
    0.0625
    """

    bug: Bug

    @classmethod
    def of(cls, trainer: DPSGD, bug: Bug) -> "FaultyDPSGD":
        """Return `trainer` with `bug` planted."""
        settings = {field.name: getattr(trainer, field.name) for field in fields(DPSGD)}
        return cls(bug=bug, **settings)

    def __post_init__(self) -> None:
        # dataclass(slots=True) rebuilds the class, which breaks the zero-argument super().
        DPSGD.__post_init__(self)
        check_choice(self.bug, "bug", tuple(BUGS))
        if self.n_hidden and self.bug in ("shared class noise", "norm without bias"):
            raise ValueError(f"bug {self.bug!r} needs n_hidden=0, got {self.n_hidden}.")

    def noise_scale(self, batch: float) -> float:
        """Return the noise's standard deviation on the sum, as the bug has it."""
        divisor = {
            "noise/B": batch,
            "noise/sqrt(B)": np.sqrt(batch),
            "sigma/sqrt(2)": np.sqrt(2),
            "sigma/2": 2.0,
        }
        return float(self.noise_multiplier * self.clip_norm / divisor.get(self.bug, 1.0))

    def masks(self, rng: np.random.Generator, n_records: int) -> Iterator[NDArray[np.bool_]]:
        """Yield batches, as the bug draws them."""
        if self.bug not in ("without replacement", "shuffle"):
            yield from DPSGD.masks(self, rng, n_records)
        size = round(self.sampling_rate * n_records)
        order, used = rng.permutation(n_records), 0
        while True:
            if self.bug == "without replacement" or used + size > n_records:
                order, used = rng.permutation(n_records), 0
            mask = np.zeros(n_records, dtype=bool)
            mask[order[used : used + size]] = True
            used += size
            yield mask

    def gradient_sum(
        self,
        network: Network,
        flat: NDArray,
        x: NDArray,
        y: NDArray,
        weight: NDArray | None,
        x_squared: NDArray,
        batch: float,
        out: NDArray,
    ) -> NDArray[np.float32]:
        """Return the sum of gradients, clipped as the bug has it."""
        if self.bug == "norm without bias":
            x_squared = x_squared - 1
        if self.bug == "clip by layer":
            return self._clipped_by_layer(network, flat, x, y, weight, x_squared, out)
        if self.bug != "clip after averaging":
            return DPSGD.gradient_sum(self, network, flat, x, y, weight, x_squared, batch, out)
        network.clipped_sum(flat, x, y, np.inf, weight, x_squared, out)
        norm = np.linalg.norm(out, axis=1, keepdims=True) / batch
        # The clipped mean is what is applied, with noise sigma C / B: the sum's noise stays.
        out *= np.minimum(1, self.clip_norm / np.maximum(norm, 1e-30))
        return out

    def _clipped_by_layer(
        self,
        network: Network,
        flat: NDArray,
        x: NDArray,
        y: NDArray,
        weight: NDArray | None,
        x_squared: NDArray,
        out: NDArray,
    ) -> NDArray[np.float32]:
        """Clip the two layers apart; in softmax regression, the weights and the biases."""

        def clipped(error: NDArray, inputs_squared: NDArray | float) -> NDArray:
            norm = np.sqrt(inputs_squared * np.einsum("mkb,mkb->mb", error, error))
            scale = np.float32(self.clip_norm) / np.maximum(norm, np.float32(self.clip_norm))
            return error * (scale if weight is None else scale * weight)[:, None, :]

        errors, hidden, _ = network.errors(flat, x, y, x_squared)
        if network.n_hidden:
            h_squared = np.einsum("mhb,mhb->mb", hidden, hidden)
            parts = (clipped(errors[0], x_squared), clipped(errors[1], 1 + h_squared))
            return network.weighted_sum(parts, hidden, x, out)
        network.weighted_sum((clipped(errors[0], x_squared - 1),), hidden, x, out)
        network.views(out)[0][..., -1] = clipped(errors[0], 1.0).sum(axis=-1)
        return out

    def noise(self, rng: np.random.Generator, out: NDArray[np.float32], first_step: int) -> None:
        """Fill `out` with standard normal noise, as the bug draws it."""
        if self.bug == "same noise":
            # A copy of the stream's state: every call draws the same row again.
            state = rng.bit_generator.state
            rng.standard_normal(out=out[0], dtype=np.float32)
            rng.bit_generator.state = state
            out[1:] = out[0]
            return
        DPSGD.noise(self, rng, out, first_step)
        if self.bug == "shared class noise":
            per_class = out.reshape(len(out), self.n_classes, -1)
            per_class[:, 1:] = per_class[:, :1]
