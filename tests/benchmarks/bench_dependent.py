"""Dependent samples: the beta-binomial posterior and the betting bound, timed and compared.

Run this file; ``--bets`` compares ways of betting (two minutes).
"""

import json
import math
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))
import bayesaudit as ba
from bayesaudit.betting._lines import lines_of
from bayesaudit.betting._rows import rows_of
from bayesaudit.betting._wealth import Wealth, lower_end

REFERENCE = Path(__file__).parents[1] / "data" / "beta_binomial.json"


def simulate(rng, models, n, icc, rates=(0.35, 0.25)):
    sides = []
    for rate in rates:
        p = np.full(models, rate)
        if icc:
            kappa = (1 - icc) / icc
            p = rng.beta(rate * kappa, (1 - rate) * kappa, models)
        sides.append(rng.binomial(n, p))
    fn, fp = sides
    return ba.AttackCounts(fn=fn, tp=n - fn, fp=fp, tn=n - fp)


def best(function, repeats=9):
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        result = function()
        times.append(time.perf_counter() - start)
    return result, 1e3 * min(times), 1e3 * float(np.median(times))


def main():
    rng = np.random.default_rng(1)
    print(f"{'exact 90 % interval':34s} {'best ms':>8s} {'median ms':>9s}   target")
    small, large = [(100, n, "50 ms") for n in (50, 500)], [50, 500, 100_000]
    rows = [(1, 500, ""), (2, 50, ""), (10, 50, ""), *small]
    rows += [(1000, n, "200 ms") for n in large]
    for models, n, target in rows:
        counts = simulate(rng, models, n, 0.1)

        def interval(counts=counts):
            post = ba.posterior(counts, ba.Epsilon(1e-5), dependence="beta-binomial")
            return tuple(post.interval(0.90))

        _, low, median = best(interval)
        print(f"{models:5d} models of {n:6d} + {n:6d} trials {low:8.1f} {median:9.1f}   {target}")
    counts = simulate(rng, 1000, 500, 0.1)
    _, low, median = best(lambda: ba.compare(counts), repeats=3)
    print(f"{'compare, 1000 models':34s} {low:8.1f} {median:9.1f}")
    data = json.loads(REFERENCE.read_text(encoding="utf-8"))["data"]
    worst = 0.0
    for case in data.values():
        fn, fp = np.array(case["fn"]), np.array(case["fp"])
        counts = ba.AttackCounts(fn=fn, tp=case["n_pos"] - fn, fp=fp, tn=case["n_neg"] - fp)
        for key, prior in (("icc_beta_1_9", "default"), ("icc_uniform", "uniform")):
            post = ba.posterior(
                counts, ba.Epsilon(1e-5), dependence="beta-binomial", icc_prior=prior
            )
            for q, right in case[key]["quantile"].items():
                worst = max(worst, abs(post.quantile(float(q)) - right))
            for level, right in case[key]["cdf"].items():
                worst = max(worst, abs(post.cdf(float(level)) - right))
    print(f"largest error against the reference quantiles and CDF: {worst:.1e} (target 1e-5)")

    bounds()
    if "--bets" in sys.argv:
        compare_bets()


# -- the betting bound -----------------------------------------------------------------------------

MEASURE, GOAL = ba.Epsilon(1e-5, "member"), math.log(20)
#: Models, trials a side, FNR, FPR, ICC; ICC 1 is all-or-nothing.
SETTINGS = [
    (100, 20, 0.35, 0.25, 0),
    (100, 20, 0.35, 0.25, 0.1),
    (40, 50, 0.2, 0.2, 0.05),
    (20, 50, 0.05, 0.05, 0.1),
    (200, 20, 0.05, 0.01, 0.02),
    (100, 1, 0.35, 0.25, 0),
    (1000, 1, 0.35, 0.25, 0),
    (12, 50, 0.3, 0.1, 0.1),
    (500, 50, 0.7, 0.005, 0.05),
    (60, 1, 0.2, 0.2, 0),
    (5000, 10, 0.3, 0.2, 0.1),
]


