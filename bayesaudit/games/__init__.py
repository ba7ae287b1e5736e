"""Games."""

from bayesaudit.games.accounting import (
    ADD_OR_REMOVE,
    REPLACE_ONE,
    PrivacyClaim,
    calibrate_noise,
    dpsgd_claim,
    gaussian_claim,
)
from bayesaudit.games.adversaries import (
    CalibratedLoss,
    LossComparison,
    OptimalTest,
    StepLikelihood,
)
from bayesaudit.games.challenges import (
    AttributeValues,
    AverageCase,
    Bias,
    CanaryCodes,
    Challenges,
    Copies,
    Extremes,
    FarOut,
    Mislabelled,
    Orthogonal,
    PrivateCoordinate,
)
from bayesaudit.games.closed_forms import GaussianMean, LaplaceMean, RandomizedResponse
from bayesaudit.games.dpsgd import DPSGD, TrainedModels
from bayesaudit.games.experiments import (
    ReconstructionResult,
    experiment_1,
    experiment_2,
    reconstruction_game,
)
from bayesaudit.games.planted import BUGS, FaultyDPSGD
from bayesaudit.games.populations import Digits, GaussianClasses
from bayesaudit.games.protocols import (
    Adversary,
    Choice,
    Datasets,
    Mechanism,
    PerModel,
    Population,
    Trials,
)
from bayesaudit.games.runs import run_shards

__all__ = [
    "ADD_OR_REMOVE",
    "BUGS",
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
    "Extremes",
    "FarOut",
    "FaultyDPSGD",
    "GaussianClasses",
    "GaussianMean",
    "LaplaceMean",
    "LossComparison",
    "Mechanism",
    "Mislabelled",
    "OptimalTest",
    "Orthogonal",
    "PerModel",
    "Population",
    "PrivacyClaim",
    "PrivateCoordinate",
    "RandomizedResponse",
    "ReconstructionResult",
    "StepLikelihood",
    "TrainedModels",
    "Trials",
    "calibrate_noise",
    "dpsgd_claim",
    "experiment_1",
    "experiment_2",
    "gaussian_claim",
    "reconstruction_game",
    "run_shards",
]
