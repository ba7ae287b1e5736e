"""CPU time and memory of reading attacks: ``python tests/benchmarks/bench_reading.py [ROWS]``.

Every line is a process of its own, so that what it imports counts. ``pandas`` is
`pandas.read_csv` of the same file, which checks nothing, beside it as a ratio.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

ROOT = Path(__file__).parents[2]
CODE = """
import re, sys, time
def peak():  # of this process alone, which getrusage does not say after a fork
    return int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]) / 1024
if sys.argv[1] == "pandas":
    import pandas
    read = pandas.read_csv
else:
    from bayesaudit.reading import read_attack as read
    import bayesaudit.scores
base, ready = peak(), time.process_time()
read(sys.argv[2])
done = time.process_time()
print(done, done - ready, peak() - base)
"""


def measured(kind, path, repeats=3):
    """Return seconds with imports, seconds of reading, and MB more; the best of some processes."""
    runs = []
    for _ in range(repeats):
        command = [sys.executable, "-c", CODE, kind, str(path)]
        done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
        runs.append([float(part) for part in done.stdout.split()])
    return np.min(runs, axis=0)


def main():
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    rng = np.random.default_rng(0)
    member = np.arange(rows) % 2
    frame = pd.DataFrame({"member": member, "score": rng.normal(size=rows) + member})
    modelled = frame.assign(model=[f"m{i:03d}" for i in rng.integers(0, 500, rows)])
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        small = folder / "small.csv"
        frame.head(1000).to_csv(small, index=False)
        frame.to_csv(folder / "scores.csv", index=False)
        modelled.to_csv(folder / "models.csv", index=False)
        frame.to_csv(folder / "scores.csv.gz", index=False)
        frame.to_parquet(folder / "scores.parquet")
        np.savez(folder / "scores.npz", member=member, score=frame["score"].to_numpy())
        (folder / "scores.json").write_text(json.dumps(frame.to_dict("list")))
        reference = {}
        print(f"{rows} rows{'':<14} with imports    reading   memory (MB)   ratio of with imports")
        for path in (small, *sorted(folder.glob("[ms]*s.*"))):
            if path.suffix == ".csv" or path.suffix == ".gz":
                reference[path] = measured("pandas", path)
                total, seconds, memory = reference[path]
                print(f"{path.name + ' pandas':<24}{total:10.3f} s {seconds:8.3f} s {memory:10.1f}")
            total, seconds, memory = measured("reader", path)
            ratio = f"{total / reference[path][0]:12.2f}" if path in reference else ""
            print(f"{path.name:<24}{total:10.3f} s {seconds:8.3f} s {memory:10.1f}{ratio}")


if __name__ == "__main__":
    main()
