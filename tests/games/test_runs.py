"""Sharded runs: equal for any sharding and backend, killed and resumed, never mixed up."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import joblib
import numpy as np
import pytest

from bayesaudit import DataError
from bayesaudit.games import (
    DPSGD,
    AverageCase,
    CalibratedLoss,
    GaussianClasses,
    LossComparison,
    PerModel,
    experiment_2,
)
from bayesaudit.games.runs import describe, run_shards

ROOT = Path(__file__).parents[2]
TRAINER = DPSGD(n_classes=2, noise_multiplier=1.0, sampling_rate=0.2, n_steps=20, n_hidden=3)


def play(adversary=None, **options):
    settings = {"n_train": 30, "n_samples": 44, "per_model": 2, "random_seed": 3}
    return experiment_2(
        TRAINER,
        adversary or LossComparison(AverageCase()),
        GaussianClasses(n_classes=2, n_features=4),
        **(settings | options),
    )


def equal(one, other):
    for name in ("score", "member", "model", "challenge"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


def test_shard_size_and_chunks_change_nothing(tmp_path):
    whole = play()
    for shard_size in (1, 5, 100):
        equal(play(shard_size=shard_size), whole)
        equal(play(shard_size=shard_size, directory=tmp_path / str(shard_size)), whole)


def test_references_are_the_same_in_every_shard():
    adversary = CalibratedLoss(AverageCase(), n_references=3)
    equal(play(adversary, shard_size=4), play(adversary))


def test_worker_processes_change_nothing(tmp_path):
    whole = play()
    equal(play(n_jobs=2, shard_size=6, directory=tmp_path / "run"), whole)
    with joblib.parallel_config(backend="threading", n_jobs=2):
        equal(play(shard_size=6), whole)


def test_dask_changes_nothing(tmp_path):
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster),
        joblib.parallel_config(backend="dask"),
    ):
        shared = play(shard_size=4, directory=tmp_path / "run")
    equal(shared, play())


def test_resume_completes_what_is_missing(tmp_path):
    whole = play(shard_size=4, directory=tmp_path / "run")
    shards = sorted((tmp_path / "run").glob("shard-*.npz"))
    assert len(shards) == 6
    kept = shards[2].stat().st_mtime_ns
    for shard in shards[3:] + shards[:2]:
        shard.unlink()
    calls = []
    again = play(
        shard_size=9,  # the run keeps the size it began with
        directory=tmp_path / "run",
        resume=True,
        progress=lambda done, total: calls.append((done, total)),
    )
    equal(again, whole)
    assert shards[2].stat().st_mtime_ns == kept
    assert sorted((tmp_path / "run").glob("shard-*.npz")) == shards
    assert calls[-1] == (22, 22)
    assert not list((tmp_path / "run").glob(".*"))


def test_a_run_is_not_mixed_with_another(tmp_path):
    play(directory=tmp_path / "run")
    with pytest.raises(ValueError, match="holds a run already"):
        play(directory=tmp_path / "run")
    with pytest.raises(ValueError, match="another run; random_seed differs"):
        play(directory=tmp_path / "run", resume=True, random_seed=4)
    with pytest.raises(ValueError, match="another run; n_trials differs"):
        play(directory=tmp_path / "run", resume=True, n_samples=46)
    manifest = tmp_path / "run" / "manifest.json"
    spec = json.loads(manifest.read_text())["spec"]
    assert spec["neighboring_relation"] == "REPLACE_ONE"
    assert spec["mechanism"]["type"] == "DPSGD"


def test_another_machine_is_named(tmp_path):
    whole = play(directory=tmp_path / "run")
    path = tmp_path / "run" / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["machine"]["blas"] = "another"
    path.write_text(json.dumps(manifest))
    with pytest.warns(UserWarning, match="another NumPy, BLAS or processor"):
        equal(play(directory=tmp_path / "run", resume=True), whole)


def test_damage_is_named(tmp_path):
    play(directory=tmp_path / "run")
    shard = next((tmp_path / "run").glob("shard-*.npz"))
    shard.write_bytes(shard.read_bytes()[:100])
    with pytest.raises(DataError, match="is damaged: delete it and resume"):
        play(directory=tmp_path / "run", resume=True)
    (tmp_path / "run" / "manifest.json").write_text("[]")
    with pytest.raises(DataError, match="is not a manifest"):
        play(directory=tmp_path / "run", resume=True)


def test_an_interrupted_shard_leaves_nothing(tmp_path):
    def task(start, stop):
        if start >= 4:
            raise RuntimeError("stopped")
        return {"trial": np.arange(start, stop)}

    with pytest.raises(RuntimeError, match="stopped"):
        run_shards(task, 8, spec={}, shard_size=2, directory=tmp_path / "run")
    names = sorted(path.name for path in (tmp_path / "run").iterdir())
    assert names == ["manifest.json", "shard-00000000-00000002.npz", "shard-00000002-00000004.npz"]


def test_descriptions():
    def train(x, y, rng):
        return None

    described = describe(PerModel(train))
    assert described["type"] == "PerModel"
    assert described["function"].endswith("train")
    assert "chunk_size" not in describe(TRAINER)
    assert describe({"a": np.float64(1.5), "b": (1, None)}) == {"a": 1.5, "b": [1, None]}
    json.dumps(describe(LossComparison(AverageCase(), train)))


def simulate(out, *extra):
    return [
        sys.executable,
        "-m",
        "bayesaudit",
        "simulate",
        *"--experiment 2 --mechanism dpsgd --noise-multiplier 2 --samples 640".split(),
        *"--per-model 5 --seed 1 --train-size 300 --steps 120 --shard-size 2 --out".split(),
        str(out),
        *extra,
    ]  # fmt: skip


def run(*arguments):
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    return subprocess.run(
        simulate(*arguments), cwd=ROOT, env=environment, capture_output=True, text=True
    )


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory):
    out = tmp_path_factory.mktemp("uninterrupted") / "scores.csv"
    assert run(out).returncode == 0
    return out.read_bytes()


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_killed_and_resumed_gives_identical_results(tmp_path, jobs, uninterrupted):
    out = tmp_path / "killed.csv"
    victim = subprocess.Popen(
        simulate(out, "--jobs", jobs),
        cwd=ROOT,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    directory = Path(f"{out}.run")
    moment = np.random.default_rng().integers(1, 20)  # a random one, of 64 shards
    deadline = time.monotonic() + 60
    while len(list(directory.glob("shard-*.npz"))) < moment and time.monotonic() < deadline:
        time.sleep(0.001)
    victim.send_signal(signal.SIGKILL)
    victim.wait()
    assert not out.exists(), "the run ended before it was killed"
    assert 0 < len(list(directory.glob("shard-*.npz"))) < 64
    resumed = run(out, "--resume", "--jobs", jobs)
    assert resumed.returncode == 0, resumed.stderr
    assert out.read_bytes() == uninterrupted
