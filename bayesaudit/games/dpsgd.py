"""DP-SGD on small networks, vectorised over models and reproducible to the bit.

Abadi et al. (2016), *Deep learning with differential privacy*, Algorithm 1, arXiv:1607.00133:
Poisson sampling at rate q, gradients clipped to norm C, Gaussian noise of standard deviation
``noise_multiplier * C`` on the sum, divided by the expected batch ``q n``.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from bayesaudit._checks import check_integers, check_nonnegative, check_number
from bayesaudit.games._threads import one_blas_thread
from bayesaudit.games.accounting import REPLACE_ONE, PrivacyClaim, dpsgd_claim
from bayesaudit.games.networks import Network, with_bias
from bayesaudit.games.protocols import Datasets

__all__ = ["DPSGD", "TrainedModels"]

_NOISE_BYTES = 1 << 24


@dataclass(frozen=True, slots=True)
class TrainedModels:
    """What `DPSGD` publishes.

    Parameters
    ----------
    network : Network
        The models' common shape.
    parameters : ndarray of float32, shape (n_models, n_parameters)
        Final parameters.
    initial : ndarray of float32, shape (n_models, n_parameters)
        Starting parameters, public.
    sums : ndarray of float32, shape (n_models, n_steps, n_parameters), or None
        The noised sums of clipped gradients, if they were recorded.
    mechanism : DPSGD
        The trainer.
    expected_batch : float
        Records in a batch on average, q n.
    """

    network: Network
    parameters: NDArray[np.float32]
    initial: NDArray[np.float32]
    sums: NDArray[np.float32] | None
    mechanism: "DPSGD"
    expected_batch: float

    def __len__(self) -> int:
        return len(self.parameters)

    def losses(self, x: NDArray, y: NDArray) -> NDArray[np.float64]:
        """Return cross-entropy losses.

        Parameters
        ----------
        x : ndarray, shape (n_models, n_records, n_features), or (1, n_records, n_features)
            Records, of each model or for all models.
        y : ndarray of int, shape (n_models, n_records) or (1, n_records)
            Labels.

        Returns
        -------
        ndarray of float64, shape (n_models, n_records)
            Losses in nats.
        """
        return self._losses(self.parameters, x, y)

    def initial_losses(self, x: NDArray, y: NDArray) -> NDArray[np.float64]:
        """Return the cross-entropy losses of the starting parameters; as `losses`."""
        return self._losses(self.initial, x, y)

    def _losses(self, parameters: NDArray, x: NDArray, y: NDArray) -> NDArray[np.float64]:
        y = np.broadcast_to(y, (len(self), y.shape[-1]))
        return self.network.losses(parameters, with_bias(x), y)

    def steps(self) -> Iterator[tuple[NDArray, NDArray]]:
        """Yield (parameters before the step, noised sum of the step), step by step."""
        if self.sums is None:
            raise ValueError("the sums were not recorded: train with DPSGD(..., record=True).")
        flat = self.initial.copy()
        rate = self.mechanism.step_scale(self.expected_batch)
        for step in range(self.sums.shape[1]):
            yield flat, self.sums[:, step]
            flat -= rate * self.sums[:, step]


@dataclass(frozen=True, slots=True, kw_only=True)
class DPSGD:
    """Differentially private SGD on softmax regression or a network with one hidden layer.

    Parameters
    ----------
    n_classes : int
        Number of classes, >= 2.
    noise_multiplier : float
        Noise standard deviation over the clipping norm, >= 0 (0: no noise, no privacy).
    sampling_rate : float
        Probability q that a record joins a step's batch, in (0, 1]; 1 is full-batch descent.
    n_steps : int
        Number of steps, >= 1.
    clip_norm : float
        Clipping norm C, > 0; infinity clips nothing (only without noise).
    learning_rate : float
        Step length on the noised sum over the expected batch, > 0.
    n_hidden : int
        Width of the hidden tanh layer; 0 for softmax regression.
    record : bool
        Publish every step's noised sum (n_steps x n_parameters floats a model), for adversaries
        that read them.
    chunk_size : int
        Models trained side by side; changes the speed, never the result.

    Raises
    ------
    ValueError
        If a value is out of its range.

    Notes
    -----
    Model ``i`` depends on its data set and its generator only: sampling and noise have streams of
    their own, batches are padded to a fixed size, and each product is one GEMM a model on one BLAS
    thread, so results are equal to the bit for any chunk, order and number of workers on one
    machine.

    References
    ----------
    .. [1] Abadi et al. (2016), Deep learning with differential privacy, Algorithm 1.
       arXiv:1607.00133.
    .. [2] Goodfellow (2015), Efficient per-example gradient computations. arXiv:1510.01799.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesaudit.games import Datasets, DPSGD, GaussianClasses
    >>> x, y = GaussianClasses(n_classes=3, n_features=8).draw(100, np.random.default_rng(1))
    >>> trainer = DPSGD(n_classes=3, noise_multiplier=1.0, sampling_rate=0.2, n_steps=10)
    >>> models = trainer.train(Datasets(x[None], y[None]), [np.random.default_rng(2)])
    >>> models.losses(x[None], y[None]).shape
    (1, 100)
    """

    n_classes: int
    noise_multiplier: float
    sampling_rate: float
    n_steps: int
    clip_norm: float = 1.0
    learning_rate: float = 1.0
    n_hidden: int = 0
    record: bool = False
    chunk_size: int = 32
    relation: ClassVar[str] = REPLACE_ONE

    def __post_init__(self) -> None:
        check_integers(self.n_classes, "n_classes", minimum=2)
        check_nonnegative(self.noise_multiplier, "noise_multiplier")
        rate = check_number(self.sampling_rate, "sampling_rate")
        if not 0 < rate <= 1:
            raise ValueError(f"sampling_rate must be in (0, 1], got {rate!r}.")
        check_integers(self.n_steps, "n_steps", minimum=1)
        clip = check_number(self.clip_norm, "clip_norm")
        if not clip > 0:
            raise ValueError(f"clip_norm must be > 0, got {clip!r}.")
        if np.isinf(clip) and self.noise_multiplier > 0:
            raise ValueError("clip_norm must be finite when noise_multiplier > 0, got inf.")
        if not check_number(self.learning_rate, "learning_rate") > 0:
            raise ValueError(f"learning_rate must be > 0, got {self.learning_rate!r}.")
        check_integers(self.n_hidden, "n_hidden")
        check_integers(self.chunk_size, "chunk_size", minimum=1)

    def claim(self, delta: float = 1e-5) -> PrivacyClaim:
        """Return the accountant's guarantee under REPLACE_ONE at `delta`, with its whole curve."""
        return dpsgd_claim(
            noise_multiplier=self.noise_multiplier,
            sampling_rate=self.sampling_rate,
            n_steps=self.n_steps,
            delta=delta,
        )

    def train(self, datasets: Datasets, rngs: Sequence[np.random.Generator]) -> TrainedModels:
        """Train one model a data set.

        Parameters
        ----------
        datasets : Datasets
            Training sets, labels below ``n_classes``.
        rngs : sequence of numpy.random.Generator, one a model
            Each model's own source of randomness.

        Returns
        -------
        TrainedModels
        """
        if len(rngs) != len(datasets):
            raise ValueError(
                f"rngs must hold one generator a data set, got {len(rngs)} for {len(datasets)}."
            )
        if datasets.y.size and not 0 <= datasets.y.min() <= datasets.y.max() < self.n_classes:
            raise ValueError(f"labels must be in 0..{self.n_classes - 1}.")
        network = Network(datasets.x.shape[-1] + 1, self.n_classes, self.n_hidden)
        shape = (len(datasets), network.n_parameters)
        parameters = np.empty(shape, dtype=np.float32)
        initial = np.empty(shape, dtype=np.float32)
        sums = None
        if self.record:
            sums = np.empty((shape[0], self.n_steps, shape[1]), dtype=np.float32)
        for start in range(0, len(datasets), self.chunk_size):
            part = slice(start, start + self.chunk_size)
            with one_blas_thread():
                self._train_chunk(
                    network,
                    datasets[part],
                    rngs[part],
                    parameters[part],
                    initial[part],
                    None if sums is None else sums[part],
                )
        batch = self.sampling_rate * datasets.n_records
        return TrainedModels(network, parameters, initial, sums, self, batch)

    # -- the four places where an implementation can go wrong; `planted` overrides them ----------

    def step_scale(self, batch: float) -> np.float32:
        """Return what multiplies the noised sum: the learning rate over the expected batch."""
        return np.float32(self.learning_rate / batch)

    def noise_scale(self, batch: float) -> float:
        """Return the noise's standard deviation on the sum."""
        return self.noise_multiplier * self.clip_norm

    def masks(self, rng: np.random.Generator, n_records: int) -> Iterator[NDArray[np.bool_]]:
        """Yield each step's batch of one model as a mask: independent coins (Poisson sampling)."""
        while True:
            yield rng.random(n_records) < self.sampling_rate

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
        """Return the sum of clipped gradients, before noise."""
        return network.clipped_sum(flat, x, y, self.clip_norm, weight, x_squared, out)

    def noise(self, rng: np.random.Generator, out: NDArray[np.float32], first_step: int) -> None:
        """Fill `out` (steps, n_parameters) of one model with standard normal noise."""
        rng.standard_normal(out=out, dtype=np.float32)

    # ---------------------------------------------------------------------------------------------

    def _padded_batch(self, n_records: int) -> int:
        if self.sampling_rate == 1:
            return n_records
        from scipy.special import bdtrc

        # The smallest size that a batch exceeds with probability below 1e-12, rounded up to 8.
        sizes = np.arange(n_records + 1)
        size = int(np.argmax(bdtrc(sizes, n_records, self.sampling_rate) < 1e-12))
        return min(n_records, -(-size // 8) * 8)

    def _train_chunk(
        self,
        network: Network,
        datasets: Datasets,
        rngs: Sequence[np.random.Generator],
        flat: NDArray,
        initial: NDArray,
        sums: NDArray | None,
    ) -> None:
        models, n = datasets.y.shape
        x = with_bias(datasets.x)
        x_squared = np.einsum("mnd,mnd->mn", x, x)
        streams = [rng.spawn(3) for rng in rngs]
        flat[...] = initial[...] = network.initial([stream[0] for stream in streams])
        masks = [self.masks(stream[1], n) for stream in streams]
        size = self._padded_batch(n)
        batch = self.sampling_rate * n
        rate = self.step_scale(batch)
        noise_scale = np.float32(self.noise_scale(batch))
        block = max(1, min(50, _NOISE_BYTES // (4 * models * network.n_parameters)))
        noise = np.empty((models, block, network.n_parameters), dtype=np.float32)
        gradient = np.empty((models, network.n_parameters), dtype=np.float32)
        draw = _Batches(x, datasets.y, x_squared, size)
        for step in range(self.n_steps):
            at = step % block
            if noise_scale > 0 and at == 0:
                for model, stream in enumerate(streams):
                    self.noise(stream[2], noise[model], step)
                noise *= noise_scale
            if self.sampling_rate == 1:
                records = (x, datasets.y, None, x_squared)
            else:
                records = draw(np.stack([next(mask) for mask in masks]))
            self.gradient_sum(network, flat, *records, batch, gradient)
            if noise_scale > 0:
                gradient += noise[:, at]
            if sums is not None:
                sums[:, step] = gradient
            gradient *= rate
            flat -= gradient


class _Batches:
    """Gathers masked records into batches of one fixed size, padded with weight 0."""

    def __init__(self, x: NDArray, y: NDArray, x_squared: NDArray, size: int):
        models, n = y.shape
        self.x = x.reshape(models * n, -1)
        self.y = y.reshape(-1)
        self.x_squared = x_squared.reshape(-1)
        self.size = size
        self.offset = (np.arange(models) * n)[:, None]
        self.places = np.arange(size)[None, :]
        self.out = np.empty((models, size, x.shape[-1]), dtype=np.float32)

    def __call__(self, mask: NDArray[np.bool_]) -> tuple[NDArray, NDArray, NDArray, NDArray]:
        count = mask.sum(axis=1)
        if count.max() > self.size:
            # Probability below 1e-12 a step by the choice of the size.
            raise RuntimeError(f"a batch of {count.max()} records exceeds the {self.size} places.")
        rows = np.repeat(self.offset, self.size, axis=1)
        filled = self.places < count[:, None]
        rows[filled] = np.flatnonzero(mask)
        self.x.take(rows, axis=0, out=self.out, mode="clip")
        weight = filled.astype(np.float32)
        return self.out, self.y.take(rows), weight, self.x_squared.take(rows)
