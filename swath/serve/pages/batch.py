"""Pages of benchmark runs: verdicts and mistakes of one, and two held against each other."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from urllib.parse import quote

from swath.eval.report.accuracy import VERDICTS, Accuracy
from swath.eval.report.charts import bar, verdict_bar, verdict_words
from swath.eval.report.comparison import compare
from swath.eval.report.figures import RunFigures, figures_of, title_of
from swath.eval.report.gallery import Pictures, run_folder, some_of_each_type
from swath.eval.report.result import Result
from swath.eval.report.table import answer_text, cell_text, value_text
from swath.eval.runner.results import read_results
from swath.serve.pages.document import document

SHOWN = 60
"""Mistakes on a page; of two runs held against each other, in each of the three groups a third."""

LONGEST_TEXT = 600
STYLES = ("theme.css", "batch.css")
SCRIPTS = ("batch.js",)
GROUPS = ("type", "tier")

Link = Callable[[Path], str | None]
"""From a run folder to the address of its page."""


@dataclass(frozen=True)
class Said:
    """What one run said to a question.

    Attributes:
        name: the run.
        verdict: how that was judged.
        why: the rule's words.
        answer: in words.
        reading: what was measured.
        link: address of the run's page or folder, None where it was not kept.
    """

    name: str
    verdict: str
    why: str
    answer: str
    reading: str
    link: str | None


@dataclass(frozen=True)
class Card:
    """A question that somebody got wrong.

    Attributes:
        case: its id.
        type: of question.
        question: as asked.
        truth: in words.
        picture: data URI, None where there is none.
        said: what was answered, by each run.
    """

    case: str
    type: str
    question: str
    truth: str
    picture: str | None = field(repr=False)
    said: tuple[Said, ...]


def batch_page(folder: Path, *, link: Link | None = None) -> str:
    """One document on a benchmark run: verdicts by type and tier, and mistakes to look at.

    Args:
        folder: of the run, as `swath bench run --out` makes it.
        link: address of the page of a run folder where the document is served; where it is None, the folder itself,
            from `folder`, and no link to the server's other pages.

    Raises:
        InputError: the folder holds no benchmark run, or a broken one.
    """
    (run,) = figures_of([read_results(folder)])
    pictures, to = Pictures(), link or _beside(folder)
    chosen = islice(some_of_each_type(run.mistakes), SHOWN)
    cards = [_card(pictures, [(run, result)], to) for result in chosen]
    return _page(
        "batch",
        f"{title_of(run)}: {run.name}",
        [run],
        sections=[("Mistakes", f"{len(cards)} of {len(run.mistakes):,} cases not right, some of every type.", cards)],
        remarks=_remarks([run]),
        live=link is not None,
    )


def batches_page(a: Path, b: Path, *, link: Link | None = None) -> str:
    """One document on two benchmark runs: what only one of them got right, and what none did.

    Args:
        a: folder of the one.
        b: folder of the other.
        link: as for `batch_page`; the folder itself, from `a`, where it is None.

    Raises:
        InputError: a folder holds no benchmark run, or a broken one.
    """
    first, second = figures_of([read_results(folder) for folder in (a, b)])
    found = compare(first.name, first.plain, second.name, second.plain)
    pictures, to = Pictures(), link or _beside(a)
    sections = []
    for words, pairs in (
        (f"Right only in {first.name}", found.broken),
        (f"Right only in {second.name}", found.fixed),
        ("Right in none", found.neither),
    ):
        chosen = list(islice(_pairs_of_each_type(pairs), SHOWN // 3))
        cards = [_card(pictures, [(first, before), (second, after)], to) for before, after in chosen]
        sections.append((words, f"{len(cards)} of {len(pairs):,} questions.", cards))
    remarks = _remarks([first, second])
    if found.only_first or found.only_second or found.changed:
        remarks.append(
            f"Not compared: {found.only_first:,} questions that only the first was asked, {found.only_second:,} that "
            f"only the second was, {len(found.changed):,} with another wording or truth."
        )
    return _page(
        "batch",
        f"{first.name} and {second.name}",
        [first, second],
        sections=sections,
        remarks=remarks,
        live=link is not None,
    )


def _page(
    template: str,
    title: str,
    runs: Sequence[RunFigures],
    *,
    sections: Sequence[tuple[str, str, Sequence[Card]]],
    remarks: Sequence[str],
    live: bool,
) -> str:
    types = sorted({card.type for _, _, cards in sections for card in cards})
    return document(
        template,
        title=title,
        styles=STYLES,
        scripts=SCRIPTS,
        runs=runs,
        groups={name: _grouped(runs, name) for name in GROUPS if any(run.groups.get(name) for run in runs)},
        sections=sections,
        remarks=remarks,
        verdicts=VERDICTS,
        types=types,
        live=live,
        verdict_bar=verdict_bar,
        verdict_words=verdict_words,
        bar=bar,
        cell=cell_text,
    )


def _grouped(runs: Sequence[RunFigures], name: str) -> Mapping[str, list[Accuracy | None]]:
    """Accuracy of each run by group, None where a run was not asked."""
    found = [run.groups.get(name, {}) for run in runs]
    return {
        group: [own.get(group) for own in found] for group in dict.fromkeys(group for own in found for group in own)
    }


def _card(pictures: Pictures, answers: Sequence[tuple[RunFigures, Result]], link: Link) -> Card:
    first = answers[0][1]
    found = (pictures.of(run.run.folder, result) for run, result in reversed(answers))
    return Card(
        case=first.case,
        type=first.type,
        question=first.question,
        truth=value_text(first.truth, first.unit, LONGEST_TEXT),
        picture=next((picture for picture in found if picture), None),
        said=tuple(_said(run, result, link) for run, result in answers),
    )


def _said(run: RunFigures, result: Result, link: Link) -> Said:
    folder = run_folder(run.run.folder, result)
    return Said(
        name=run.name,
        verdict=result.verdict,
        why=result.scores[0].why,
        answer=answer_text(result, LONGEST_TEXT),
        reading=result.reading or "",
        link=None if folder is None else link(folder),
    )


def _beside(home: Path) -> Link:
    return lambda folder: quote(Path(os.path.relpath(folder, home.resolve())).as_posix()) + "/"


def _pairs_of_each_type(pairs: Iterable[tuple[Result, Result]]) -> Iterable[tuple[Result, Result]]:
    of = {before.case: (before, after) for before, after in pairs}
    return (of[result.case] for result in some_of_each_type([before for before, _ in of.values()]))


def _remarks(runs: Sequence[RunFigures]) -> list[str]:
    return [
        f"{run.name}: not at its end, answers missing: {sum(run.missing.values()):,}. Next: go on with --resume."
        for run in runs
        if run.missing
    ]
