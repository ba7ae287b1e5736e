"""The audit as one object: its lines, its warnings, what to quote, and its renderings."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from bayesaudit._plain import envelope
from bayesaudit.audits import _json, _text
from bayesaudit.audits._counts import one_trial_each, same_ends
from bayesaudit.audits._line import BETA_BINOMIAL, CROSSED, EXACT_POSTERIOR, MEMBER, Line
from bayesaudit.audits._question import Question
from bayesaudit.counts import AttackCounts

if TYPE_CHECKING:  # what many audits do without is loaded where it is needed
    from bayesaudit.audits._dependence import Dependence
    from bayesaudit.audits._draws import Sampled

__all__ = ["Audit"]

#: Whose lower end is quoted, in order of preference.
QUOTED = ("anytime", "exact-unconditional", "all-subset", "clopper-pearson")
#: The same where trials share trained models.
BY_MODEL = ("betting", "anytime betting")
#: Built-in models whose exact posterior stands among the lines already.
BUILT_IN = ("independent", "beta_binomial")


@dataclass(frozen=True, slots=True, eq=False)
class Audit:
    """One audit: what was guessed, what was asked, and every line that answers it.

    Made by `bayesaudit.audit` and `bayesaudit.audit_one_run`; tables, JSON, reports and exit codes
    are renderings of this object and compute nothing.

    Parameters
    ----------
    kind : {"counts", "scores", "one-run", "draws"}
        What the lines rest on: counts (with a declared or split threshold), scores whose threshold
        was chosen on all rows, the guesses of one run, or draws alone.
    lines : tuple of Line
        The answers, delta by delta, in the order of a table.
    question : Question
        What was asked.
    counts : AttackCounts or None
        The counts, echoed: one tally, many (shape (n,)), or one a trained model.
    source : str
        Where they came from: "arguments", or a file and its kind.
    path : str or None
        The file that was read, if one was.
    inputs : mapping
        Every input, as the JSON echoes it.
    warnings : tuple of str
        What a reader must know.
    dependence : Dependence or None
        What counts per model say of dependence within a model.
    threshold : mapping or None
        How the threshold of scores was chosen.
    bounds : mapping
        For a threshold chosen on all rows: its value and counts at each delta.
    roc : mapping or None
        AUC, and TPR at low FPRs, of scores.
    no_posterior : str or None
        Why there is no posterior, where there is none.
    draws : Sampled or None
        Draws and the verdicts on them, after `sample`.
    trials : mapping or None
        The columns guess, member, model and challenge, where the rows had them all.
    curve_of : callable or None
        From values of delta to the curve of `curve`; ``None`` where there is none.
    """

    kind: Literal["counts", "scores", "one-run", "draws"]
    lines: tuple[Line, ...]
    question: Question
    counts: AttackCounts | None
    source: str
    inputs: Mapping[str, Any]
    path: str | None = None
    warnings: tuple[str, ...] = ()
    dependence: "Dependence | None" = None
    threshold: Mapping[str, Any] | None = None
    bounds: Mapping[float, Any] = field(default_factory=dict)
    roc: Mapping[str, Any] | None = None
    no_posterior: str | None = None
    draws: "Sampled | None" = None
    trials: Mapping[str, Any] | None = field(default=None, repr=False)
    curve_of: Any = field(default=None, repr=False)

    # -- what was asked --------------------------------------------------------------------------

    @property
    def delta(self) -> tuple[float, ...]:
        """The values of delta."""
        return self.question.delta

    @property
    def prob(self) -> float:
        """The level of two-sided intervals."""
        return self.question.prob

    @property
    def claim(self) -> float | None:
        """The claimed epsilon."""
        return self.question.claim

    @property
    def is_per_model(self) -> bool:
        """Whether the counts have one tally a trained model."""
        return self.dependence is not None

    @property
    def n_tallies(self) -> int | None:
        """Number of tallies, where there are many; ``None`` for one audit."""
        if self.counts is None or self.is_per_model or not self.counts.shape:
            return None
        return self.counts.shape[0]

    @property
    def own_model(self) -> str | None:
        """Name of a sampled model that is none of the built-in ones with an exact posterior."""
        named = self.draws is not None and self.draws.dt.attrs.get("method") == "nuts"
        if not named or self.draws.model in BUILT_IN:
            return None
        return self.draws.model

    # -- answers ---------------------------------------------------------------------------------

    def __getitem__(self, tally: int) -> "Audit":
        """Return the audit of one tally of many."""
        if self.n_tallies is None:
            raise TypeError("audit holds one tally, which has no index.")
        counts = self.counts[tally]
        lines = [line.at(tally) for line in self.lines]
        folded = {line.delta: line for line in lines if line.method == EXACT_POSTERIOR}
        kept = [
            line
            for line in lines
            if line.method != MEMBER or not same_ends(line, folded[line.delta])
        ]
        one = replace(
            self,
            lines=tuple(kept),
            counts=counts,
            inputs={**self.inputs, "counts": counts.to_dict()},
        )
        if self.draws is None:
            return one
        draws, more = self.draws.tallies[tally]
        return replace(one, draws=draws, lines=(*one.lines, *more))

    def line(self, method: str, delta: float | None = None) -> Line | None:
        """Return the line of a method.

        Parameters
        ----------
        method : str
            Its name, "exact posterior" or "exact-unconditional" say.
        delta : float, optional
            One of the audit's; the first by default.

        Returns
        -------
        Line or None
            ``None`` if the audit has no such line.
        """
        delta = self.delta[0] if delta is None else delta
        found = (line for line in self.lines if line.method == method and line.delta == delta)
        return next(found, None)

    def quoted(self, delta: float | None = None) -> Line | None:
        """Return the line whose lower end is guaranteed for these data, at one delta.

        Parameters
        ----------
        delta : float, optional
            One of the audit's; the first by default.

        Returns
        -------
        Line or None
            ``None`` if no line is: scores with an optimistic threshold, say.
        """
        names = QUOTED
        if self.is_per_model and not one_trial_each(self.counts):
            names = BY_MODEL
        for name in names:
            line = self.line(name, delta)
            if line is not None and line.is_guaranteed:
                return line
        return None

    @property
    def recommended(self) -> Line | None:
        """The guaranteed line to quote, at the first delta."""
        return self.quoted()

    def claim_verdict(self, delta: float | None = None) -> str:
        """Return whether the claim is refuted, in one sentence: by a line that is a bound.

        Parameters
        ----------
        delta : float, optional
            One of the audit's; the first by default.
        """
        if self.claim is None:
            raise ValueError("claim must be given for a verdict on it, got None.")
        line = self.quoted(delta) or self._chosen_bound(delta)
        text = f"The claim of epsilon {self.claim:g}"
        if line is None:
            return f"{text} is not tested: no line here is a bound for these data."
        if line.lower > self.claim:
            return f"{text} is refuted at this confidence, by {line.method}."
        return f"{text} is not refuted by {line.method}, which does not make it true."

    def _chosen_bound(self, delta: float | None) -> Line | None:
        """Return the one bound of a threshold chosen on all rows, guaranteed or asymptotic."""
        delta = self.delta[0] if delta is None else delta
        lines = self.lines if self.kind == "scores" else ()
        return next((line for line in lines if line.delta == delta and line.is_bound), None)

    @property
    def conclusion(self) -> str:
        """The answer in one sentence, at the first delta."""
        return self.conclusion_at(self.delta[0])

    def conclusion_at(self, delta: float) -> str:
        """Return the answer in one sentence, at one delta."""
        if self.n_tallies is not None:
            return f"{self.n_tallies} tallies at delta {delta:g}: each has a conclusion of its own."
        if self.kind == "draws":
            return _interval_sentence("Given these draws, ", self.lines[0], self.prob) + "."
        confidence = f"{(1 + self.prob) / 2:.4g}"
        bound = self.quoted(delta)
        leak = "no leak is shown"
        if bound is not None and bound.lower > 0:
            leak = f"the training leaks at least epsilon {bound.lower:.5f}"
        if self.kind == "one-run":
            return (
                f"With confidence {confidence} {leak} at delta {delta:g}, if fair coins put the "
                "canaries in and the guesses were declared beforehand."
            )
        if self.no_posterior is not None:
            line = next(line for line in self.lines if line.delta == delta)
            if not line.is_bound:
                return (
                    f"{line.lower:.5f} is the best over all thresholds on the same rows: not a "
                    "bound, and not to be quoted as one."
                )
            if line.lower > 0:
                leak = f"the training leaks at least epsilon {line.lower:.5f}"
            return (
                f"With confidence {confidence} {leak} at delta {delta:g}, if rows are independent."
            )
        if self.is_per_model and self.dependence.recommended != EXACT_POSTERIOR:
            line = self.line(self.dependence.recommended, delta) or self.line(BETA_BINOMIAL, delta)
            return self._dependent_conclusion(line, delta, bound)
        shown = self.line(MEMBER, delta) or self.line(EXACT_POSTERIOR, delta)
        text = _interval_sentence("Given these counts, ", shown, self.prob)
        return f"{text}; with confidence {confidence} {leak} at delta {delta:g}."

    def _dependent_conclusion(self, line: Line, delta: float, bound: Line | None) -> str:
        if line.guarantee == "prior-driven":
            return (
                "One trained model does not identify the correlation of its trials: the interval "
                f"[{line.lower:.5f}, {line.upper:.5f}] at delta {delta:g} is prior-driven."
            )
        start = "Allowing for dependence within a trained model"
        if line.method == CROSSED:
            start += " and of one challenge across models"
        text = _interval_sentence(f"{start}, ", line, self.prob)
        if bound is None:
            return f"{text} at delta {delta:g}."
        leak = (
            f"at least epsilon {bound.lower:.5f} leaks" if bound.lower > 0 else "no leak is shown"
        )
        return (
            f"{text}; with confidence {(1 + self.prob) / 2:.4g}, whatever that dependence, {leak} "
            f"at delta {delta:g}."
        )

    # -- draws and curves ------------------------------------------------------------------------

    def sample(
        self,
        model: str | None = None,
        *,
        method: Literal["conjugate", "nuts"] | None = None,
        **settings: Any,
    ) -> "Audit":
        """Return the audit with draws beside its lines, cross-checked and diagnosed.

        Parameters
        ----------
        model : str, optional
            A PyMC model: "beta_binomial", "probit_normal", "independent", "crossed" (for rows with
            the columns model and challenge), or "package.module:function", which may name guess,
            member, model and challenge among its arguments, too; "beta_binomial" by default for
            counts per model.
        method : {"conjugate", "nuts"}, optional
            "conjugate" draws the Beta posteriors of independent trials directly, which is the
            default without a model.
        **settings
            As for `bayesaudit.sample`: draws, tune, chains, target_accept, random_seed, sampler,
            progress, ….

        Returns
        -------
        Audit
            With `draws` and a line "draws" a delta.

        Raises
        ------
        ValueError
            If there are no counts to sample from, or a model is asked of the conjugate method.
        """
        from bayesaudit.audits._draws import (
            Sampled,
            comparison_with,
            draw,
            exact_twin,
            judge,
            one_tally,
        )

        if self.counts is None or self.kind != "counts":
            raise ValueError(f"sample needs counts, got an audit of {self.kind}.")
        if model is not None and method == "conjugate":
            raise ValueError("model takes method nuts, got conjugate.")
        if model is None and self.is_per_model and method is None:
            model = "beta_binomial"
        name = model if model is None or ":" in model else model.replace("-", "_")
        if name is not None and self.n_tallies is not None and self.n_tallies > 1:
            raise ValueError(
                "model takes one audit: one tally, or counts with a model column, "
                f"got {self.n_tallies} tallies."
            )
        method = "nuts" if name is not None else method or "conjugate"
        settings = {key: value for key, value in settings.items() if value is not None}
        for setting in ("tune", "target_accept", "sampler"):
            if method == "conjugate" and setting in settings:
                raise ValueError(f"{setting} needs method nuts, got conjugate.")
        settings["trials"] = self.trials
        dt = draw(self.counts, self.is_per_model, self.question, name, method=method, **settings)
        if self.n_tallies is not None:
            options = {"prior": self.question.prior}
            ones = [self.counts[number] for number in range(self.n_tallies)]
            tallies = tuple(
                judge(one_tally(dt, number, one), self.question, (one, options))
                for number, one in enumerate(ones)
            )
            draws = Sampled(dt, {}, {}, tallies)
            return replace(self, draws=draws, inputs={**self.inputs, **draws.inputs()})
        judged = self.judged(dt, exact_twin(self.counts, self.is_per_model, self.question, name))
        if judged.own_model is None or self.dependence is None:
            return judged
        if self.dependence.comparison is None:
            return judged
        found, notes = comparison_with(self.counts, dt, name, self.question)
        dependence = self.dependence
        if found is not None:
            dependence = replace(dependence, comparison=found)
        return replace(judged, dependence=dependence, warnings=(*judged.warnings, *notes))

    def judged(self, dt: Any, twin: Any) -> "Audit":
        """Return the audit with the lines and verdicts of draws that are there already."""
        from bayesaudit.audits._draws import judge

        draws, lines = judge(dt, self.question, twin)
        inputs = dict(self.inputs)
        if self.kind != "draws":
            inputs |= draws.inputs()
        return replace(self, draws=draws, lines=(*self.lines, *lines), inputs=inputs)

    def curve(self, delta: Any = None) -> Any:
        """Return epsilon at many values of delta, with what holds at all of them at once.

        Parameters
        ----------
        delta : array_like of float, optional
            Rising values in [0, 1]; by default a grid that shows where the curve falls, and the
            audit's own.

        Returns
        -------
        EpsilonCurve or BandCurve
            With `columns()`.

        Raises
        ------
        ValueError
            If the audit has no curve: several tallies, one run, or another strategy than band.
        """
        if self.n_tallies is not None:
            raise ValueError(f"curve takes a single tally, got {self.n_tallies}.")
        if self.curve_of is None:
            raise ValueError("curve goes with counts, a declared threshold, split or band.")
        return self.curve_of(delta)

    # -- renderings ------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object of the command line (schema version 1), of plain types."""
        if self.n_tallies is None:
            return envelope(
                inputs=dict(self.inputs), results=_json.results(self), warnings=self.warnings
            )
        ones = [self[number] for number in range(self.n_tallies)]
        inputs = {**self.inputs, "counts": [one.inputs["counts"] for one in ones]}
        results = {"tallies": [_json.results(one) for one in ones]}
        return envelope(inputs=inputs, results=results, warnings=self.warnings)

    def to_frame(self) -> Any:
        """Return the lines as a `pandas.DataFrame`, one row a line (and tally)."""
        import pandas as pd

        if self.n_tallies is None:
            return pd.DataFrame([line.to_dict() for line in self.lines])
        rows = [
            {"tally": number, **line.to_dict()}
            for number in range(self.n_tallies)
            for line in self[number].lines
        ]
        return pd.DataFrame(rows)

    def table(self, delta: float | None = None) -> tuple[Sequence[str], list[Sequence[str]]]:
        """Return header and rows of the table that a person reads.

        Parameters
        ----------
        delta : float, optional
            One of the audit's; the first by default. Many tallies have one table.
        """
        return _text.table(self, self.delta[0] if delta is None else delta)

    def text(self, *, everything: bool = False) -> str:
        """Return the audit as a person reads it; `str` is the short form.

        Parameters
        ----------
        everything : bool
            Whether the classical asymptotic intervals of independent trials are shown, too.
        """
        return _text.as_text(self, everything)

    def __str__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        return _text.as_html(self)


def _interval_sentence(start: str, line: Line, prob: float) -> str:
    least = "at least " if "lower_method" in line.summary else ""
    least = "about " if line.method == CROSSED else least
    return (
        f"{start}epsilon-hat lies in [{line.lower:.5f}, {line.upper:.5f}] "
        f"with posterior probability {least}{prob:g}"
    )
