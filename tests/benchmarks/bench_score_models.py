"""Time of the models of scores at 2 x 1000 scores.

Run ``python tests/benchmarks/bench_score_models.py``.

Wall and processor time: on a shared machine the second is what a run costs. What travels are the
ratios printed last.
"""

import time

import numpy as np

import bayesaudit as ba
from bayesaudit.models import score_containers

ROWS = 1000


def scores(seed):
    rng, member = np.random.default_rng(seed), np.repeat([0, 1], ROWS)
    model = np.tile(np.arange(10), ROWS // 5)
    score = rng.normal(size=2 * ROWS) + member + 0.5 * rng.normal(size=10)[model]
    return ba.AttackScores(score=score, member=member, model=model)


def timed(name, function, limit=""):
    wall, cpu = time.perf_counter(), time.process_time()
    value = function()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    print(f"{name:52} wall {wall:7.2f} s  cpu {cpu:7.2f} s  {limit}", flush=True)
    return cpu, value


def main():
    some = [scores(seed) for seed in range(4)]
    draw = timed("exact draws, no shift", lambda: ba.sampling.conjugate_scores(some[0], "location"))
    refits = {}
    for name, shifts in (("location", ()), ("binormal", ()), ("location", None), ("student", ())):
        builder = getattr(ba.models, name)
        label = name if shifts == () else f"{name}, shifts of models"
        model = builder(some[0], shifts=shifts)
        timed(
            f"{label}: cold, 4 x 1000 draws",
            lambda model=model: ba.sample(model, draws=1000, random_seed=1, groups=()),
            "limit 10 s",
        )
        compiled = ba.compile_model(model)
        times = [
            timed(
                f"{label}: refit, 4 x 1000 draws",
                lambda compiled=compiled, one=one: compiled.refit(
                    score_containers(compiled.model, one), random_seed=1
                ),
                "limit 1 s",
            )[0]
            for one in some[1:]
        ]
        refits[label] = float(np.median(times))
    for label, seconds in refits.items():
        print(f"refit of {label}: {seconds / refits['location']:.1f} x location")
    print(f"exact draws: {draw[0] / refits['location']:.2f} x a refit of location")


if __name__ == "__main__":
    main()
