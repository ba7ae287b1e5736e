"""In a notebook that is really run, a figure is seen exactly once."""

import nbclient
import nbformat
import pytest

SETUP = """
import bayesaudit as ba
post = ba.posterior(ba.AttackCounts(fn=35, tp=65, fp=25, tn=75), ba.Epsilon(1e-5))
"""
CELLS = {
    "alone": "ba.plots.region(post)",
    "kept": "ax = ba.plots.cdf(post)",
    "changed": "ba.plots.density(post).set_title('mine')",
    "two panels": "ba.plots.distribution(post)",
    "axes given": """
import matplotlib.pyplot as plt
_, ax = plt.subplots()
ba.plots.region(post, ax=ax)""",
    "a figure of one's own": """
from matplotlib.figure import Figure
figure = Figure()
ba.plots.cdf(post, ax=figure.subplots())
figure""",
}


@pytest.mark.filterwarnings("ignore")
def test_a_cell_shows_one_picture(monkeypatch):
    monkeypatch.delenv("MPLBACKEND", raising=False)
    cells = [nbformat.v4.new_code_cell(source) for source in (SETUP, *CELLS.values())]
    notebook = nbformat.v4.new_notebook(cells=cells)
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    for name, cell in zip(CELLS, notebook.cells[1:], strict=True):
        pictures = [out for out in cell.outputs if "image/png" in out.get("data", {})]
        assert len(pictures) == 1, name
