"""Running NUTS, by nutpie or by PyMC, with standard output kept clean."""

import sys
from typing import TYPE_CHECKING, Any

from bayesaudit.sampling._settings import Settings

if TYPE_CHECKING:
    import pymc as pm
    import xarray as xr

__all__ = ["run_nutpie", "run_pymc"]


def run_nutpie(compiled: Any, settings: Settings) -> dict[str, "xr.Dataset"]:
    import os

    import nutpie

    show = _Progress(settings.chains) if settings.progress else None
    tree = nutpie.sample(
        compiled,
        draws=settings.draws,
        tune=settings.tune,
        chains=settings.chains,
        cores=settings.cores or min(settings.chains, os.cpu_count() or 1),
        seed=settings.integer(0),
        target_accept=settings.target_accept,
        save_warmup=False,
        progress_bar=False,
        progress_callback=show,
    )
    if show is not None:
        show.close()
    return {name: tree[name].to_dataset() for name in ("posterior", "sample_stats")}


class _Progress:
    """Progress of nutpie on standard error: its own bar writes to standard output."""

    def __init__(self, chains: int) -> None:
        self.chains = chains
        self.shown = False

    def __call__(self, chains: Any) -> None:
        done = sum(chain.finished_draws for chain in chains)
        total = sum(chain.total_draws for chain in chains)
        diverged = sum(chain.divergences for chain in chains)
        self.shown = True
        sys.stderr.write(f"\rsampling: {done}/{total} draws, {diverged} divergences")
        sys.stderr.flush()

    def close(self) -> None:
        if self.shown:
            sys.stderr.write("\n")


def run_pymc(model: "pm.Model", settings: Settings) -> dict[str, "xr.Dataset"]:
    import pymc as pm

    from bayesaudit.sampling._model_groups import quiet_pymc

    with quiet_pymc(not settings.progress):
        tree = pm.sample(
            model=model,
            nuts_sampler="pymc",
            draws=settings.draws,
            tune=settings.tune,
            chains=settings.chains,
            cores=settings.cores or 1,
            random_seed=settings.integer(0),
            target_accept=settings.target_accept,
            progressbar=settings.progress,
            quiet=not settings.progress,
            compute_convergence_checks=False,
        )
    return {name: tree[name].to_dataset() for name in ("posterior", "sample_stats")}
