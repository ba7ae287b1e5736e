"""Models of dependence as a PyMC user writes them: one function for each of seven kinds.

They differ in what the checks must get along with: effects with the dim ``model``, trials in place
of counts, rates with a dim of their own, a series, ``pm.Data``, a mixture, and priors that have no
random draws or that no ``log_prior`` holds.
"""

import numpy as np
import pymc as pm
import pytensor.tensor as pt

from bayesaudit.models import population_rate

SIDES = (("fnr", "fn", "n_pos"), ("fpr", "fp", "n_neg"))


EFFECTS = ("model", "challenge")


def coords(counts):
    return {"model": np.arange(counts.shape[-1])}


def logit_normal(counts, spread=1.0):
    """Logit-normal trained models, the ten lines of the notebook."""
    with pm.Model(coords=coords(counts)) as model:
        marginal = 0.0
        for side, errors, trials in SIDES:
            k, n = getattr(counts, errors), getattr(counts, trials)
            location = pm.Normal(f"location_{side}", 0, 1.5)
            scale = pm.HalfNormal(f"scale_{side}", spread)
            rate, log_marginal = population_rate(location, scale)
            pm.Deterministic(side, rate)
            p = pm.math.invlogit(location + scale * pm.Normal(f"effect_{side}", dims="model"))
            pm.Binomial(errors, n, p, observed=k, dims="model")
            marginal += log_marginal(k, n)
        pm.Deterministic("log_marginal", marginal, dims="model")
    return model


def crossed_own(counts, *, guess, member, model, challenge):
    """Effects of models and of challenges, from the trials one by one."""
    guess, member = np.asarray(guess, bool), np.asarray(member, bool)
    models, of_model = np.unique(model, return_inverse=True)
    points, of_point = np.unique(challenge, return_inverse=True)
    with pm.Model(coords={"model": models, "challenge": points}) as built:
        for side, errors, rows in (("fnr", "fn", member), ("fpr", "fp", ~member)):
            location = pm.Normal(f"location_{side}", 0, 1.5)
            scales = [pm.HalfNormal(f"scale_{side}_{name}", 1.0) for name in EFFECTS]
            total = pt.sqrt(sum(scale**2 for scale in scales))
            pm.Deterministic(side, population_rate(location, total).rate)
            eta = location
            for name, scale, index in zip(EFFECTS, scales, (of_model, of_point), strict=True):
                eta += scale * pm.Normal(f"{name}_effect_{side}", dims=name)[index[rows]]
            wrong = (guess != member)[rows]
            pm.Bernoulli(errors, logit_p=eta, observed=wrong.astype(int))
    return built


def pooled_attacks(counts):
    """Two attacks, each on every other model; their locations share a centre."""
    of_attack = np.arange(counts.shape[-1]) % 2
    with pm.Model(coords={"attack": ["loss", "lira"], **coords(counts)}) as model:
        for side, errors, trials in SIDES:
            centre = pm.Normal(f"centre_{side}", 0, 1.5)
            z = pm.Normal(f"attack_{side}", dims="attack")
            location = centre + pm.HalfNormal(f"between_{side}", 0.5) * z
            scale = pm.HalfNormal(f"scale_{side}", 1.0)
            pm.Deterministic(side, population_rate(location, scale).rate, dims="attack")
            effect = scale * pm.Normal(f"effect_{side}", dims="model")
            pm.Binomial(
                errors,
                getattr(counts, trials),
                pm.math.invlogit(location[of_attack] + effect),
                observed=getattr(counts, errors),
                dims="model",
            )
    return model


def autoregressive(counts):
    """Models trained one after another, whose effects follow an AR(1)."""
    with pm.Model(coords=coords(counts)) as model:
        for side, errors, trials in SIDES:
            location = pm.Normal(f"location_{side}", 0, 1.5)
            scale = pm.HalfNormal(f"scale_{side}", 1.0)
            rho = pm.Uniform(f"rho_{side}", -0.9, 0.9)
            steps = pm.Normal(f"step_{side}", dims="model")
            lag = np.subtract.outer(np.arange(counts.shape[-1]), np.arange(counts.shape[-1]))
            # Stationary: the first step counts in full, later ones √(1 − ρ²).
            size = pt.concatenate([[1.0], pt.repeat(pt.sqrt(1 - rho**2), counts.shape[-1] - 1)])
            weight = pt.where(lag >= 0, rho ** np.maximum(lag, 0), 0.0)
            effect = scale * (weight @ (size * steps))
            pm.Deterministic(side, population_rate(location, scale).rate)
            pm.Binomial(
                errors,
                getattr(counts, trials),
                pm.math.invlogit(location + effect),
                observed=getattr(counts, errors),
                dims="model",
            )
    return model


def covariates(counts):
    """A covariate of every model in ``pm.Data``; the rates are those at its value 0."""
    with pm.Model(coords=coords(counts)) as model:
        x = pm.Data("learning_rate", np.linspace(-1, 1, counts.shape[-1]), dims="model")
        for side, errors, trials in SIDES:
            k = pm.Data(f"{errors}_counted", getattr(counts, errors), dims="model")
            n = pm.Data(trials, getattr(counts, trials), dims="model")
            location = pm.Normal(f"location_{side}", 0, 1.5)
            slope = pm.Normal(f"slope_{side}", 0, 1)
            scale = pm.HalfNormal(f"scale_{side}", 1.0)
            pm.Deterministic(side, population_rate(location, scale).rate)
            effect = scale * pm.Normal(f"effect_{side}", dims="model")
            p = pm.math.invlogit(location + slope * x + effect)
            pm.Binomial(errors, n, p, observed=k, dims="model")
    return model


def mixture(counts):
    """Most models leak little, some much: a mixture of two rates, marginalised."""
    with pm.Model(coords=coords(counts)) as model:
        for side, errors, trials in SIDES:
            k, n = getattr(counts, errors), getattr(counts, trials)
            weight = pm.Dirichlet(f"weight_{side}", np.ones(2))
            logit = pm.Normal(f"logit_{side}", 0, 1.5, shape=2, initval=np.array([-1.0, 1.0]))
            p = pm.math.invlogit(pt.sort(logit))
            pm.Deterministic(side, pt.sum(weight * p))
            kinds = pm.Binomial.dist(n[:, None], p[None, :], shape=(k.size, 2))
            w = pt.tile(weight[None, :], (k.size, 1))
            pm.Mixture(errors, w, kinds, observed=k, dims="model")
    return model


def custom_and_potential(counts):
    """FNR under a prior without random draws, FPR flat with its prior as a potential."""
    with pm.Model(coords=coords(counts)) as model:
        fnr = pm.CustomDist(
            "fnr",
            logp=lambda value: pm.logp(pm.Beta.dist(0.5, 0.5), value),
            transform=pm.distributions.transforms.logodds,
            initval=0.5,
        )
        fpr = pm.Uniform("fpr")
        pm.Potential("sparse", pm.logp(pm.Beta.dist(2.0, 8.0), fpr))
        pm.BetaBinomial(
            "fn",
            n=counts.n_pos,
            alpha=9 * fnr,
            beta=9 * (1 - fnr),
            observed=counts.fn,
            dims="model",
        )
        pm.BetaBinomial("fp", n=counts.n_neg, alpha=9 * fpr, beta=9 * (1 - fpr), observed=counts.fp)
    return model


KINDS = (
    logit_normal,
    crossed_own,
    pooled_attacks,
    autoregressive,
    covariates,
    mixture,
    custom_and_potential,
)
