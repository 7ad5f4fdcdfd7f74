"""Reads run folders back: one by path or by the start of its id, or all of a parent folder."""

from __future__ import annotations

import json
from base64 import b64encode
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Any

from swath.errors import InputError
from swath.trace.schema import fault_of

SCHEMA_VERSION = 1
"""Version of run.json and steps.jsonl that this version of swath writes; it reads this one and older ones."""

RUN_FILE, STEPS_FILE, PROGRAM_FILE, OBJECTS_FILE, PICTURE_FILE, MASK_FILE, MASK_PICTURE = (
    "run.json", "steps.jsonl", "program.py", "objects.gpkg", "overlay.png", "answer.tif", "answer.png",
)  # fmt: skip
LEAST_FIELDS = (
    "id", "created", "question", "image", "inputs", "cwd", "classes", "segmenter", "drafts", "notes", "answer",
    "status", "valid", "segmentations",
)  # fmt: skip
"""Without these a run.json is not one of ours."""


@dataclass(frozen=True)
class Run:
    """A run that was kept.

    Attributes:
        folder: where it lies.
        record: the content of run.json.
    """

    folder: Path
    record: dict[str, Any] = field(repr=False)

    @property
    def id(self) -> str:
        """Its id, which is the name that its folder was given."""
        return str(self.record["id"])

    @property
    def created(self) -> str:
        """When it began, ISO 8601 in UTC."""
        return str(self.record["created"])

    @property
    def question(self) -> str:
        """The question as typed."""
        return str(self.record["question"])

    @property
    def status(self) -> str:
        """answered, refused or failed."""
        return str(self.record["status"])

    @property
    def answer(self) -> dict[str, Any]:
        """The answer as `ask --json` prints it, with the paths of the folder as it lies now."""
        answer = dict(self.record["answer"])
        answer["run"] = str(self.folder)
        objects = answer.get("objects")
        if objects and objects.get("path"):
            answer["objects"] = {**objects, "path": str(self.folder / OBJECTS_FILE)}
        return answer

    @cached_property
    def steps(self) -> tuple[dict[str, Any], ...]:
        """The lines of steps.jsonl.

        Raises:
            InputError: the file is missing or broken.
        """
        lines = []
        # Not splitlines(): a question may hold characters such as U+2028, which JSON leaves as they are.
        for number, line in enumerate(self._text(STEPS_FILE).removesuffix("\n").split("\n"), start=1):
            if not line:
                continue
            try:
                step = json.loads(line)
            except (ValueError, RecursionError):
                raise self._broken(f"line {number} of {STEPS_FILE} is not JSON") from None
            if not isinstance(step, dict) or "name" not in step:
                raise self._broken(f"line {number} of {STEPS_FILE} is not a step")
            if found := fault_of("step", step):
                raise self._broken(f"line {number} of {STEPS_FILE} is not as swath writes it: {found}")
            lines.append(step)
        return tuple(lines)

    @cached_property
    def program(self) -> str | None:
        """The program that produced the answer, None where the run never had one.

        Raises:
            InputError: the file is missing or cannot be read.
        """
        if self.record["answer"].get("program") is None and not (self.folder / PROGRAM_FILE).exists():
            return None
        return self._text(PROGRAM_FILE)

    @cached_property
    def drafts(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """Rejected programs, each with the hints that were given on it.

        Raises:
            InputError: a file is missing or cannot be read.
        """
        return tuple(
            (self._text(draft["file"]), tuple(map(str, draft["hints"]))) for draft in self.record.get("drafts", ())
        )

    def _repr_html_(self) -> str:
        """For notebooks: what `swath trace show` prints, beside the picture."""
        from swath.trace.show import show

        picture = self.folder / PICTURE_FILE
        shown = f"<pre>{escape(show(self))}</pre>"
        if picture.is_file():
            data = b64encode(picture.read_bytes()).decode()
            shown = f'<img alt="what was counted" style="max-width:100%" src="data:image/png;base64,{data}">{shown}'
        return shown

    def file(self, name: str) -> Path:
        """A file of the folder, by the name that the record gives it.

        Raises:
            InputError: the name leads out of the folder, or there is no such file.
        """
        path = self.folder / name
        if not path.resolve().is_relative_to(self.folder.resolve()):
            raise self._broken(f"it names {name}, which lies outside its folder")
        if not path.is_file():
            raise self._broken(f"{name} is missing")
        return path

    def _text(self, name: str) -> str:
        try:
            return self.file(name).read_bytes().decode("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise self._broken(f"{name} cannot be read ({type(error).__name__})") from None

    def _broken(self, why: str) -> InputError:
        return _broken(self.folder, why)


def _broken(folder: Path, why: str) -> InputError:
    return InputError(f"The run {folder} is broken: {why}. Next: ask the question again.")


def load_run(folder: Path) -> Run:
    """Read a run.

    Raises:
        InputError: there is no such folder, it is no run, it is broken, or a newer swath wrote it.
    """
    if not folder.is_dir():
        raise InputError(f"There is no run folder {folder}. Next: see the runs there are with swath trace list.")
    path = folder / RUN_FILE
    if not path.is_file():
        raise InputError(
            f"{folder} is not the folder of a run: it holds no {RUN_FILE}. Next: name a run, not its parent."
        )
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise _broken(folder, f"{RUN_FILE} is not JSON ({type(error).__name__})") from None
    version = record.get("schema_version") if isinstance(record, dict) else None
    if not isinstance(version, int) or isinstance(version, bool):
        raise InputError(f"{path} was not written by swath: it has no schema_version. Next: name the folder of a run.")
    if version > SCHEMA_VERSION:
        raise InputError(
            f"The run {folder} has schema version {version}; this swath reads up to {SCHEMA_VERSION}. "
            "Next: update swath."
        )
    missing = [name for name in LEAST_FIELDS if name not in record]
    if missing or not isinstance(record["answer"], dict) or not isinstance(record["image"], dict):
        raise _broken(folder, f"{RUN_FILE} lacks {', '.join(missing) or 'its answer or its image'}")
    if found := fault_of("run", record):
        raise _broken(folder, f"{RUN_FILE} is not as swath writes it: {found}")
    return Run(folder, record)


def find_run(name: str | Path, parent: Path = Path("runs")) -> Run:
    """A run by the path of its folder, or by the start of its id.

    Args:
        name: path, or the first characters of an id.
        parent: where to look for ids.

    Raises:
        InputError: no run or several runs have such an id, or the one that does cannot be read.
    """
    text = str(name)
    path = Path(name)
    if path.name == RUN_FILE and path.is_file():
        return load_run(path.parent)
    if path.is_dir() and ((path / RUN_FILE).exists() or len(path.parts) > 1):
        return load_run(path)
    if not text or "/" in text:
        return load_run(path)
    found = sorted(folder for folder in _folders(parent) if folder.name.startswith(text))
    if not found:
        raise InputError(
            f'No run in {parent} begins with "{text}". Next: list them with swath trace list --out {parent}.'
        )
    if len(found) > 1:
        shown = ", ".join(folder.name for folder in found[:3])
        more = f" and {len(found) - 3} more" if len(found) > 3 else ""
        raise InputError(
            f'"{text}" is the start of {len(found)} runs in {parent}: {shown}{more}. Next: write more of it.'
        )
    return load_run(found[0])


def list_runs(parent: Path = Path("runs")) -> list[Run]:
    """The runs of a parent folder, newest first; folders that cannot be read are left to `broken_runs`.

    Raises:
        InputError: there is no such folder.
    """
    return [found for found in _read_all(parent) if isinstance(found, Run)]


def broken_runs(parent: Path = Path("runs")) -> list[str]:
    """One sentence per folder that has a run.json and cannot be read as a run.

    Raises:
        InputError: there is no such folder.
    """
    return [found for found in _read_all(parent) if isinstance(found, str)]


def _read_all(parent: Path) -> list[Run | str]:
    found: list[Run | str] = []
    for folder in sorted(_folders(parent), key=lambda folder: folder.name, reverse=True):
        try:
            found.append(load_run(folder))
        except InputError as error:
            found.append(str(error))
    return found


def _folders(parent: Path) -> list[Path]:
    """Folders that hold a run.json; hidden ones are runs that are being written, or were never finished."""
    try:
        return [path for path in parent.iterdir() if not path.name.startswith(".") and (path / RUN_FILE).is_file()]
    except OSError as error:
        why = "there is no such folder" if isinstance(error, FileNotFoundError) else "it is not a folder of runs"
        raise InputError(f"No runs can be read from {parent}: {why}. Next: name it with --out DIR.") from None
