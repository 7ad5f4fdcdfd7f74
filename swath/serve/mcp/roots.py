"""The folders that were named at start: nothing outside of them is read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from swath.errors import InputError
from swath.segment.error_matrix import OF_CARD

FILES = ("labels", "legend", "confusion", "aoi", "before", "after", "dsm", "dtm", "ndsm", "dem")
"""Options of a question that name one file."""

WORDS = {"confusion": OF_CARD}
"""What such an option takes in place of a file."""
LONGEST_NAME = 1000


@dataclass(frozen=True)
class Roots:
    """Folders of which files may be read.

    Attributes:
        folders: their real paths.
    """

    folders: tuple[Path, ...]

    def file(self, name: str) -> Path:
        """The real path of a file.

        Args:
            name: an absolute path, or one relative to any of the folders, the first that has it.

        Raises:
            InputError: there is no such file, or it lies outside the folders, also by a link.
        """
        if not name or len(name) > LONGEST_NAME or not name.isprintable():
            raise InputError("The name of a file is missing or no name. Next: give a path in a folder that is served.")
        for folder in self.folders:
            try:
                path = (folder / name).resolve(strict=True)
            except (OSError, RuntimeError):
                continue
            if path.is_file() and any(path.is_relative_to(root) for root in self.folders):
                return path
        raise InputError(
            f"{name} is not a file in a folder that is served ({', '.join(map(str, self.folders))}). "
            "Next: name a file in one of them, or start the server with its folder."
        )

    def options(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Options of a question, as `swath.ask` takes them, with every file looked up.

        Raises:
            InputError: as for `file`; or the segmenter names a file or an address, which clients must not choose.
        """
        if ":" in str(given.get("segmenter") or ""):
            raise InputError("A client names a segmenter without a file or an address. Next: use swath ask for those.")
        files = {name: self.file(value) for name, value in self.named(given).items()}
        layers = {name: self.file(file) for name, file in dict(given.get("layers") or {}).items()}
        return {**given, **files, "layers": layers}

    def named(self, given: Mapping[str, Any]) -> dict[str, str]:
        """The options that name one file each."""
        return {name: given[name] for name in FILES if given.get(name) not in (None, WORDS.get(name))}


def open_roots(folders: Iterable[Path]) -> Roots:
    """The folders of a command line.

    Raises:
        InputError: one of them is no folder.
    """
    real = []
    for folder in folders:
        if not folder.is_dir():
            raise InputError(f"There is no folder {folder} to serve. Next: name a folder of images.")
        real.append(folder.resolve())
    return Roots(tuple(real))
