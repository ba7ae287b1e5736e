"""The games that produce the counts: train models with a secret record in them, attack, tally.

`experiment_1` and `experiment_2` play the membership games of Zanella-Béguelin et al. (2023,
arXiv:2206.05199), `reconstruction_game` that of Guo et al. (2023, arXiv:2210.13662);
`audit_implementation` attacks an implementation and compares with its accountant's whole curve.
Mechanisms are DP-SGD on small networks (`DPSGD`), three releases whose trade-off is known exactly,
and any function of yours. One record is substituted for another, so every guarantee is named with
its relation, REPLACE_ONE.

Your own trainer
----------------
A trainer is one function ``train(x, y, rng) -> model``: features of shape (n_records, n_features),
labels (n_records,), and a NumPy generator that is the only source of randomness (hand
``int(rng.integers(2**31))`` to a framework as its seed). What the attack needs is a second
function, ``loss(model, x, y) -> losses`` of shape (n_records,). Where training starts at random
weights, a third, ``initial(n_features, rng)``, returns the model that `train` starts from when it
is given a generator in the same state: what one record changes is then seen, not what chance set.
PyTorch with Opacus::

    import torch
    from opacus import PrivacyEngine
    from bayesaudit import games

    def initial(n_features, rng):
        torch.manual_seed(int(rng.integers(2**31)))
        return torch.nn.Linear(n_features, 2)

    def train(x, y, rng):
        model = initial(x.shape[1], rng)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
        records = torch.utils.data.TensorDataset(torch.tensor(x), torch.tensor(y))
        loader = torch.utils.data.DataLoader(records, batch_size=len(x) // 16)
        model, optimizer, loader = PrivacyEngine().make_private(
            module=model, optimizer=optimizer, data_loader=loader,
            noise_multiplier=1.0, max_grad_norm=1.0,
        )
        for _ in range(2):  # two epochs are 32 steps at rate 1/16
            for batch_x, batch_y in loader:
                optimizer.zero_grad()
                torch.nn.functional.cross_entropy(model(batch_x), batch_y).backward()
                optimizer.step()
        return model

    def loss(model, x, y):
        with torch.no_grad():
            logits = model(torch.tensor(x))
            return torch.nn.functional.cross_entropy(
                logits, torch.tensor(y), reduction="none"
            ).numpy()

    claim = games.dpsgd_claim(noise_multiplier=1.0, sampling_rate=1 / 16, n_steps=32)
    audit = games.audit_implementation(train, claim, loss=loss, initial=initial, random_seed=1)
    print(audit.verdict)  # "inconsistent", "consistent", or "inconclusive": no power here
    print(audit.summary())

JAX, one jitted step and `vmap` for the gradients of single records::

    import jax
    import jax.numpy as jnp

    def record_loss(weights, x, y):
        return -jax.nn.log_softmax(x @ weights)[y]

    @jax.jit
    def step(weights, key, x, y):
        sample_key, noise_key = jax.random.split(key)
        chosen = jax.random.bernoulli(sample_key, 1 / 16, y.shape)
        gradients = jax.vmap(jax.grad(record_loss), (None, 0, 0))(weights, x, y)
        norms = jnp.sqrt((gradients**2).sum((1, 2)))
        scale = chosen * jnp.minimum(1, 1.0 / norms)
        noise = 1.0 * jax.random.normal(noise_key, weights.shape)
        total = (scale[:, None, None] * gradients).sum(0) + noise
        return weights - 0.5 * total / (len(y) / 16)

    def train(x, y, rng):
        keys = jax.random.split(jax.random.key(int(rng.integers(2**31))), 32)
        weights = jnp.zeros((x.shape[1], 2))
        for key in keys:
            weights = step(weights, key, x, y)
        return weights

    def loss(weights, x, y):
        return jax.vmap(record_loss, (None, 0, 0))(weights, x, y)

The same functions play the experiments: ``experiment_1(PerModel(train), LossComparison(challenges,
loss), data, ...)``. A trainer that fits many models at once implements `Mechanism` instead.
"""

from bayesaudit.games.accounting import (
    ADD_OR_REMOVE,
    REPLACE_ONE,
    PrivacyClaim,
    dpsgd_claim,
    gaussian_claim,
    noise_for_epsilon,
)
from bayesaudit.games.adversaries import (
    CalibratedLoss,
    LossComparison,
    OptimalTest,
    StepLikelihood,
)
from bayesaudit.games.audit import audit_implementation, audit_trainer
from bayesaudit.games.canaries import Bias, Copies, LabelFlip, PrivateDirection
from bayesaudit.games.challenges import (
    AttributeValues,
    AverageCase,
    CanaryCodes,
    Challenges,
    Extremes,
    FarOut,
    Mislabelled,
    Orthogonal,
    PrivateCoordinate,
)
from bayesaudit.games.closed_forms import GaussianMean, LaplaceMean, RandomizedResponse
from bayesaudit.games.designs import DESIGNS
from bayesaudit.games.dpsgd import DPSGD, TrainedModels
from bayesaudit.games.experiments import experiment_1, experiment_2
from bayesaudit.games.planted import BUGS, FaultyDPSGD
from bayesaudit.games.populations import Digits, EmptyRecords, GaussianClasses
from bayesaudit.games.protocols import (
    Adversary,
    Choice,
    Datasets,
    Known,
    Mechanism,
    ModelsWithStart,
    PerModel,
    Population,
)
from bayesaudit.games.reconstruction import ReconstructionResult, reconstruction_game
from bayesaudit.games.runs import run_shards
from bayesaudit.games.verdict import ImplementationAudit

__all__ = [
    "ADD_OR_REMOVE",
    "BUGS",
    "DESIGNS",
    "DPSGD",
    "REPLACE_ONE",
    "Adversary",
    "AttributeValues",
    "AverageCase",
    "Bias",
    "CalibratedLoss",
    "CanaryCodes",
    "Challenges",
    "Choice",
    "Copies",
    "Datasets",
    "Digits",
    "EmptyRecords",
    "Extremes",
    "FarOut",
    "FaultyDPSGD",
    "GaussianClasses",
    "GaussianMean",
    "ImplementationAudit",
    "Known",
    "LabelFlip",
    "LaplaceMean",
    "LossComparison",
    "Mechanism",
    "Mislabelled",
    "ModelsWithStart",
    "OptimalTest",
    "Orthogonal",
    "PerModel",
    "Population",
    "PrivacyClaim",
    "PrivateCoordinate",
    "PrivateDirection",
    "RandomizedResponse",
    "ReconstructionResult",
    "StepLikelihood",
    "TrainedModels",
    "audit_implementation",
    "audit_trainer",
    "dpsgd_claim",
    "experiment_1",
    "experiment_2",
    "gaussian_claim",
    "noise_for_epsilon",
    "reconstruction_game",
    "run_shards",
]
