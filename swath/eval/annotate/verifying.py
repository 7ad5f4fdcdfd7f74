"""People's verdicts on a data set: accepted, edited or removed, item by item, kept line by line, compared, exported."""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean, median
from typing import Any, Literal, get_args

from swath.errors import InputError
from swath.eval.annotate.card import write_card
from swath.eval.annotate.layouts import SPLITS, Annotated
from swath.eval.annotate.make import DIFFERS, PATCHES, SETTINGS, UNREAD, WORK, write_files
from swath.eval.annotate.statements import Statement

FOLDER, EXPORTED = "verification", "verified"
SECOND_SHARE = 0.1
"""Share of the items that the same person sees again in a second pass."""

LONGEST_TEXT = 2_000
MOST_SECONDS = 3_600.0
Action = Literal["accept", "edit", "remove"]
ACTIONS = get_args(Action)
_NAME = re.compile(r"[\w .@-]{1,60}")


@dataclass(frozen=True)
class Item:
    """Something to be verified.

    Attributes:
        id: name of the patch and number of the statement in it.
        statement: what is said.
        flag: why the check before people dropped it; "" where it did not.
    """

    id: str
    statement: Statement
    flag: str


@dataclass(frozen=True)
class Decision:
    """What a person decided about an item; a later one in the same pass wins.

    Attributes:
        item: id of the item.
        action: what is to become of it.
        text: its words, edited or not.
        answer: its answer, edited or not.
        seconds: how long the person looked at it.
        turn: 1, or 2 for the second pass.
        at: when, ISO 8601 in UTC.
    """

    item: str
    action: Action
    text: str
    answer: str
    seconds: float
    turn: int = 1
    at: str = ""


@dataclass(frozen=True)
class DataSet:
    """A data set that `swath bench annotate` made.

    Attributes:
        folder: where it lies.
    """

    folder: Path

    @property
    def names(self) -> list[str]:
        """Names of its patches, in order."""
        return [str(found["name"]) for found in json.loads((self.folder / PATCHES).read_text(encoding="utf-8"))]

    def patch(self, name: str) -> Annotated:
        """One patch with all that is said of it.

        Raises:
            InputError: there is none of this name, or its file is broken.
        """
        file = self.folder / WORK / f"{name}.json"
        if name not in self.names or not file.is_file():
            raise InputError(f"There is no patch {name[:80]!r} in {self.folder}. Next: choose another.")
        try:
            return Annotated.of_json(json.loads(file.read_text(encoding="utf-8")))
        except (ValueError, KeyError, TypeError):
            raise InputError(f"{file} is broken. Next: make the data set again with --resume.") from None

    def patches(self) -> Iterator[Annotated]:
        """Every patch, in order."""
        return map(self.patch, self.names)

    def decisions(self, person: str) -> list[Decision]:
        """What a person decided so far, oldest first; a line that was cut off by a crash is left out."""
        file = self._log(person)
        lines = file.read_text(encoding="utf-8").split("\n") if file.exists() else []
        found = []
        for line in lines:
            try:
                found.append(Decision(**json.loads(line)))
            except (ValueError, TypeError):
                continue
        return found

    def people(self) -> list[str]:
        """Who has decided anything."""
        return sorted(path.stem for path in (self.folder / FOLDER).glob("*.jsonl"))

    def decide(self, person: str, decisions: Sequence[Mapping[str, Any]]) -> None:
        """Keep decisions: on the disk when this returns.

        Raises:
            InputError: one of them is none.
        """
        known = {item.id for found in self.patches_of(decisions) for item in items(found)}
        lines = [json.dumps(asdict(_decision(found, known)), ensure_ascii=False) + "\n" for found in decisions]
        file = self._log(person)
        file.parent.mkdir(exist_ok=True)
        with file.open("a", encoding="utf-8") as log:
            log.write("".join(lines))
            log.flush()
            os.fsync(log.fileno())

    def patches_of(self, decisions: Sequence[Mapping[str, Any]]) -> list[Annotated]:
        """The patches that some decisions are about."""
        return [
            self.patch(name) for name in dict.fromkeys(str(own.get("item")).rpartition(":")[0] for own in decisions)
        ]

    def _log(self, person: str) -> Path:
        if not _NAME.fullmatch(person) or person.startswith("."):
            raise InputError("A name has at most 60 letters, digits, blanks, dots or hyphens. Next: give another name.")
        return self.folder / FOLDER / f"{person}.jsonl"


def open_data_set(folder: Path) -> DataSet:
    """A data set.

    Raises:
        InputError: the folder holds none.
    """
    if not (folder / PATCHES).is_file() or not (folder / SETTINGS).is_file():
        raise InputError(f"{folder} holds no data set of swath bench annotate. Next: choose another folder.")
    return DataSet(folder)


def items(found: Annotated) -> list[Item]:
    """What people see of a patch: all that was kept, then what the check before them dropped, flagged."""
    flagged = [(why, own) for why, own in found.dropped if why in (DIFFERS, UNREAD)]
    said = [("", own) for own in found.statements] + flagged
    return [Item(f"{found.patch.name}:{number}", own, why) for number, (why, own) in enumerate(said)]


def seen_twice(item: str) -> bool:
    """Whether an item belongs to the sample of the second pass."""
    return int.from_bytes(hashlib.sha256(item.encode()).digest()[:8]) / 2**64 < SECOND_SHARE


def latest(decisions: Sequence[Decision], turn: int = 1) -> dict[str, Decision]:
    """The last decision about each item in one pass."""
    return {own.item: own for own in decisions if own.turn == turn}


