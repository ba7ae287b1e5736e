"""What a reconstruction attacker can gain: the tightest Fano bound and every competing one.

A secret with M values (equally likely, or with a prior p) is in the training data; an adversary
sees the output and guesses the value. With success s and ``p* = max p``, the advantage is
``(s - p*)/(1 - p*)``. Everything is in nats and each guarantee names its neighbouring relation.

- `advantage`, `error`, `fano_bound`: from the mutual information, by Erokhin's curve (the
  tightest), the paper's inequality or Han and Verdu's.
- `rdp_information`, `kl_mixture_information`, `subsampled_gaussian_kl`, ...: the information.
- `pure_dp_advantage`, `renyi_fano`, `rero_gdp`, `tradeoff_fixed_point`, ...: other roads.
- `best_bound`, `dp_sgd_bounds`, `event_bounds`: all bounds side by side.
- `calibrate_noise`, `calibrate_epsilon`, `information_budget`: from a target back.
- `simulate_game`: the attack game with the Bayes-optimal adversary.
- `posterior_advantage`: the posterior of epsilon, pushed through a bound.

References
----------
Guo, Sablayrolles and Sanjabi (2023), *Analyzing Privacy Leakage in Machine Learning via Multiple
Hypothesis Testing: A Lesson From Fano*, ICML, arXiv:2210.13662.
"""

from bayesaudit.fano._result import AdvantageBound
from bayesaudit.fano.accounting import dp_sgd_bounds, event_bounds, privacy_profile, rdp_curve
from bayesaudit.fano.best import BestBound, best_bound
from bayesaudit.fano.bridge import AdvantagePosterior, posterior_advantage
from bayesaudit.fano.calibrate import (
    Calibration,
    calibrate_epsilon,
    calibrate_noise,
    information_budget,
)
from bayesaudit.fano.game import (
    Channel,
    GameResult,
    SimplexGaussian,
    bayes_success,
    channel_information,
    randomized_response,
    simulate_game,
)
from bayesaudit.fano.gaussian import gaussian_success, simplex_information
from bayesaudit.fano.information import (
    entropy,
    gaussian_capacity,
    gaussian_kl,
    kl_mixture_information,
    pure_dp_kl,
    rdp_information,
    replace_one_information,
    subsampled_gaussian_kl,
)
from bayesaudit.fano.inversion import (
    advantage,
    conditional_entropy_bound,
    error,
    fano_bound,
)
from bayesaudit.fano.membership import (
    erlingsson_advantage,
    humphries_advantage,
    yeom_advantage,
)
from bayesaudit.fano.robustness import (
    pure_dp_advantage,
    renyi_fano,
    rero_approximate_dp,
    rero_gdp,
    rero_rdp,
    rero_tradeoff,
    rero_zcdp,
    tradeoff_fixed_point,
)

__all__ = [
    "AdvantageBound",
    "AdvantagePosterior",
    "BestBound",
    "Calibration",
    "Channel",
    "GameResult",
    "SimplexGaussian",
    "advantage",
    "bayes_success",
    "best_bound",
    "calibrate_epsilon",
    "calibrate_noise",
    "channel_information",
    "conditional_entropy_bound",
    "dp_sgd_bounds",
    "entropy",
    "erlingsson_advantage",
    "error",
    "event_bounds",
    "fano_bound",
    "gaussian_capacity",
    "gaussian_kl",
    "gaussian_success",
    "humphries_advantage",
    "information_budget",
    "kl_mixture_information",
    "posterior_advantage",
    "privacy_profile",
    "pure_dp_advantage",
    "pure_dp_kl",
    "randomized_response",
    "rdp_curve",
    "rdp_information",
    "renyi_fano",
    "replace_one_information",
    "rero_approximate_dp",
    "rero_gdp",
    "rero_rdp",
    "rero_tradeoff",
    "rero_zcdp",
    "simplex_information",
    "simulate_game",
    "subsampled_gaussian_kl",
    "tradeoff_fixed_point",
    "yeom_advantage",
]