def bounds():
    rng = np.random.default_rng(2)
    print(f"{'betting bound':34s} {'best ms':>8s} {'median ms':>9s}   target")
    for models, n, target in (
        (1000, 20, 20),
        (1000, 500, 20),
        (100_000, 20, 1e3),
        (100_000, 500, 1e3),
    ):
        counts = simulate(rng, models, n, 0.1)
        _, low, median = best(lambda counts=counts: ba.betting_bound(counts, ba.Epsilon(1e-5)), 5)
        print(
            f"{models:6d} models of {n:4d} + {n:4d} trials {low:10.1f} {median:9.1f}  {target:g} ms"
        )


def mixture(stakes, weight=(0.4, 0.2, 0.4)):
    """A bound by other stakes, or other capital on the three lines."""

    def bound(counts):
        rows = rows_of(counts, np.random.default_rng(0)).gathered()
        lines = replace(lines_of(MEASURE), weight=np.array(weight))
        found = stakes(rows.tpr.size if rows.times is None else int(rows.times.sum()))
        return lower_end(Wealth(lines, rows, found), MEASURE, GOAL)

    return bound


def spread(models):
    """Stakes sin² of mid-points."""
    return np.sin((np.arange(64) + 0.5) / 64 * np.pi / 2) ** 2


def log_uniform(models):
    """Stakes evenly spread in the log, from the best one against the largest variance."""
    lowest = min(0.98, math.sqrt(2 * GOAL / models))
    return lowest ** (1 - (np.arange(32) + 0.5) / 32)


def adaptive(counts, largest=False):
    """aGRAPA: in a declared order, each stake by the mean and variance of the models before."""
    past = np.arange(1, counts.shape[0] + 1)
    tpr, tnr = counts.tp / counts.n_pos, counts.tn / counts.n_neg

    def before(values):
        return np.append(0, np.cumsum(values)[:-1])

    def log_wealth(level):
        a, b = lines_of(MEASURE).at(level)
        paths = []
        for line in (0, 2):
            gain = a[line] * tpr + b[line] * tnr - 1
            mean = before(gain) / past
            variance = (0.25 + before((gain - mean) ** 2)) / past
            stake = np.clip(mean / (variance + mean**2), 0, 0.98)
            paths.append(np.cumsum(np.log1p(stake * gain)))
        path = np.logaddexp(*paths) - math.log(2)
        return path.max() if largest else path[-1]

    low, high = 0.0, 10.0
    while high - low > 1e-5:
        middle = (low + high) / 2
        low, high = (middle, high) if log_wealth(middle) >= GOAL else (low, middle)
    return low


def compare_bets(audits=24):
    """Median lower ends, and which audits err, of ways of betting."""
    ways = {
        "spread": mixture(spread, (0.5, 1e-300, 0.5)),
        "log-uni": mixture(log_uniform),
        "ours": lambda counts: ba.betting_bound(counts, MEASURE).lower,
        "both": lambda counts: ba.betting_bound(counts, ba.Epsilon(1e-5)).lower,
        "aGRAPA": adaptive,
        "+largest": lambda counts: adaptive(counts, True),
        "anytime": lambda counts: ba.anytime_models(counts, MEASURE).lower,
        "planned": lambda counts: ba.anytime_models(counts, MEASURE, planned=counts.shape[0]).lower,
    }
    print(f"{'median lower end':34s}" + "".join(f"{name:>9s}" for name in ways))
    medians, wrong = [], np.zeros(len(ways))
    for models, n, fnr, fpr, icc in SETTINGS:
        rng = np.random.default_rng(7)
        data = [simulate(rng, models, n, icc, (fnr, fpr)) for _ in range(audits)]
        found = np.array([[way(counts) for counts in data] for way in ways.values()])
        wrong += (found > float(MEASURE.of(fnr, fpr))).sum(axis=1)
        medians.append(np.median(found, axis=1))
        print(f"{(models, n, fnr, fpr, icc)!s:34s}" + "".join(f"{m:9.3f}" for m in medians[-1]))
    ratio = np.array(medians) / np.array(medians)[:, :1]
    rows = {"mean ratio to spread": ratio.mean(0), "worst ratio": ratio.min(0)}
    rows["share of audits that err"] = wrong / audits / len(SETTINGS)
    for name, values in rows.items():
        print(f"{name:34s}" + "".join(f"{v:9.3f}" for v in values))


if __name__ == "__main__":
    main()
