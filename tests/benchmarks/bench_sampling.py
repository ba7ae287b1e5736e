"""Time and accuracy of the PyMC models and the draws engine.

Run ``python tests/benchmarks/bench_sampling.py``. Times are of one machine; what travels is the
ratio to ``pm.sample`` called afresh for every tally, which is printed last.
"""

import sys
import time

import numpy as np
import pymc as pm

import bayesaudit as ba

EPSILON = ba.Epsilon(1e-5)
QUANTILES = (0.05, 0.5, 0.95)


def timed(function):
    start = time.perf_counter()
    value = function()
    return time.perf_counter() - start, value


def row(name, seconds, limit=""):
    limit = f"limit {limit}" if limit else ""
    print(f"{name:62} {seconds:9.3f} s  {limit}")


def largest_z(draws, exact):
    """The largest difference of the CDFs at exact quantiles, in Monte Carlo standard errors."""
    q = np.reshape(QUANTILES, (-1, *[1] * len(exact.shape)))
    level = exact.quantile(q)
    z = (draws.cdf(level) - q) / draws.mcse("cdf", level)
    return float(np.abs(z[level > 0]).max())


def simulated(tallies):
    rng = np.random.default_rng(3)
    n = rng.integers(5, 1000, (2, tallies))
    errors = rng.binomial(n, rng.beta(0.6, 1.2, n.shape))
    return ba.AttackCounts(fn=errors[0], tp=n[0] - errors[0], fp=errors[1], tn=n[1] - errors[1])


def main():
    counts = ba.AttackCounts(fn=35, tp=65, fp=25, tn=75)
    seconds, compiled = timed(lambda: ba.sampling.compile_model(ba.models.independent(counts)))
    row("compile the independent model (once)", seconds)
    compiled.refit(counts, random_seed=0)
    some = simulated(20)
    times, worst = [], 0.0
    for i in range(20):
        seconds, dt = timed(lambda i=i: compiled.refit(some[i], random_seed=i))
        times.append(seconds)
        worst = max(worst, largest_z(ba.posterior(dt, EPSILON), ba.posterior(some[i], EPSILON)))
    refit = float(np.median(times))
    row("refit new data, 4 x 1000 draws (median of 20)", refit, "0.3 s")
    print(f"    largest |z| of the CDF at 60 quantiles: {worst:.2f}")

    many = simulated(1000)
    ba.sample(some, draws=10, random_seed=0)
    seconds, dt = timed(lambda: ba.sample(many, draws=1000, random_seed=1))
    row("1,000 conjugate tallies x 4,000 draws, all groups", seconds, "5 s")
    seconds, _ = timed(lambda: ba.sample(many, draws=1000, random_seed=1, groups=()))
    row("    the posterior alone", seconds)
    draws, exact = ba.posterior(dt, EPSILON), ba.posterior(many, EPSILON)
    seconds, _ = timed(lambda: draws.interval(0.90))
    row("    their 90 % intervals of epsilon", seconds)
    print(f"    largest |z| of the CDF at 3,000 quantiles: {largest_z(draws, exact):.2f}")

    two_hundred = simulated(200)
    seconds, dt = timed(
        lambda: ba.sample(two_hundred, method="nuts", draws=1000, random_seed=1, groups=())
    )
    row("200 tallies in one model by NUTS, 4 x 1000, with compiling", seconds)
    worst = largest_z(ba.posterior(dt, EPSILON), ba.posterior(two_hundred, EPSILON))
    print(f"    largest |z| of the CDF at 600 quantiles: {worst:.2f}")

    direct = ba.posterior(ba.sample(counts, draws=5000, random_seed=1), EPSILON)
    one = ba.posterior(counts, EPSILON)
    seconds, check = timed(lambda: ba.cross_check(direct, one))
    row("cross-check of 4 x 5000 draws", seconds)
    print(f"    {check}")
    seconds, _ = timed(lambda: ba.diagnose(direct.dt, EPSILON))
    row("diagnose them", seconds)

    fits = 3 if "--quick" not in sys.argv else 1
    times = []
    for i in range(fits):
        tally = some[i]

        def afresh(tally=tally, i=i):
            with pm.Model():
                fnr, fpr = pm.Beta("fnr", 0.5, 0.5), pm.Beta("fpr", 0.5, 0.5)
                pm.Binomial("fn", n=tally.n_pos, p=fnr, observed=tally.fn)
                pm.Binomial("fp", n=tally.n_neg, p=fpr, observed=tally.fp)
                pm.sample(
                    draws=1000,
                    chains=4,
                    nuts_sampler="nutpie",
                    random_seed=i,
                    progressbar=False,
                    quiet=True,
                )

        times.append(timed(afresh)[0])
    row(f"pm.sample of a model built anew (median of {fits})", float(np.median(times)))
    print(f"    refit is {np.median(times) / refit:.0f} times faster")


if __name__ == "__main__":
    main()
