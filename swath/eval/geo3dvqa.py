"""Geo3DVQA (arXiv 2512.07276): the public JSON lines of questions about heights and openness in GeoNRW's images."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from swath.errors import InputError
from swath.eval.cases import Case
from swath.eval.geo3dvqa_rules import first_integer
from swath.segment.rows import Row, json_lines, once

GROUPS = {
    "height_average": "height_inference",
    "highest_region": "height_inference",
    "land_use": "land_use_landcover_type",
    "landcover_type": "land_use_landcover_type",
    "sky_visibility": "multi_inference",
    "urban_density": "multi_inference",
    "visibility_range": "multi_inference",
}
"""Categories to the group in which the official code counts them; all others are `svf_inference`."""

FREE = "<OBSERVATION>"
"""How the answers of the open questions begin; a language model judges them."""

_RGB = re.compile(r"_rgb\.[^.]+$")


class Geo3dVqa:
    """The benchmark `geo3dvqa`: twelve categories by the official rules, four open ones by a judge."""

    name = "geo3dvqa"

    def cases(self, folder: Path, cache: Path | None = None) -> Iterator[Case]:
        """One case per line of the folder's one .jsonl file.

        Raises:
            InputError: there is not one such file, or a line is not such a case.
        """
        files = sorted(folder.glob("*.jsonl"))
        if len(files) != 1:
            held = ", ".join(file.name for file in files) or "none"
            raise InputError(
                f"{folder} has to hold one file of questions that ends in .jsonl and holds {len(files)} ({held}). "
                "Next: give a folder with the public file and the folders of images."
            )
        for name, row in once(json_lines(files[0]), _name):
            yield _case(name, row, folder)


def _is_free(row: Row) -> bool:
    return row.text("answer").startswith(FREE)


def _name(row: Row) -> str:
    """The row's id; the open questions are numbered from 1 again, so theirs are told apart."""
    if row.values.get("question_id") is None:
        return row.place  # as the official code does
    number = row.identity("question_id")
    return f"free-{number}" if _is_free(row) else number


def _case(name: str, row: Row, folder: Path) -> Case:
    category, answer, image = row.text("category"), row.text("answer"), _image(row, folder)
    if category == "height_average" and first_integer(answer) is None:
        raise row.fault("answer", "holds no whole number")
    if category == "hard_pixel" and not re.fullmatch(r"\d+(\.\d+)?", answer.strip()):
        raise row.fault("answer", "is no decimal number")
    free = _is_free(row)
    return Case(
        id=name,
        image=image,
        question=row.text("text"),
        truth=answer,
        type=category,
        metrics=("judge",) if free else ("geo3dvqa:official", "geo3dvqa:sane"),
        unit="m" if category == "height_average" else None,
        options=_heights(image),
        extras=_extras(row, image, "free" if free else GROUPS.get(category, "svf_inference")),
    )


def _extras(row: Row, image: Path, group: str) -> dict[str, Any]:
    """The group, the city, the choices, and the surface model beside the image where GeoNRW's files are there."""
    extras: dict[str, Any] = {"group": group, "source": image.parent.name}
    choices = row.values.get("choices", [])
    if not isinstance(choices, list) or not all(isinstance(text, str) for text in choices):
        raise row.fault("choices", "is no list of texts")
    if choices:
        extras["choices"] = choices
    heights = {key: str(path) for key, path in _heights(image).items()}
    return extras | ({"height": heights} if heights else {})


def _heights(image: Path) -> dict[str, Path]:
    dsm = image.with_name(_RGB.sub("_dem.tif", image.name))
    return {"dsm": dsm} if dsm != image and dsm.is_file() else {}


def _image(row: Row, folder: Path) -> Path:
    """The image; one that is not there is an error where its folder is, else the cases can still be scored."""
    image = row.inside("image", folder)
    return row.present("image", folder) if image.parent.is_dir() else image
