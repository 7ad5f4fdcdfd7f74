"""Files that a command is to write must not be the files that it reads."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from swath.errors import InputError


def check_output(output: Path, inputs: Iterable[Path | None]) -> None:
    """Check that writing a file destroys nothing that was read.

    Args:
        output: file to write.
        inputs: files that are read; None for options that were not given.

    Raises:
        InputError: the file is one of the inputs, also by another name, or its folder is not there.
    """
    try:
        if not output.absolute().parent.is_dir():
            raise InputError(f"{output} cannot be written: there is no folder {output.parent}. Next: make it.")
        if output.exists() and any(path and path.exists() and output.samefile(path) for path in inputs):
            raise InputError(f"{output} is one of the files that are read. Next: name another file to write.")
    except OSError as why:
        said = (why.strerror or str(why)).lower()
        raise InputError(f"{output} cannot be written: {said}. Next: name another file.") from None


def write_text(output: Path, text: str, inputs: Iterable[Path | None]) -> None:
    """Write a text in UTF-8, unless that destroyed something that was read.

    Raises:
        InputError: the file is one of the inputs, or cannot be written.
    """
    check_output(output, inputs)
    try:
        output.write_text(text, encoding="utf-8")
    except OSError as why:
        said = (why.strerror or str(why)).lower()
        raise InputError(f"{output} cannot be written: {said}. Next: name another file.") from None
