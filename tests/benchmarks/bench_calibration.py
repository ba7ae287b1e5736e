"""Time and accuracy of calibration: the exact unconditional bound, coverage, planning, scale-out.

Run ``python tests/benchmarks/bench_calibration.py``; add ``--scale 1000000`` for the documented run
of a million tallies on two workers (about four minutes). Times are of one core: wall clock, and the
process' own CPU time, which other work on the machine does not lengthen.
"""

import argparse
import json
import resource
import time
from pathlib import Path

import numpy as np
from joblib.externals.loky import get_reusable_executor

import bayesaudit as ba
from bayesaudit.calibration import coverage, exact_unconditional, map_tallies, plan

DELTA = 1e-5
RATES = ((0.35, 0.25), (0.05, 0.02), (0.5, 0.3), (0.1, 0.1), (0.02, 0.3))
REFERENCE = Path(__file__).parent.parent / "data" / "unconditional.json"


def timed(function):
    """Return the result, the wall and the CPU seconds of one call."""
    wall, cpu = time.perf_counter(), time.process_time()
    result = function()
    return result, time.perf_counter() - wall, time.process_time() - cpu


def tally(fnr, fpr, n):
    fn, fp = round(fnr * n), round(fpr * n)
    return ba.AttackCounts(fn=fn, tp=n - fn, fp=fp, tn=n - fp)


def unconditional():
    print("exact unconditional bound, direction member, worst of five pairs of rates")
    measure = ba.Epsilon(DELTA, "member")
    exact_unconditional(tally(0.3, 0.2, 50), measure)
    for n, limit in ((100, 0.05), (1000, 0.2), (10_000, None), (100_000, 5.0)):
        runs = [
            timed(lambda x=x, y=y, n=n: exact_unconditional(tally(x, y, n), measure))
            for x, y in RATES
        ]
        wall, cpu = (max(run[part] for run in runs) for part in (1, 2))
        aim = f"  (aim {limit} s)" if limit else ""
        print(f"  {n:>7} + {n:<7} wall {wall:7.3f} s  CPU {cpu:7.3f} s{aim}")
    forms = {"half": ("member", "fpr"), "half2": ("member", "fnr"), "member": ("member", "max")}
    worst = 0.0
    rows = json.loads(REFERENCE.read_text(encoding="utf-8"))["values"]
    for row in rows:
        counts = ba.AttackCounts(
            fn=row["fn"], tp=row["n1"] - row["fn"], fp=row["fp"], tn=row["n0"] - row["fp"]
        )
        form = ba.Epsilon(row["delta"], *forms.get(row["form"], ("both", "max")))
        found = exact_unconditional(counts, form, 1 - 2 * row["alpha"]).lower
        worst = max(worst, abs(found - row["certified"]))
    print(f"  largest difference from {len(rows)} reference rows: {worst:.1e}")


def enumeration():
    print("exact coverage of the joint Jeffreys lower bound at one setting")
    for x, y, n in ((0.35, 0.25, 1000), (0.5, 0.5, 1000), (0.01, 0.01, 1000)):
        found, wall, cpu = timed(lambda x=x, y=y, n=n: coverage(ba.Epsilon(DELTA), x, y, n, n))
        print(
            f"  {n} + {n}, rates {x}/{y}: {found.lower:.6f}  wall {wall:.3f} s  CPU {cpu:.3f} s"
            "  (aim 1 s)"
        )


def planning():
    print("robust n for claim 2.5 at rates .05/.05")
    for method in ("posterior", "two-direction", "clopper-pearson"):
        found, wall, cpu = timed(lambda method=method: plan(2.5, fnr=0.05, fpr=0.05, method=method))
        print(
            f"  {method:<16} first {found.n_first}, robust {found.n}, assurance "
            f"{found.assurance:.4f}  wall {wall:.2f} s  CPU {cpu:.2f} s"
        )


def ends(counts):
    """Return the ends of the 90 % posterior interval."""
    return ba.posterior(counts, ba.Epsilon(DELTA)).interval(0.90)


def scale(size, workers):
    print(f"{size} random tallies (n <= 1000), 90 % interval, {workers} workers")
    rng = np.random.default_rng(1)
    n_pos, n_neg = rng.integers(1, 1001, (2, size))
    fn, fp = rng.binomial(n_pos, rng.random(size)), rng.binomial(n_neg, rng.random(size))
    counts = ba.AttackCounts(fn=fn, tp=n_pos - fn, fp=fp, tn=n_neg - fp)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    found, wall, _ = timed(lambda: map_tallies(ends, counts, n_jobs=workers))
    get_reusable_executor().shutdown(wait=True)  # workers count as children once they have ended
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    head = counts[:1000]
    same = np.array_equal(map_tallies(ends, head, n_jobs=1), found[:, :1000])
    print(
        f"  wall {wall:.0f} s ({1e6 * wall / size:.0f} µs a tally); "
        f"parent grew by {grown:.0f} MB, a worker's peak was {children.ru_maxrss / 1024:.0f} MB; "
        f"workers' CPU {children.ru_utime + children.ru_stime:.0f} s; "
        f"first 1000 equal a serial run to the last bit: {same}"
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scale", type=int, default=20_000, help="tallies of the scale-out run")
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    unconditional()
    enumeration()
    planning()
    scale(options.scale, options.workers)
