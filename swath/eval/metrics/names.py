"""A predicted name, or a yes or no, in any of its honest spellings."""

from __future__ import annotations

import re
from typing import Any, Literal

from swath.eval.cases import Case
from swath.eval.scores import Verdict

_TRUTHS: dict[str, Literal["yes", "no"]] = {
    "yes": "yes", "yeah": "yes", "yep": "yes", "no": "no", "nope": "no",
}  # fmt: skip
_LETTERS: dict[str, Literal["yes", "no"]] = {"y": "yes", "n": "no", "t": "yes", "f": "no"}
_DENIALS = {"not", "never", "neither", "nor", "cannot", "isn't", "aren't", "doesn't", "don't"}


def yes_or_no(given: Any) -> Literal["yes", "no"] | None:
    """What a truth value, 1 or 0, or a text says; None where it says neither, or both.

    "Yes, there are.", "True", "1.0", "n" are read; so is "There are no boats". "It is not true" is not.
    """
    if isinstance(given, bool | int | float):
        return "yes" if given == 1 else "no" if given == 0 else None
    words = _words(str(given))
    if len(words) == 1:
        if words[0] in _LETTERS:
            return _LETTERS[words[0]]
        if re.fullmatch(r"[01](\.0*)?", words[0]):
            return "yes" if words[0][0] == "1" else "no"
    said = {_TRUTHS[word] for word in words if word in _TRUTHS}
    if not said and not _DENIALS & set(words):
        said = {"yes" if word == "true" else "no" for word in words if word in ("true", "false")}
    return said.pop() if len(said) == 1 else None


def judged_name(case: Case, given: Any) -> tuple[Verdict, str]:
    """The verdict on a predicted name, yes or no, and what was compared with what.

    A name is right as it is, in any of the case's aliases, or as the only known name of a sentence that denies nothing.
    """
    truth = _plain(case.truth)
    if (wanted := yes_or_no(case.truth)) is not None:
        found = yes_or_no(given)
        if found is None:
            return "unparsable", f"{given!r} is neither yes nor no"
        return ("right" if found == wanted else "wrong"), f"{found} for {wanted}"
    spellings = _spellings(case, truth)
    said = _plain(given)
    if said not in spellings:
        words = _words(said)
        mentioned = {name for spelling, name in spellings.items() if _holds(words, _words(spelling))}
        if len(mentioned) > 1 or (mentioned and _DENIALS & set(words)):
            return "unparsable", f"{given!r} names {', '.join(sorted(mentioned))} without saying which one"
        said = mentioned.pop() if mentioned else said
    found_name = spellings.get(said, said)
    return ("right" if found_name == truth else "wrong"), f"{found_name} for {truth}"


def _spellings(case: Case, truth: str) -> dict[str, str]:
    """Every known spelling to its canonical name."""
    known = {truth: truth}
    for name, aliases in case.aliases.items():
        known |= {_plain(alias): _plain(name) for alias in (name, *aliases)}
    return known


def _plain(text: Any) -> str:
    return " ".join(str(text).lower().split()).strip(" .,;:!?'\"`*()[]")


def _words(text: str) -> list[str]:
    return re.findall(r"\d+(?:\.\d*)?|[^\W\d_]+(?:['’][^\W\d_]+)?", text.lower().replace("’", "'"))


def _holds(words: list[str], part: list[str]) -> bool:
    return bool(part) and any(words[at : at + len(part)] == part for at in range(len(words)))
