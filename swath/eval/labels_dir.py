"""The run with exact masks: which label map belongs to which image of a benchmark."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from swath.errors import InputError
from swath.eval.cases import Case

SUFFIXES = (".png", ".tif", ".tiff", ".geojson", ".gpkg")
LEGEND = "legend.json"
SHOWN = 5
"""Cases without a label map that the error names."""


def with_labels(cases: Iterable[Case], labels_dir: Path, legend: Path | None = None) -> list[Case]:
    """The cases with the arguments that give `swath.ask` their true classes.

    A label map is the PNG, TIFF, GeoJSON or GeoPackage below the folder whose name, without its ending, is that of the
    case's image, the name that the dataset gives to the image (`extras["image_name"]`), or the case's id.

    Args:
        cases: of any benchmark.
        labels_dir: folder of label maps, in any depth.
        legend: what their values mean; by default the folder's legend.json, or else each file's own category names.

    Raises:
        InputError: there is no such folder, a case has no label map, or two files could be one's.
    """
    if not labels_dir.is_dir():
        raise InputError(f"{labels_dir} is no folder of label maps. Next: give the folder that holds one per image.")
    legend = legend or (labels_dir / LEGEND if (labels_dir / LEGEND).is_file() else None)
    maps = _by_stem(labels_dir)
    found = [(case, _map_of(case, maps)) for case in cases]
    missing = [case for case, file in found if file is None]
    if missing:
        raise InputError(_missing(missing, len(found), labels_dir))
    exact = {} if legend is None else {"legend": legend}
    return [replace(case, exact={"labels": file, **exact}) for case, file in found]


def _by_stem(folder: Path) -> dict[str, list[Path]]:
    maps: dict[str, list[Path]] = {}
    for path in sorted(folder.rglob("*")):
        if path.suffix.lower() in SUFFIXES and path.is_file():
            maps.setdefault(path.stem, []).append(path)
    return maps


def _names(case: Case) -> list[str]:
    """Names that a label map may have, the first that is there wins."""
    given = case.extras.get("image_name")
    return [case.image.stem, *([Path(given).stem] if given else []), case.id]


def _map_of(case: Case, maps: dict[str, list[Path]]) -> Path | None:
    files = next((maps[name] for name in _names(case) if name in maps), [])
    if len(files) > 1:
        raise InputError(
            f"Case {case.id} could have its label map in {files[0]} and in {files[1]}. Next: keep one of them."
        )
    return files[0] if files else None


def _missing(missing: list[Case], total: int, folder: Path) -> str:
    first = ", ".join(f"{case.id} ({' or '.join(dict.fromkeys(_names(case)))})" for case in missing[:SHOWN])
    more = f" and {len(missing) - SHOWN} more" if len(missing) > SHOWN else ""
    return (
        f"{len(missing)} of {total} cases have no label map in {folder}: {first}{more}. "
        f"Next: name each map like its image or its case, ending in {', '.join(SUFFIXES)}."
    )
