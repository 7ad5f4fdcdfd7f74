"""The served folder: what may be opened by name, and what it holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from swath.errors import InputError

RASTERS = (".tif", ".tiff", ".vrt", ".png", ".jpg", ".jpeg", ".jp2", ".img", ".asc")
VECTORS = (".gpkg", ".geojson", ".json", ".shp", ".fgb", ".txt")
TABLES = (".csv",)
MOST_ENTRIES = 2000
"""A folder of more files is listed in part; any of them can still be named."""


@dataclass(frozen=True)
class Folder:
    """A folder of which files are served.

    Attributes:
        root: its real path.
        runs: where runs are kept, inside it.
        uploads: where uploads are kept, inside it.
    """

    root: Path
    runs: Path
    uploads: Path

    def inside(self, name: str) -> Path:
        """The real path of a file or folder in the served folder.

        Args:
            name: relative to the served folder, with slashes.

        Raises:
            InputError: it leads out of the folder, also by a link, is hidden, or is not there.
        """
        parts = name.split("/")
        hidden = any(part.startswith(".") for part in parts if part != ".")
        if not name or name.startswith("/") or hidden or "\\" in name or not name.isprintable() or len(name) > 1000:
            raise InputError("Only files inside the served folder can be named. Next: choose one from the list.")
        try:
            path = (self.root / name).resolve(strict=True)
        except (OSError, RuntimeError, ValueError):
            raise InputError(f"There is no {name} in the served folder. Next: choose one from the list.") from None
        if not path.is_relative_to(self.root):
            raise InputError("Only files inside the served folder can be named. Next: choose one from the list.")
        return path

    def file(self, name: str) -> str:
        """The same for a regular file; its real path relative to the served folder.

        Raises:
            InputError: as for `inside`, or it is not a regular file.
        """
        path = self.inside(name)
        if not path.is_file():
            raise InputError(f"{name} is not a file. Next: choose one from the list.")
        return self.relative(path)

    def relative(self, path: Path) -> str:
        """A path as the page names it."""
        return path.relative_to(self.root).as_posix()

    def listing(self, name: str = "") -> dict[str, Any]:
        """What a folder holds, as JSON: folders, images, and other files that a question may use.

        Raises:
            InputError: there is no such folder.
        """
        if name == self.relative(self.uploads) and not self.uploads.exists():
            return {"folder": name, "entries": [], "more": 0}
        path = self.inside(name) if name else self.root
        if not path.is_dir():
            raise InputError(f"{name} is not a folder. Next: choose one from the list.")
        entries = sorted(self._entries(path), key=lambda entry: (entry["kind"] != "folder", entry["name"].lower()))
        return {"folder": name, "entries": entries[:MOST_ENTRIES], "more": max(0, len(entries) - MOST_ENTRIES)}

    def _entries(self, path: Path) -> Iterator[Mapping[str, Any]]:
        for entry in path.iterdir():
            kind = _kind(entry)
            if kind is None or entry.resolve() == self.runs or not entry.name.isprintable():
                continue
            if entry.is_symlink() and not entry.resolve().is_relative_to(self.root):
                continue
            own = (path / entry.name).relative_to(self.root).as_posix()
            yield {"name": entry.name, "path": own, "kind": kind, "bytes": entry.stat().st_size}


def _kind(entry: Path) -> str | None:
    if entry.name.startswith("."):
        return None
    try:
        if entry.is_dir():
            return "folder"
        if not entry.is_file():
            return None
    except OSError:
        return None
    suffix = entry.suffix.lower()
    return "image" if suffix in RASTERS else "other" if suffix in VECTORS + TABLES else None


def open_folder(root: Path, runs: Path | None = None) -> Folder:
    """A folder to serve.

    Args:
        root: the folder.
        runs: where runs are kept; by default `runs` in it.

    Raises:
        InputError: there is no such folder, or runs are to be kept outside of it.
    """
    if not root.is_dir():
        raise InputError(f"There is no folder {root} to serve. Next: name a folder of images.")
    real = root.resolve()
    kept = (real / "runs") if runs is None else runs.resolve()
    if not kept.is_relative_to(real) or kept == real:
        raise InputError(f"{runs} is not inside {root}: runs are served too. Next: name a folder in it with --out.")
    return Folder(real, kept, real / "uploads")
