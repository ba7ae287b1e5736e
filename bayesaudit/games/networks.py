"""Softmax regression and a one-hidden-layer network, many at once, with closed-form gradient norms.

Parameters are one flat float32 row a model. With ``x`` the record and a trailing 1 for the bias,
``r = softmax - onehot`` and ``d`` the hidden layer's back-propagated error, a record's gradient is
``r x^T`` (softmax) or ``d x^T`` and ``r (h, 1)^T`` (one hidden tanh layer ``h``), so that its
squared norm is ``|x|^2 |r|^2`` or ``|x|^2 |d|^2 + (1 + |h|^2) |r|^2`` (Goodfellow,
arXiv:1510.01799) and clipping only scales ``r`` and ``d`` before the sum: no gradient of one record
is ever formed.
Every product is one small GEMM a model, which makes results independent of how models are grouped.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Network", "with_bias"]


def with_bias(x: NDArray) -> NDArray[np.float32]:
    """Append the constant feature 1 to the last axis."""
    padded = np.ones((*x.shape[:-1], x.shape[-1] + 1), dtype=np.float32)
    padded[..., :-1] = x
    return padded


@dataclass(frozen=True, slots=True)
class Network:
    """The shape of a network.

    Parameters
    ----------
    n_inputs : int
        Features of a record, the bias's constant 1 included.
    n_classes : int
        Number of classes.
    n_hidden : int
        Width of the hidden tanh layer; 0 for softmax regression.
    """

    n_inputs: int
    n_classes: int
    n_hidden: int = 0

    @property
    def n_parameters(self) -> int:
        """Length of a model's row of parameters."""
        if self.n_hidden == 0:
            return self.n_classes * self.n_inputs
        return self.n_hidden * self.n_inputs + self.n_classes * (self.n_hidden + 1)

    def views(self, flat: NDArray) -> tuple[NDArray, ...]:
        """Return the layers' matrices as views of rows of parameters."""
        lead = flat.shape[:-1]
        if self.n_hidden == 0:
            return (flat.reshape(*lead, self.n_classes, self.n_inputs),)
        cut = self.n_hidden * self.n_inputs
        return (
            flat[..., :cut].reshape(*lead, self.n_hidden, self.n_inputs),
            flat[..., cut:].reshape(*lead, self.n_classes, self.n_hidden + 1),
        )

    def initial(self, rngs: Sequence[np.random.Generator]) -> NDArray[np.float32]:
        """Return starting parameters: zeros, or N(0, 1/fan-in) weights with zero biases."""
        flat = np.zeros((len(rngs), self.n_parameters), dtype=np.float32)
        if self.n_hidden:
            first, second = self.views(flat)
            for model, rng in enumerate(rngs):
                shape = (self.n_hidden, self.n_inputs - 1)
                first[model, :, :-1] = rng.standard_normal(shape) / np.sqrt(self.n_inputs - 1)
                shape = (self.n_classes, self.n_hidden)
                second[model, :, :-1] = rng.standard_normal(shape) / np.sqrt(self.n_hidden)
        return flat

    def logits(self, flat: NDArray, x: NDArray) -> NDArray:
        """Return logits, shape (n_models, n_classes, batch), for x (n_models, batch, n_inputs)."""
        layers = self.views(flat)
        z = np.matmul(layers[0], x.swapaxes(-1, -2))
        if self.n_hidden:
            z = np.matmul(layers[1][..., :-1], np.tanh(z, out=z)) + layers[1][..., -1:]
        return z

    def losses(self, flat: NDArray, x: NDArray, y: NDArray) -> NDArray[np.float64]:
        """Return cross-entropy losses in nats in double precision, shape (n_models, batch)."""
        z = self.logits(flat.astype(np.float64), x.astype(np.float64))
        z -= z.max(axis=1, keepdims=True)
        own = np.take_along_axis(z, y[:, None, :], axis=1)[:, 0]
        return np.log(np.exp(z).sum(axis=1)) - own

    def errors(
        self, flat: NDArray, x: NDArray, y: NDArray, x_squared: NDArray
    ) -> tuple[tuple[NDArray, ...], NDArray, NDArray]:
        """Back-propagate: the layers' errors, the hidden layer (or r) and squared gradient norms.

        Parameters
        ----------
        flat : ndarray, shape (n_models, n_parameters)
        x : ndarray, shape (n_models, batch, n_inputs)
        y : ndarray of int, shape (n_models, batch)
        x_squared : ndarray, shape (n_models, batch)
            Squared norms of the records.
        """
        layers = self.views(flat)
        first = np.matmul(layers[0], x.swapaxes(-1, -2))
        hidden = first
        if self.n_hidden:
            np.tanh(first, out=first)
            r = np.matmul(layers[1][..., :-1], first)
            r += layers[1][..., -1:]
        else:
            r = first
        r -= r.max(axis=1, keepdims=True)
        np.exp(r, out=r)
        r /= r.sum(axis=1, keepdims=True)
        r -= y[:, None, :] == np.arange(self.n_classes)[None, :, None]
        r_squared = np.einsum("mkb,mkb->mb", r, r)
        if not self.n_hidden:
            return (r,), hidden, x_squared * r_squared
        d = np.matmul(layers[1][..., :-1].swapaxes(-1, -2), r)
        squares = hidden * hidden
        h_squared = squares.sum(axis=1)
        d *= np.subtract(1, squares, out=squares)
        norms = x_squared * np.einsum("mhb,mhb->mb", d, d) + (1 + h_squared) * r_squared
        return (d, r), hidden, norms

    def weighted_sum(
        self, errors: tuple[NDArray, ...], hidden: NDArray, x: NDArray, out: NDArray | None = None
    ) -> NDArray[np.float32]:
        """Sum gradients over the batch from (scaled) errors, shape (n_models, n_parameters)."""
        if out is None:
            out = np.empty((len(x), self.n_parameters), dtype=np.float32)
        layers = self.views(out)
        np.matmul(errors[0], x, out=layers[0])
        if self.n_hidden:
            layers[1][..., :-1] = np.matmul(errors[1], hidden.swapaxes(-1, -2))
            layers[1][..., -1] = errors[1].sum(axis=-1)
        return out

    def clipped_sum(
        self,
        flat: NDArray,
        x: NDArray,
        y: NDArray,
        clip_norm: float,
        weight: NDArray | None = None,
        x_squared: NDArray | None = None,
        out: NDArray | None = None,
    ) -> NDArray[np.float32]:
        """Sum gradients of norm clipped to `clip_norm`, times `weight`, over the batch.

        Parameters
        ----------
        flat : ndarray of float32, shape (n_models, n_parameters)
        x : ndarray of float32, shape (n_models, batch, n_inputs)
        y : ndarray of int, shape (n_models, batch)
        clip_norm : float
            Largest norm of one record's gradient; infinity leaves it alone.
        weight : ndarray of float32, shape (n_models, batch), optional
            0 for a padded place, 1 for a record.
        x_squared : ndarray of float32, shape (n_models, batch), optional
            Squared norms of the records.
        out : ndarray of float32, shape (n_models, n_parameters), optional
            Where the sum goes.
        """
        if x_squared is None:
            x_squared = np.einsum("mbd,mbd->mb", x, x)
        errors, hidden, norms = self.errors(flat, x, y, x_squared)
        if np.isfinite(clip_norm):
            tiny = np.finfo(np.float32).tiny
            scale = np.minimum(1, np.float32(clip_norm) / np.sqrt(np.maximum(norms, tiny)))
            if weight is not None:
                scale *= weight
        else:
            scale = weight
        if scale is not None:
            for error in errors:
                error *= scale[:, None, :]
        return self.weighted_sum(errors, hidden, x, out)

    def clipped_gradients(
        self, flat: NDArray, x: NDArray, y: NDArray, clip_norm: float
    ) -> NDArray[np.float32]:
        """Return every record's clipped gradient, shape (n_models, batch, n_parameters).

        For a handful of records (the candidates): the batch is run as so many models.
        """
        models, batch = y.shape
        rows = np.repeat(flat, batch, axis=0)
        sums = self.clipped_sum(
            rows, x.reshape(models * batch, 1, -1), y.reshape(models * batch, 1), clip_norm
        )
        return sums.reshape(models, batch, -1)
