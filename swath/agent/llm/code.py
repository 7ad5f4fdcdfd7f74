"""Free code: the model writes the program itself, in a fenced block."""

from __future__ import annotations

import re
from collections.abc import Callable

from swath.agent.llm import wording
from swath.agent.llm.examples import similar
from swath.agent.llm.exchange import Shape
from swath.agent.llm.given import LONGEST_QUESTION
from swath.agent.llm.offered import always, families, further
from swath.agent.llm.ways import Task
from swath.agent.planner import Program
from swath.errors import Refused
from swath.prompts import Prompt, render

LONGEST_REASON = 300
MOST_EARLIER = 3
"""Questions of a thread that are shown again."""
LONGEST_HINT = 300
LONGEST_DRAFT = 4_000
"""Letters of a rejected draft that are shown again; a usual program has 300."""
_BLOCK = re.compile(r"```[a-zA-Z]*[ \t]*\r?\n(.*?)(?:\r?\n)?```", re.DOTALL)
Spelling = Callable[[str], str | None]
_CANNOT = re.compile(r"\s*cannot:\s*(.+)", re.IGNORECASE)


class Code:
    """The way `code`."""

    name = "code"
    longest_reply = 1_000

    def __init__(self, *, small: bool = False, spelt: Spelling | None = None) -> None:
        """Choose the length of the prompt.

        Args:
            small: tools by their bare signatures, and two worked examples instead of three, for small models.
            spelt: how the program of a worked example is shown, where not as it is; None for what cannot be.
        """
        self._small = small
        self._spelt = spelt

    def system(self) -> Prompt:
        """The rules, and the tools that every question may need."""
        name = "code_system_small.md" if self._small else "code_system.md"
        return render(name, families=families(always(), short=self._small))

    def question(self, task: Task) -> Prompt:
        """Examples like it, the scene, the question, and what was wrong with the last draft."""
        feedback = None
        if task.feedback is not None:
            hints = [wording.quoted(hint, LONGEST_HINT) for hint in task.feedback.hints]
            feedback = {"source": task.feedback.source[:LONGEST_DRAFT], "hints": hints}
        return render(
            "code_question.md",
            examples=self._examples(task.given.question),
            earlier=self._earlier(task),
            fence="python" if self._spelt is None else "json",
            scene=wording.of_scene(task.scene, task.given.gsd_m),
            given=wording.of_given(task.given),
            families=families((*further(task.given.beside), *task.further.values()), short=self._small),
            question=wording.quoted(task.given.question, 2 * len(task.given.question) + 3),
            feedback=feedback,
        )

    def _examples(self, question: str) -> list[dict[str, str]]:
        found = similar(question, 2 if self._small else 3)
        shown = [(item.question, item.program if self._spelt is None else self._spelt(item.program)) for item in found]
        return [{"question": asked, "program": program} for asked, program in shown if program is not None]

    def _earlier(self, task: Task) -> list[dict[str, str]]:
        """The last questions of the thread with their programs."""
        shown = [
            (turn.question, turn.source if self._spelt is None else self._spelt(turn.source))
            for turn in task.scene.earlier[-MOST_EARLIER:]
            if len(turn.source) <= LONGEST_DRAFT
        ]
        return [
            {"question": wording.quoted(asked, LONGEST_QUESTION), "program": program.strip().replace("```", "` ` `")}
            for asked, program in shown
            if program is not None
        ]

    def shape(self, task: Task) -> Shape:
        """Free text."""
        return None

    def program(self, text: str, task: Task) -> Program:
        """The last fenced block, or all of the reply where there is none.

        Raises:
            Refused: the model says that the question cannot be measured.
        """
        blocks = _BLOCK.findall(text)
        said = _CANNOT.match(blocks[-1] if blocks else text)
        if said:
            raise declined(said.group(1))
        source = (blocks[-1] if blocks else text).strip("\n")
        return Program(source, _reading(source) or task.given.question, task.given.notes, task.given.gsd_m)


def _reading(source: str) -> str:
    """What the model says that its program measures: the comment that it begins with."""
    first = source.lstrip().partition("\n")[0]
    return wording.quoted(first.lstrip("# "), LONGEST_REASON) if first.startswith("#") else ""


def declined(reason: str) -> Refused:
    """The refusal of a model, in its own words."""
    said = wording.quoted(reason, LONGEST_REASON).rstrip(". ")
    return Refused(f"The language model finds that this cannot be measured here: {said}.")
