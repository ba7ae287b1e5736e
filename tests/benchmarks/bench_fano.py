"""Time and accuracy of the Fano inversion: ``python tests/benchmarks/bench_fano.py``."""

import sys
import time
from pathlib import Path

import mpmath as mp
import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))

from bayesaudit import fano


def timed(call, repeats=5):
    """Return the best time of a few calls, in seconds, and the last result."""
    best, result = np.inf, None
    for _ in range(repeats):
        start = time.perf_counter()
        result = call()
        best = min(best, time.perf_counter() - start)
    return best, result


def digits(value, mu, categories):
    """Return the relative error of an advantage, from 60-digit Newton steps on Fano's equation."""
    with mp.workdps(60):
        q, y = mp.mpf(1) / int(categories), mp.mpf(value)
        for _ in range(6):
            s = q + (1 - q) * y
            excess = s * mp.log(s / q) + (1 - s) * mp.log((1 - s) / (1 - q)) - mp.mpf(mu)
            y -= excess / ((1 - q) * (mp.log(s / q) - mp.log((1 - s) / (1 - q))))
        return float(mp.mpf(value) / y - 1)


def main():
    """Print one line per target."""
    rng = np.random.default_rng(1)
    m = np.floor(10.0 ** rng.uniform(0.31, 12, 10**6))
    mu = np.log(m) * 10.0 ** -rng.uniform(0, 12, 10**6)
    seconds, values = timed(lambda: fano.advantage(mu, categories=m), 2)
    some = [i for i in rng.integers(0, m.size, 400) if values[i] < 1]
    errors = [digits(values[i], mu[i], m[i]) for i in some]
    print(f"1e6 uniform solves          {seconds:.3f} s   (target 3 s)")
    print(f"  relative error            {min(errors):.1e} .. {max(errors):.1e}   (>= -1e-15)")
    for one in (1e-9, 0.1, 5.0, 20.0):
        many = timed(lambda one=one: [fano.advantage(one, categories=10**10) for _ in range(1000)])
        print(f"scalar, mu = {one:<8g}       {many[0] * 1e3:.1f} us  (target 100 us)")
    seconds, _ = timed(lambda: fano.fano_bound(0.1, categories=10**10), 50)
    print(f"scalar with its result      {seconds * 1e6:.1f} us")
    for name, weights in (
        ("gamma-like", rng.exponential(size=10**6) ** 3),
        ("power law", 1.0 / np.arange(1.0, 10**6 + 1)),
    ):
        prior = weights / weights.sum()
        for one in (1e-6, 0.1, 3.0):
            seconds, value = timed(lambda p=prior, one=one: fano.advantage(one, prior=p), 3)
            print(
                f"1e6 letters, {name}, mu = {one:<6g} {seconds:.3f} s (target 0.5 s) "
                f"advantage {value:.6g}"
            )
    fano.calibrate_noise(0.1, sampling_rate=0.5, steps=1, categories=2, bound="best")  # imports
    for target, rate, steps, size in ((0.1, 0.01, 1000, 10), (0.1, 0.1, 200, 100), (0.2, 1, 10, 2)):
        schedule = {"sampling_rate": rate, "steps": steps, "categories": size}
        seconds, found = timed(
            lambda t=target, s=schedule: fano.calibrate_noise(t, bound="best", **s), 2
        )
        whole, _ = timed(
            lambda z=found.value, q=rate, n=steps, m=size: fano.dp_sgd_bounds(
                z, q, n, categories=m
            ),
            1,
        )
        print(
            f"calibrate_noise, best bound, q = {rate:<5g} T = {steps:<5} {seconds:.3f} s "
            f"(target 1 s); {seconds / whole:.2f} of one table of all bounds"
        )


if __name__ == "__main__":
    main()
