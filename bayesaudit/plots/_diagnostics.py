"""ArviZ's pictures: of the draws behind a diagnosis, and of simulation-based calibration."""

from typing import TYPE_CHECKING, Any

from bayesaudit.calibration import SBC
from bayesaudit.diagnostics import Diagnosis
from bayesaudit.measures import Measure
from bayesaudit.posteriors.draws import add_measures

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure

__all__ = ["diagnostics", "sbc"]

#: Tallies that are drawn, of many.
TALLIES = 4


def diagnostics(diagnosis: Diagnosis) -> "dict[str, Figure]":
    """Return ArviZ's pictures of the draws, by name: trace, rank, ess, energy, predictive.

    Parameters
    ----------
    diagnosis : Diagnosis
        From `bayesaudit.diagnose`; of many tallies the first four are drawn.

    Returns
    -------
    dict of str to matplotlib.figure.Figure
        "energy" where the sampler records it, "predictive" where the data have a ``model`` axis.
        They are figures of their own, which pyplot does not keep.

    References
    ----------
    Vehtari et al., Bayesian Analysis 2021, arXiv:1903.08008 (rank plots, ESS of quantiles).
    """
    import arviz_plots as azp

    if not isinstance(diagnosis, Diagnosis):
        raise TypeError(f"diagnosis must be a Diagnosis, got {type(diagnosis).__name__}.")
    measure = diagnosis.measure
    dt = _plain_variable(add_measures(diagnosis.dt, measure), measure)
    names = ["fnr", "fpr", measure.name]
    common = {"backend": "matplotlib"}
    found = {
        "trace": azp.plot_trace_dist(dt, var_names=names, **common),
        "rank": azp.plot_rank(dt, var_names=names, **common),
        "ess": azp.plot_ess(dt, var_names=[measure.name], kind="quantile", **common),
    }
    if "sample_stats" in dt.children and "energy" in dt["sample_stats"].dataset:
        found["energy"] = azp.plot_energy(dt, **common)
    observed = dt["observed_data"].dataset if "observed_data" in dt.children else {}
    if (
        "posterior_predictive" in dt.children
        and "fn" in observed
        and "model" in observed["fn"].dims
    ):
        found["predictive"] = azp.plot_ppc_rootogram(dt, **common)
    return {name: _figure(picture) for name, picture in found.items()}


def sbc(result: SBC) -> "Figure":
    """Return ArviZ's picture of the ranks: the difference of their ECDF from uniformity.

    Parameters
    ----------
    result : SBC
        From `bayesaudit.calibration.sbc`.

    Returns
    -------
    matplotlib.figure.Figure
        A figure of its own, which pyplot does not keep.

    References
    ----------
    Säilynoja, Bürkner and Vehtari, Statistics and Computing 2022, arXiv:2103.10522 (bands of ECDF
    differences).
    """
    import xarray as xr
    from arviz_plots import plot_ecdf_pit

    if not isinstance(result, SBC):
        raise TypeError(f"result must be an SBC, got {type(result).__name__}.")
    ranks = xr.Dataset({name: ("sample", part) for name, part in result.values.items()})
    tree = xr.DataTree.from_dict({"prior_sbc": ranks})
    return _figure(plot_ecdf_pit(tree, sample_dims=["sample"], backend="matplotlib"))


def _plain_variable(dt: "xr.DataTree", measure: Measure) -> "xr.DataTree":
    """Drop the dim ``delta``, which would only lengthen titles, and all but a few tallies."""
    import xarray as xr

    def shorten(data: xr.Dataset) -> xr.Dataset:
        chosen: dict[str, Any] = {"tally": slice(0, TALLIES), "delta": 0}
        return data.isel({dim: at for dim, at in chosen.items() if dim in data.dims}, drop=True)

    return xr.DataTree.from_dict(
        {node.path: shorten(node.to_dataset(inherit=False)) for node in dt.subtree}
    )


def _figure(picture: Any) -> "Figure":
    figure = picture.viz["figure"].item()
    import matplotlib.pyplot as plt

    # Out of pyplot's hands: the caller owns it, and nothing shows it unasked.
    plt.close(figure)
    return figure
