"""Settings of a sampling run, checked, and the random streams that follow from its seed."""

import sys
from typing import Any

import numpy as np

from bayesaudit._checks import check_choice, check_number
from bayesaudit.sampling._trees import provenance

__all__ = ["PRIOR_DRAWS", "Settings"]

#: Draws of the prior, in one chain.
PRIOR_DRAWS = 2000


class Settings:
    """Checked settings of a run, and the random streams that follow from its seed."""

    def __init__(
        self,
        draws: int,
        tune: int,
        chains: int,
        target_accept: float,
        random_seed: int | None,
        sampler: str,
        cores: int | None,
        progress: bool | None,
    ) -> None:
        self.draws = _whole(draws, "draws", 4)
        self.tune = _whole(tune, "tune", 0)
        self.chains = _whole(chains, "chains", 1)
        self.target_accept = check_number(target_accept, "target_accept")
        if not 0 < self.target_accept < 1:
            raise ValueError(f"target_accept must be in (0, 1), got {self.target_accept!r}.")
        check_choice(sampler, "sampler", ("nutpie", "pymc"))
        if random_seed is None:
            random_seed = int(np.random.SeedSequence().generate_state(1)[0])
        self.random_seed = _whole(random_seed, "random_seed", 0)
        self.cores = None if cores is None else _whole(cores, "cores", 1)
        self.progress = sys.stderr.isatty() if progress is None else bool(progress)

    def stream(self, number: int) -> np.random.SeedSequence:
        """Return an independent random stream of this run."""
        return np.random.SeedSequence(self.random_seed, spawn_key=(number,))

    def integer(self, number: int) -> int:
        """Return a 32-bit seed of an independent stream, for samplers that want an integer."""
        return int(self.stream(number).generate_state(1)[0])

    def attrs(self, **more: Any) -> dict[str, Any]:
        """Return what the tree's root says of this run."""
        return provenance(
            random_seed=str(self.random_seed), draws=self.draws, chains=self.chains, **more
        )


def _whole(value: Any, name: str, minimum: int) -> int:
    number = check_number(value, name)
    if number != int(number) or number < minimum:
        raise ValueError(f"{name} must be a whole number >= {minimum}, got {value!r}.")
    return int(value)
