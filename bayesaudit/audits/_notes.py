"""What a reader must know: warnings of the library as text, and what an audit's options mean."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from bayesaudit.audits._question import ANYTIME, Question

__all__ = ["collected", "looks_note", "no_model_note", "once"]

ANYTIME_NOTE = (
    "looks anytime: only the anytime bound holds when an audit is stopped at will; the credible "
    "interval is a statement about these data, not about repeated audits."
)
ANYTIME_MODELS_NOTE = (
    "looks anytime, with a model column: the betting bound holds when looked at after each model, "
    "all trials of which are there, and stopped at will; credible lines are statements about these "
    "data, and the bound of independent trials supposes that a model's trials are independent, too."
)


@contextmanager
def collected() -> Iterator[list[str]]:
    """Collect Python warnings as text, each once."""
    notes: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        yield notes
    notes += [str(warning.message) for warning in caught]


def once(notes: list[str]) -> tuple[str, ...]:
    """Return each note once, in order."""
    return tuple(dict.fromkeys(notes))


def looks_note(question: Question, *, per_model: bool = False) -> list[str]:
    """Return what declared looks do to the lines."""
    if question.looks is None:
        return []
    if question.looks == ANYTIME:
        return [ANYTIME_MODELS_NOTE if per_model else ANYTIME_NOTE]
    return [
        f"looks {question.looks}: confidence bounds are computed at {1 / question.looks:.3g} of "
        "their error. Those that are guaranteed then keep their level over all declared looks "
        "together; asymptotic, approximate and rectangle lines do so only as far as they keep it "
        "at one look; credible lines are statements about these data and are not adjusted."
    ]


def no_model_note(source: str) -> str:
    """Return what to say of rows that may share a trained model."""
    return (
        f"{source} has no model column: that its rows are independent is an assumption; "
        "rows that share a trained model are not, and the interval is then too narrow."
    )
