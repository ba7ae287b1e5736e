"""Time and accuracy of the one-run bounds at a million canaries.

Run: python tests/benchmarks/bench_onerun.py
"""

import time

from bayesaudit import onerun

M = 1_000_000
#: right guesses, delta -> what an independent computation gives, where there is one
CASES = [
    (600_000, 1e-6, {}),
    (999_000, 1e-8, {"all-subset": 6.8545120758681515, "f-dp epsilon-delta": 6.851713256037328}),
    (
        1_000_000,
        1e-6,
        {
            "steinke": 10.430574731202796,
            "all-subset": 12.718314017162902,
            "f-dp gaussian": 25.079892875043658,
        },
    ),
    (501_500, 1e-9, {}),
]
LIMITS = {"steinke": 0.05, "all-subset": 0.2, "f-dp": 1.0, "xiang": 1.0}


def main() -> None:
    """Print one line a case: the best of three times, the bound, and its error."""
    forms = [("steinke", "gaussian"), ("all-subset", "gaussian")]
    forms += [
        (method, curve) for method in ("f-dp", "xiang") for curve in ("gaussian", "epsilon-delta")
    ]
    onerun.audit(n_canaries=10, n_guesses=10, n_correct=10, delta=0.0)  # imports
    for v, delta, known in CASES:
        for method, curve in forms:
            times = []
            for _ in range(3):
                start = time.perf_counter()
                lower = onerun.audit(
                    n_canaries=M, n_guesses=M, n_correct=v, delta=delta, method=method, curve=curve
                ).lower
                times.append(time.perf_counter() - start)
            name = method if method in ("steinke", "all-subset") else f"{method} {curve}"
            error = f"error {abs(lower - known[name]):.1e}" if name in known else ""
            slow = "  OVER THE LIMIT" if min(times) > LIMITS[method] else ""
            print(
                f"m = r = {M}, v = {v}, delta = {delta:g}: {name:20s} {1e3 * min(times):7.1f} ms"
                f"  epsilon >= {lower:.9f}  {error}{slow}"
            )


if __name__ == "__main__":
    main()
