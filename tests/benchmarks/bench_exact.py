"""Time and accuracy of the exact engine: ``python tests/benchmarks/bench_exact.py``.

Absolute times are of one noisy machine; what travels is their ratio to the time of one
`scipy.special.betainc` call on 1,000 values in the same run, which is printed first.
"""

import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from scipy import special

import bayesaudit as ba

ROOT = Path(__file__).parents[2]


def best(function, repeats=30):
    function()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return float(np.median(times))


def unit():
    """Return seconds of 1,000 incomplete beta functions at n = 100."""
    x = np.linspace(0.2, 0.5, 1000)
    return best(lambda: special.betainc(35.5, 65.5, x), 100)


def row(name, seconds, limit, more=""):
    print(f"{name:52} {1e3 * seconds:10.2f} ms  {seconds / UNIT:9.1f} units  limit {limit}  {more}")


def whole_process(*args):
    def run():
        subprocess.run(
            [sys.executable, "-m", "bayesaudit", *args], cwd=ROOT, check=True, capture_output=True
        )

    return best(run, 5)


def main():
    epsilon = ba.Epsilon(1e-5)
    print(f"one unit (1,000 betainc): {1e3 * UNIT:.3f} ms")
    for cells, limit in (((35, 65, 25, 75), "1.5 ms"), ((0, 1000, 0, 1000), "3 ms")):
        counts = ba.AttackCounts(**dict(zip(("fn", "tp", "fp", "tn"), cells, strict=True)))
        seconds = best(lambda counts=counts: ba.posterior(counts, epsilon).interval(0.90), 200)
        row(
            f"90 % interval of FN {cells[0]} TP {cells[1]} FP {cells[2]} TN {cells[3]}",
            seconds,
            limit,
        )

    rng = np.random.default_rng(1)
    n_pos, n_neg = rng.integers(1, 1001, (2, 10_000))
    fn, fp = rng.binomial(n_pos, rng.random(10_000)), rng.binomial(n_neg, rng.random(10_000))
    many = ba.AttackCounts(fn=fn, tp=n_pos - fn, fp=fp, tn=n_neg - fp)
    start = time.perf_counter()
    lower, upper = (post := ba.posterior(many, epsilon)).interval(0.90)
    seconds = time.perf_counter() - start
    inside = lower > 0
    error = np.abs(post.cdf(upper) - 0.95).max(), np.abs(post.cdf(lower) - 0.05)[inside].max()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    row("10,000 random tallies, n <= 1000", seconds, "6 s", f"peak {peak:.0f} MB (limit 500)")
    print(f"{'':52} CDF at the ends off by {max(error):.0e}")

    for n in (10, 1_000, 100_000, 10_000_000):
        counts = ba.AttackCounts(fn=n // 10, tp=n - n // 10, fp=n // 5, tn=n - n // 5)
        post = ba.posterior(counts, ba.Epsilon(0.0, "member", "fpr"))
        seconds = best(lambda post=post: post.interval(0.90))
        # An independent value: the ratio's CDF by a plain trapezoidal rule over one rate.
        level = float(post.quantile(0.3))
        off = abs(post.cdf(level) - trapezoid(n, level))
        row(
            f"interval of one term, rates .1 and .2, n = {n:g}",
            seconds,
            "-",
            f"CDF off by {off:.0e}",
        )

    row("estimate --json, whole process", whole_process(
        "estimate", "--fn", "35", "--tp", "65", "--fp", "25", "--tn", "75", "--json"
    ), "600 ms")  # fmt: skip
    row("--help, whole process", whole_process("--help"), "100 ms")


def trapezoid(n, level):
    """Return P(log(TPR/FPR) <= level) on 200,001 angles within 9 standard deviations."""
    a, b = n // 10 + 0.5, n - n // 10 + 0.5
    ends = special.betaincinv(a, b, 1e-19), special.betainccinv(a, b, 1e-19)
    angle = np.linspace(*np.arcsin(np.sqrt(ends)), 200_001)
    x = np.sin(angle) ** 2
    log_pdf = special.xlogy(a - 0.5, x / 0.1) + special.xlogy(b - 0.5, (1 - x) / 0.9)
    pdf = np.exp(log_pdf - log_pdf.max())
    above = special.betaincc(n // 5 + 0.5, n - n // 5 + 0.5, (1 - x) * np.exp(-level))
    return np.trapezoid(pdf * above, angle) / np.trapezoid(pdf, angle)


UNIT = unit()
if __name__ == "__main__":
    main()