def _decision(found: Mapping[str, Any], known: set[str]) -> Decision:
    item, turn = found.get("item"), found.get("turn", 1)
    action: Any = found.get("action")
    text, answer, seconds = found.get("text", ""), found.get("answer", ""), found.get("seconds", 0.0)
    if item not in known or action not in ACTIONS or turn not in (1, 2):
        raise InputError("A decision names no item or no action. Next: load the page anew.")
    if not all(isinstance(said, str) and len(said) <= LONGEST_TEXT for said in (text, answer)):
        raise InputError(f"A text is longer than {LONGEST_TEXT} letters. Next: shorten it.")
    if action == "edit" and not text.strip():
        raise InputError("An edited text is empty. Next: remove the item, or write something.")
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 <= seconds < math.inf:
        raise InputError("A decision took no number of seconds. Next: load the page anew.")
    now = datetime.now(UTC).isoformat(timespec="seconds")
    return Decision(str(item), action, text, answer, round(min(float(seconds), MOST_SECONDS), 2), turn, now)


def kappa(pairs: Sequence[tuple[str, str]]) -> float | None:
    """Cohen's kappa of two people's categories; None where chance alone would make them agree always.

    Source: J. Cohen, A coefficient of agreement for nominal scales, 1960.
    """
    if not pairs:
        return None
    total = len(pairs)
    agreed = sum(a == b for a, b in pairs) / total
    first, second = Counter(a for a, _ in pairs), Counter(b for _, b in pairs)
    chance = sum(first[name] * second[name] for name in first) / total**2
    return None if chance == 1 else (agreed - chance) / (1 - chance)


def agreement(one: Mapping[str, Decision], other: Mapping[str, Decision]) -> dict[str, Any]:
    """How far two people, or one person in two passes, agree.

    Args:
        one: latest decisions.
        other: those of the other.

    Returns:
        JSON-ready: items that both saw, the same action, Cohen's kappa of actions, the same words where both edited;
        for answers that are numbers the mean absolute deviation from the median of both (MAD) and the same as a share
        of the median (MADc), as SQuID's card has them.
    """
    both = sorted(one.keys() & other.keys())
    actions = [(one[item].action, other[item].action) for item in both]
    edited = [item for item in both if one[item].action == other[item].action == "edit"]
    numbers = [pair for item in both if (pair := _numbers(one[item], other[item])) is not None]
    deviations = [(abs(a - b) / 2, median((a, b))) for a, b in numbers]
    return {
        "items": len(both),
        "same action": sum(a == b for a, b in actions),
        "kappa": kappa(actions),
        "both edited": len(edited),
        "same words": sum(one[item].text.strip() == other[item].text.strip() for item in edited),
        "numbers": len(numbers),
        "MAD": fmean(mad for mad, _ in deviations) if deviations else None,
        "MADc": fmean(shares) if (shares := [mad / middle for mad, middle in deviations if middle]) else None,
    }


def _numbers(one: Decision, other: Decision) -> tuple[float, float] | None:
    if "remove" in (one.action, other.action):
        return None
    try:
        found = float(one.answer), float(other.answer)
    except ValueError:
        return None
    return found if all(map(math.isfinite, found)) else None


def progress(data: DataSet, person: str) -> dict[str, Any]:
    """How far a person is, JSON-ready: items decided of all in both passes, seconds an item, which patch is next."""
    decisions = data.decisions(person)
    first, second = latest(decisions, 1), latest(decisions, 2)
    every = [(name, item.id) for name in data.names for item in items(data.patch(name))]
    sample = [(name, item) for name, item in every if seen_twice(item)]
    undone = next((name for name, item in every if item not in first), None)
    again = next((name for name, item in sample if item not in second), None)
    return {
        "items": len(every),
        "decided": len(first),
        "again": len(sample),
        "decided again": len(second),
        "seconds an item": round(fmean(own.seconds for own in decisions), 2) if decisions else None,
        "next": undone or again,
        "turn": 1 if undone else 2,
        "actions": dict(Counter(own.action for own in first.values())),
        "with oneself": agreement(first, second) if second else None,
    }


def export(data: DataSet, person: str) -> Path:
    """Write the data set as a person left it, in the same layouts, beside the one that was made.

    Items that were removed are left out, edited ones have the person's words; flagged items are in only where they were
    accepted or edited; items without a decision stay as they were made, and the data card says how many those are.

    Raises:
        InputError: the person has decided nothing.
    """
    decided = latest(data.decisions(person))
    if not decided:
        raise InputError(f"{person} has decided nothing yet. Next: verify some items first.")
    out = data.folder / EXPORTED / person
    for split in SPLITS:
        (out / f"Annotations_{split}").mkdir(parents=True, exist_ok=True)
    found = [_verified(own, decided) for own in data.patches()]
    settings = json.loads((data.folder / SETTINGS).read_text(encoding="utf-8"))
    write_files(found, out, settings["dataset"])
    told = progress(data, person)
    verified = f"{told['decided']} of {told['items']} items verified by {person}, the others as they were made"
    write_card(found, out, {**settings, "verified": verified})
    return out


def _verified(found: Annotated, decided: Mapping[str, Decision]) -> Annotated:
    kept = []
    for item in items(found):
        own, statement = decided.get(item.id), item.statement
        if own.action == "remove" if own is not None else item.flag:
            continue
        if own is not None and own.action == "edit":
            statement = replace(statement, text=own.text.strip(), answer=own.answer.strip())
        kept.append(statement)
    return replace(found, statements=tuple(kept))
