"""Time and accuracy of the exact beta-binomial posterior; run this file."""

import json
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))
import bayesaudit as ba

REFERENCE = Path(__file__).parents[1] / "data" / "beta_binomial.json"


def simulate(rng, models, n, icc):
    sides = []
    for rate in (0.35, 0.25):
        kappa = (1 - icc) / icc
        sides.append(rng.binomial(n, rng.beta(rate * kappa, (1 - rate) * kappa, models)))
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


if __name__ == "__main__":
    main()
