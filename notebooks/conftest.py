"""Run the notebooks as tests: with less work, and against this checkout."""

import os
from pathlib import Path

ROOT = str(Path(__file__).parent.parent)

os.environ.setdefault("BAYESAUDIT_FAST", "1")
# Kernels are processes of their own: they find the package where pytest does.
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [ROOT, os.environ.get("PYTHONPATH")]))
