"""What the tools of the server do, one question at a time."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from swath.errors import InputError
from swath.serve.mcp.roots import Roots
from swath.trace.events import Event, Listener
from swath.trace.reading import OBJECTS_FILE, PICTURE_FILE, PROGRAM_FILE, Run, find_run
from swath.trace.strict_json import json_ready

_ID = re.compile(r"[0-9]{8}-[0-9]{6}-[0-9a-z-]{1,40}")
_CLASS = re.compile(r"[^\w-]+")
SCHEME = "swath://runs"


class GivenUp(Exception):
    """The client no longer waits for the answer."""


@dataclass(frozen=True)
class Work:
    """Answers questions about files of some folders.

    Attributes:
        roots: the folders.
        out: where runs are kept.
        planner: options of the planner that a question gets: planner, model, base_url.
    """

    roots: Roots
    out: Path
    planner: Mapping[str, Any]

    def ask(self, image: str, question: str, options: Mapping[str, Any], listen: Listener) -> dict[str, Any]:
        """Ask a question; the answer as `swath ask --json` prints it, with addresses of its resources.

        Raises:
            InputError: a file or an option cannot be used.
        """
        return self._answered(image, question, listen, **self.planner, **self.roots.options(options))

    def measure(self, image: str, program: str, options: Mapping[str, Any], listen: Listener) -> dict[str, Any]:
        """Run somebody's own program in the sandbox; otherwise as `ask`.

        Raises:
            InputError: a file or an option cannot be used.
        """
        return self._answered(image, "a program", listen, program=program, **self.roots.options(options))

    def _answered(self, image: str, question: str, listen: Listener, **options: Any) -> dict[str, Any]:
        from swath.agent.ask import ask

        answer = ask(self.roots.file(image), question, listen=listen, out=self.out, **options)
        ready: dict[str, Any] = json_ready(answer.to_json())
        return {**ready, "resources": {} if answer.run is None else addresses(Path(answer.run))}

    def info(self, image: str, gsd_m: float | None, bands: Mapping[str, int] | None) -> dict[str, Any]:
        """What a raster holds: grid, ground pixel size, bands, valid share, warnings.

        Raises:
            InputError: it cannot be read.
        """
        from swath.raster.info import info
        from swath.raster.reader import open_raster

        ready: dict[str, Any] = json_ready(info(open_raster(self.roots.file(image), gsd_m=gsd_m, bands=bands or None)))
        return ready

    def segment(self, image: str, class_name: str, options: Mapping[str, Any]) -> dict[str, Any]:
        """Write the pixels of a class as a GeoTIFF, and its objects as a GeoPackage, beside the runs.

        Raises:
            Refused: the class is not known here.
            InputError: a file cannot be used or written.
        """
        from swath.agent.segmenting import write_class

        source = self.roots.file(image)
        folder = self.out / "segments"
        folder.mkdir(parents=True, exist_ok=True)
        stem = f"{source.stem}-{_CLASS.sub('-', class_name)[:60]}"
        mask, vector = folder / f"{stem}.tif", folder / f"{stem}.gpkg"
        said = write_class(source, class_name, mask, vector, **self.roots.options(options))
        return {"text": said, "mask": str(mask), "objects": str(vector)}

    def replay(self, run: str) -> dict[str, Any]:
        """Run a recorded program again, without any planner, and compare the answers.

        Raises:
            InputError: there is no such run, it is broken, or its files are outside the folders.
        """
        from swath.agent.replay import replay

        found = self.run(run)
        home, inputs = Path(found.record["cwd"]), found.record["inputs"]
        for name in (*self.roots.named(inputs).values(), *(inputs.get("layers") or {}).values()):
            self.roots.file(str(home / name))
        known = found.record["image"]
        result = replay(found, image=self.roots.file(str(known["resolved"] or home / known["path"])))
        return {"same": result.same, "text": result.answer.text, "differences": list(result.differences)}

    def run(self, name: str) -> Run:
        """A run by its id, or by the path of its folder, which answers name.

        Raises:
            InputError: that is no id, or there is no such run.
        """
        if Path(name).parent == self.out:
            name = Path(name).name
        if not _ID.fullmatch(name):
            raise InputError(f"{name[:80]!r} is not the id of a run. Next: see the resource {SCHEME}.")
        return find_run(name, self.out)


def addresses(run: Path) -> dict[str, str]:
    """Addresses of what a run holds, by what it is."""
    root = f"{SCHEME}/{run.name}"
    kept = {"program": PROGRAM_FILE, "picture": PICTURE_FILE, "objects": OBJECTS_FILE}
    return {"run": root, **{name: f"{root}/{name}" for name, file in kept.items() if (run / file).exists()}}


def spoken(say: Callable[[str], None], given_up: Callable[[], bool]) -> Listener:
    """A listener that says each step, and that ends the work where nobody waits for it any more."""

    def listen(event: Event) -> None:
        if given_up():
            raise GivenUp
        if event.kind != "end":
            say(event.name)

    return listen
