"""Time of reading and bounding a million scores: ``python tests/benchmarks/bench_scores.py``.

Prints seconds, and beside them the bound, which two ways of reading must give alike.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import betainccinv

import bayesaudit as ba
from bayesaudit.thresholds import STRATEGIES, crossing_probability, local_level
from bayesaudit.thresholds._calibration import band_ranks

ROWS = 1_000_000
ROOT = Path(__file__).parents[2]


def timed(function):
    start = time.perf_counter()
    result = function()
    return result, time.perf_counter() - start


def main():
    rng = np.random.default_rng(0)
    member = np.arange(ROWS) % 2
    frame = pd.DataFrame({"member": member, "score": rng.normal(size=ROWS) + member})
    measure = ba.Epsilon(1e-5)
    with tempfile.TemporaryDirectory() as folder:
        csv, parquet = Path(folder) / "scores.csv", Path(folder) / "scores.parquet"
        frame.to_csv(csv, index=False)
        frame.to_parquet(parquet)
        scores, seconds = timed(lambda: ba.read_attack(csv))
        print(f"read {ROWS} rows of CSV            {seconds:6.2f} s")
        same, seconds = timed(lambda: ba.read_attack(parquet))
        print(f"read {ROWS} rows of Parquet        {seconds:6.2f} s")
        assert np.array_equal(same.score, scores.score)
        curve, seconds = timed(scores.roc)
        print(f"operating points                    {seconds:6.2f} s   AUC {curve.auc:.6f}")
        for name in STRATEGIES:
            options = {"threshold": 0.5} if name == "fixed" else {}
            local_level.cache_clear()
            found, seconds = timed(
                lambda name=name, options=options: ba.threshold_bound(
                    scores, measure, strategy=name, **options
                )
            )
            print(f"{name:<12} {found.method:<16}       {seconds:6.2f} s   {found.lower:.6f}")
        for name in ("0.5", "band", "split"):
            command = [sys.executable, "-m", "bayesaudit", "estimate", str(csv)]
            command += ["--threshold", name, "--json"]
            _, seconds = timed(
                lambda command=command: subprocess.run(
                    command, cwd=ROOT, check=True, capture_output=True
                )
            )
            print(f"estimate --threshold {name:<6} (process) {seconds:6.2f} s   <= 5 s")
    for n in (100, 1000, 10_000, 100_000, 500_000):
        local_level.cache_clear()
        level, seconds = timed(lambda n=n: local_level(n, 0.025))
        ranks = band_ranks(n)
        crossing = crossing_probability(n, ranks, betainccinv(ranks + 1.0, n - ranks, level))
        row = f"local level of {n:>7} rows         {seconds:6.2f} s   {level:.4e}"
        print(f"{row}, errs {crossing:.6f}")


if __name__ == "__main__":
    main()
