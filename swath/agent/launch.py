"""Starts sandbox workers through `confine.py` where the system has something to take away from them."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import sysconfig
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Self

SCRIPT = Path(__file__).with_name("confine.py")


class Launcher:
    """A private folder with a script that stands in for the worker's program; it vanishes with the `with` block.

    Attributes:
        program: what the pool starts: the script, or None where workers start as they are.
    """

    def __init__(self) -> None:
        self.program: Path | None = None
        self._folder: Path | None = None

    def __enter__(self) -> Self:
        worker, base = worker_program(), _executable_folder()
        if sys.platform == "linux" and sys.executable and SCRIPT.is_file() and worker and base:
            self._folder = Path(tempfile.mkdtemp(prefix="swath-", dir=base))
            command = [sys.executable, "-I", "-S", str(SCRIPT), str(worker), str(self._folder / "report")]
            self.program = self._folder / "worker"
            self.program.write_text(f'#!/bin/sh\nexec {shlex.join(command)} "$@"\n', encoding="utf-8")
            self.program.chmod(0o700)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._folder:
            shutil.rmtree(self._folder, ignore_errors=True)

    def report(self) -> tuple[str, ...]:
        """The measures that took hold of the worker that started last."""
        try:
            return tuple((self._folder / "report").read_text(encoding="utf-8").split("\n")) if self._folder else ()
        except OSError:
            return ()


def worker_program() -> Path | None:
    """The interpreter's program, found as pydantic-monty finds it; None where only that package knows."""
    if named := os.environ.get("MONTY_BIN"):
        return Path(named).absolute()
    folders = [sysconfig.get_path("scripts"), sysconfig.get_path("scripts", f"{os.name}_user")]
    found = shutil.which("monty", path=os.pathsep.join(folders)) or shutil.which("monty")
    return Path(found).absolute() if found else None


def _executable_folder() -> str | None:
    """A folder for temporary files from which programs may be started."""
    for folder in (tempfile.gettempdir(), os.environ.get("XDG_RUNTIME_DIR")):
        if folder and Path(folder).is_dir() and not os.statvfs(folder).f_flag & getattr(os, "ST_NOEXEC", 0):
            return folder
    return None
