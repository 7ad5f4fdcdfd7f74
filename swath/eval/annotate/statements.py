"""Sentences, questions and answers, each with the program that measures what it says."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any, Literal

from swath.agent.captions import plural

Kind = Literal["referring", "caption", "question", "quantity"]
Status = Literal["confirmed", "differs", "unread"]

CELLS = ("top-left", "top-centre", "top-right", "centre-left", "centre", "centre-right", "bottom-left", "bottom-centre",
         "bottom-right")  # fmt: skip


@dataclass(frozen=True)
class Statement:
    """Something said of a patch.

    Attributes:
        kind: what it is.
        text: a referring sentence, a sentence of a caption, or a question.
        type: which form of its kind.
        program: measures it; "" where a model wrote it.
        answer: what was measured, in at most three words; "" where there is none.
        objects: numbers of the objects that it is about.
        unit: unit of a quantity.
        low: least acceptable answer of a quantity.
        high: greatest acceptable answer of a quantity.
        status: whether it was measured again and found the same ("confirmed"), found otherwise ("differs"), or could
            not be read by any planner ("unread").
        note: what was found instead.
    """

    kind: Kind
    text: str
    type: str
    program: str = ""
    answer: str = ""
    objects: tuple[int, ...] = ()
    unit: str | None = None
    low: float | None = None
    high: float | None = None
    status: Status = "unread"
    note: str = ""

    def to_json(self) -> dict[str, Any]:
        """JSON-ready."""
        return {**asdict(self), "objects": list(self.objects)}

    @classmethod
    def of_json(cls, found: Mapping[str, Any]) -> Statement:
        """What `to_json` wrote."""
        return cls(**{**found, "objects": tuple(found["objects"])})


@lru_cache(maxsize=1)
def wordings() -> dict[str, Any]:
    """The wordings of the offline writer, by kind and form."""
    return tomllib.loads((files("swath.eval.annotate") / "wordings.toml").read_text(encoding="utf-8"))


def many(name: str, number: int) -> str:
    """A number of things in words: "1 ship", "3 ships"."""
    return f"{number} {name if number == 1 else plural(name)}"


def joined(parts: list[str]) -> str:
    """Words as a list: "a, b and c"."""
    return " and ".join(parts) if len(parts) < 3 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def shown(number: float) -> str:
    """A measured number with three digits."""
    return str(round(number)) if abs(number) >= 100 else f"{number:.3g}"
