"""The tables of a report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice

from swath.eval.report.accuracy import VERDICTS, Accuracy, Share
from swath.eval.report.attribution import CAUSES, MEANING
from swath.eval.report.beside import Beside
from swath.eval.report.comparison import Comparison
from swath.eval.report.figures import RunFigures
from swath.eval.report.result import Result
from swath.eval.report.table import (
    NOTHING,
    Cell,
    Section,
    Table,
    answer_text,
    percent,
    points,
    shortened,
    value_text,
    whole,
)
from swath.eval.statistics import PairedTest
from swath.trace.wording import seconds_words

LISTED = 50
"""Cases that a list shows at most; it says how many there are."""
WARNINGS_LISTED = 20

CELL_WORDS = {
    "plain": "as it is",
    "segmenter": "true classes",
    "planner": "reference program",
    "both": "true classes and reference program",
}
WILSON = "In brackets: 95 % interval (Wilson)."


def attribution_table(run: RunFigures) -> Table:
    """Where errors come from, the first table of a report."""
    found = run.attribution
    title, head = f"Where errors come from: {run.name}", ("cause", "cases", "of all", "what it means")
    if not found.complete:
        asked = ", ".join(CELL_WORDS[cell] for cell in run.cells)
        note = f"No case was asked in all four ways, only: {asked}. Next: run with --oracle both."
        return Table(title, head, (), note, frozenset({3}))
    rows: list[tuple[Cell, ...]] = [
        (cause, whole(found.causes[cause]), Share(found.causes[cause], found.complete), MEANING[cause])
        for cause in CAUSES
    ]
    right = found.complete - sum(found.causes.values())
    rows.append(("none", whole(right), Share(right, found.complete), "right as it is"))
    notes = [f"{found.complete:,} cases were asked all four ways. {WILSON}"]
    if found.incomplete:
        notes.append(f"{found.incomplete:,} cases lack one of the ways, and are not in this table.")
    if found.right_yet_measured_wrong:
        notes.append(f"{found.right_yet_measured_wrong:,} of those right as they are are wrong with both oracles.")
    if found.contradictory:
        notes.append(f"One oracle alone repaired {found.contradictory:,} of those under measurement.")
    return Table(title, head, tuple(rows), " ".join(notes), frozenset({3}))


def attribution_by_type(run: RunFigures) -> Table:
    """The same by type of question."""
    rows = [
        (name, *(whole(found[cause]) if found[cause] else NOTHING for cause in CAUSES), whole(found.total()))
        for name, found in run.attribution.by_type.items()
    ]
    return Table(f"Errors by type: {run.name}", ("type", *CAUSES, "errors"), tuple(rows))


def overview(runs: Sequence[RunFigures]) -> Table:
    """One row for each run and each of its cells."""
    rows = [
        (run.name, CELL_WORDS[cell], *_accuracy_cells(found), f"[{number}]")
        for number, run in enumerate(runs, start=1)
        for cell, found in run.accuracy.items()
    ]
    head = ("run", "asked with", *_ACCURACY_HEAD, "command")
    note = (
        "Accuracy: right of all cases; refused, failed and unparsable ones count as not right. "
        f"When answered: right of those that got an answer, whose share is the coverage. {WILSON}"
    )
    return Table("Accuracy", head, tuple(rows), note, frozenset({1}))


def oracles_table(run: RunFigures) -> Table:
    """What each oracle repairs and breaks."""
    rows = [(CELL_WORDS[cell], *_test_cells(found.test)) for cell, found in run.oracles.items()]
    note = "Repaired: right only with the oracle; broken: right only without it."
    return Table(f"Oracles against the run as it is: {run.name}", ("with", *_TEST_HEAD), tuple(rows), note)


def comparison_tables(found: Comparison) -> tuple[Table, ...]:
    """Two runs, question by question."""
    title = f"{found.second} against {found.first}"
    rows = [("all", *_test_cells(found.test)), *((name, *_test_cells(t)) for name, t in found.by_type.items())]
    notes = ["Repaired: right only in the second run; broken: right only in the first."]
    if found.only_first or found.only_second:
        notes.append(
            f"Not compared: {found.only_first:,} cases only in the first, {found.only_second:,} in the second."
        )
    if found.changed:
        notes.append(f"Not compared, since question or truth differ: {len(found.changed):,} cases.")
    return (
        Table(title, ("type", *_TEST_HEAD), tuple(rows), " ".join(notes)),
        _pairs_table(f"Repaired in {found.second}", found.fixed),
        _pairs_table(f"Broken in {found.second}", found.broken),
    )


def published_table(name: str, found: Beside) -> Table:
    """Published rows beside those of the run of a name."""
    rows = [
        (system, *(f"{values[key]:.1f}" if key in values else NOTHING for key in found.measures), source)
        for system, values, source in found.rows
    ]
    head = ("system", *found.measures, "published")
    return Table(f"Beside what was published: {name}", head, tuple(rows), found.note, frozenset({len(head) - 1}))


def group_table(run: RunFigures, by: str, groups: Mapping[str, Accuracy]) -> Table:
    """Accuracy by one property of the cases."""
    rows = [(name, *_accuracy_cells(found)) for name, found in groups.items()]
    notes = {
        "type": "A row is made again by its run's command with --only TYPE and another --out.",
        "rule": "The rule that gave the headline verdict.",
        "borderline truth": "Borderline: a pixel more or less, and the truth is another. All: the first table.",
    }
    return Table(f"By {by}: {run.name}", (by, *_ACCURACY_HEAD), tuple(rows), notes.get(by, ""))


def metrics_table(run: RunFigures) -> Table:
    """Every metric, with whose rule it is."""
    rows = [
        (
            found.metric,
            found.origin + (f"; headline of {found.headline:,}" if found.headline else ""),
            whole(found.accuracy.n),
            found.accuracy.headline,
            NOTHING if found.mean is None else f"{found.mean:.4f}",
            whole(found.with_value),
        )
        for found in run.measures
    ]
    head = ("metric", "whose rule", "cases", "right", "mean value", "with a value")
    note = f"Mean value: over all its cases, 0 where there is none. {WILSON}"
    return Table(f"Metrics: {run.name}", head, tuple(rows), note, frozenset({1}))


def totals_table(run: RunFigures) -> Table:
    """Measures of the whole set."""
    rows: list[tuple[Cell, ...]] = []
    for found in run.measures:
        rows += [(found.metric, name, f"{value:.4f}", found.origin) for name, value in found.total.items()]
        if found.no_total is not None:
            rows.append((found.metric, "not measured", NOTHING, found.no_total))
    head = ("metric", "measure", "value", "whose rule")
    return Table(f"Measures of the whole set: {run.name}", head, tuple(rows), texts=frozenset({1, 3}))


def reliability_table(run: RunFigures) -> Table:
    """Intervals against truths."""
    found = run.reliability
    classes = [*found.classes, found.all] if found.classes else []
    rows = [(one.words, whole(one.holds.n), one.holds, one.right) for one in classes]
    note = (
        f"Width of the stated interval as a share of the answer. {found.without:,} answers to numeric questions state "
        "none. An interval covers the doubts that it names, not a probability."
    )
    head = ("width", "answers", "holds the truth", "answer right")
    return Table(f"Stated intervals: {run.name}", head, tuple(rows), note, plot=found if classes else None)


def spending_table(run: RunFigures) -> Table:
    """Time, tokens and cost."""
    rows = []
    for spent in run.spending:
        times = [seconds_words(value) or NOTHING for value in (spent.median_s, spent.p90_s, spent.longest_s)]
        mean = seconds_words(spent.seconds / spent.questions) if spent.questions else NOTHING
        tokens = [
            NOTHING if total is None else f"{total / spent.asked_model:,.0f}"
            for total in (spent.tokens_in, spent.tokens_out)
        ]
        cost = NOTHING if spent.dollars is None else f"{spent.dollars:.4f}"
        rows.append((CELL_WORDS[spent.cell], whole(spent.questions), mean, *times, seconds_words(spent.seconds),
                     whole(spent.asked_model), *tokens, cost))  # fmt: skip
    untimed = sum(spent.untimed for spent in run.spending)
    unpriced = sum(spent.unpriced for spent in run.spending)
    notes = ["Seconds of a question; tokens of a question that a language model was asked about."]
    notes += [f"The time of {untimed:,} questions was not kept."] if untimed else []
    notes += [f"The price of {unpriced:,} questions is not known."] if unpriced else []
    head = ("asked with", "timed", "mean", "median", "9 of 10 within", "longest", "together", "by a model", "tokens in",
            "tokens out", "dollars")  # fmt: skip
    return Table(f"Time and tokens: {run.name}", head, tuple(rows), " ".join(notes))


def warnings_table(run: RunFigures) -> Table:
    """The most frequent warnings."""
    rows = [
        (shortened(found.example, 300), whole(found.accuracy.n), found.accuracy.headline)
        for found in run.warned[:WARNINGS_LISTED]
    ]
    more = len(run.warned) - len(rows)
    note = "One example each; numbers differ." + (f" {more:,} more are not shown." if more else "")
    return Table(f"Warnings: {run.name}", ("warning", "answers", "right"), tuple(rows), note)


def mistakes_table(run: RunFigures) -> Table:
    """The first of the cases that are not right."""
    rows = [
        (result.case, result.type, *_question_cells(result), answer_text(result), result.verdict,
         shortened(result.scores[0].why, 160))
        for result in islice(run.mistakes, LISTED)
    ]  # fmt: skip
    head = ("case", "type", "question", "truth", "answer", "verdict", "why")
    note = f"{len(rows):,} of {len(run.mistakes):,} cases that are not right."
    return Table(f"Mistakes: {run.name}", head, tuple(rows), note, frozenset(range(len(head))))


def run_section(run: RunFigures) -> Section:
    """The figures of one run in detail."""
    groups = [group_table(run, by, found) for by, found in run.groups.items()]
    tables = [
        *groups, metrics_table(run), totals_table(run), reliability_table(run), spending_table(run),
        warnings_table(run),
    ]  # fmt: skip
    return Section(f"In detail: {run.name}", (), tuple(table for table in tables if table.rows))


_ACCURACY_HEAD = ("accuracy", "cases", "when answered", "coverage", *VERDICTS[1:])
_TEST_HEAD = ("cases", "both right", "repaired", "broken", "neither", "difference", "95 % interval", "p (McNemar)")


def _accuracy_cells(found: Accuracy) -> tuple[Cell, ...]:
    verdicts = [whole(found.verdicts[verdict]) for verdict in VERDICTS[1:]]
    return (found.headline, whole(found.n), found.when_answered, percent(found.coverage.value), *verdicts)


def _test_cells(test: PairedTest) -> tuple[Cell, ...]:
    counts = (test.both, test.only_b, test.only_a, test.neither)
    interval = f"{points(test.low)} to {points(test.high)}"
    p_value = "<0.0001" if test.p_value < 0.0001 else f"{test.p_value:.4f}"
    return (whole(sum(counts)), *map(whole, counts), points(test.difference), interval, p_value)


def _question_cells(result: Result) -> tuple[str, str]:
    return shortened(result.question, 300), value_text(result.truth, result.unit)


def _pairs_table(title: str, pairs: Sequence[tuple[Result, Result]]) -> Table:
    rows = [
        (before.case, before.type, *_question_cells(before), answer_text(before), answer_text(after))
        for before, after in pairs[:LISTED]
    ]
    head = ("case", "type", "question", "truth", "first answer", "second answer")
    note = f"{len(rows):,} of {len(pairs):,} cases."
    return Table(title, head, tuple(rows), note, frozenset(range(len(head))))
