"""The page of a run: what was asked, what was measured, and every step on the way to the answer."""

from __future__ import annotations

import shlex
from pathlib import Path

from swath.serve.pages.document import document
from swath.serve.pages.evidence import Evidence
from swath.serve.pages.facts import answer_parts, cost_facts, facts, interval_plot
from swath.serve.pages.layers import viewed
from swath.serve.pages.program import drafts, program_lines
from swath.serve.pages.steps import step_rows, timeline
from swath.serve.pages.table import objects_table
from swath.trace.reading import Run, load_run

STYLES = ("theme.css", "viewer.css", "run.css")
SCRIPTS = ("viewer.js", "table.js", "run.js")


def run_page(run: Path, *, live: bool = False) -> str:
    """One document that shows a run and needs nothing but itself.

    Args:
        run: the run's folder.
        live: whether it is served: it then links to the server's other pages.

    Raises:
        InputError: it is no run, or a broken one.
    """
    found = load_run(run)
    evidence = Evidence(found)
    seen = viewed(evidence)
    table = objects_table(*evidence.objects(), seen.scale, evidence)
    rows = step_rows(found, seen.layer_of)
    return document(
        "run",
        title=f"{found.answer.get('text') or found.status}",
        styles=STYLES,
        scripts=SCRIPTS,
        data={"viewer": seen.data, "objects": table},
        run=found,
        live=live,
        answer=answer_parts(found),
        plot=interval_plot(found.answer),
        seen=seen,
        counts=(sum(table["counted"]), len(table["counted"])),
        program=program_lines(found),
        steps=rows,
        timeline=timeline(found),
        drafts=drafts(found),
        facts=facts(found),
        costs=cost_facts(found),
        warnings=[*found.answer.get("warnings", ()), *found.record.get("remarks", ()), *evidence.remarks],
        replay=replay_command(found),
    )


def replay_command(run: Run) -> str:
    """The command that measures a run again."""
    return shlex.join(["swath", "trace", "replay", run.id, "--out", str(run.folder.absolute().parent)])
