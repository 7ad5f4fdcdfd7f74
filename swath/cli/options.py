"""Options that several commands share, and what they are turned into."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import click

from swath.errors import InputError

Command = TypeVar("Command", bound=Callable[..., Any])
FILE = click.Path(path_type=Path)


def _pairs(text: str, option: str, example: str) -> Iterator[tuple[str, str]]:
    for part in filter(None, (piece.strip() for piece in text.split(","))):
        name, equals, value = part.partition("=")
        if not (equals and name.strip() and value.strip()):
            raise InputError(f'{option} takes NAME=VALUE, such as {example}, not "{part}".')
        yield name.strip(), value.strip()


def read_bands(context: click.Context, parameter: click.Parameter, text: str | None) -> dict[str, int]:
    """Roles and band numbers: "red=3,nir=4"."""
    found: dict[str, int] = {}
    for role, index in _pairs(text or "", "--bands", "red=3,nir=4"):
        if not index.isdecimal():
            raise InputError(f'--bands takes the number of a band from 1, such as red=3, not "{role}={index}".')
        role = role.lower()
        if found.setdefault(role, int(index)) != int(index):
            raise InputError(f'--bands names {role} twice: "{role}={found[role]}" and "{role}={index}".')
    return found


def read_thresholds(context: click.Context, parameter: click.Parameter, texts: tuple[str, ...]) -> dict[str, float]:
    """Indices and thresholds: "NDWI=0.1"."""
    found: dict[str, float] = {}
    for index, value in _pairs(",".join(texts), "--threshold", "NDWI=0.1"):
        try:
            found[index.upper()] = number = float(value)
        except ValueError:
            number = math.nan
        if not math.isfinite(number):
            raise InputError(f'--threshold takes a number, such as NDWI=0.1, not "{index}={value}".')
    return found


def read_layers(context: click.Context, parameter: click.Parameter, texts: tuple[str, ...]) -> dict[str, Path]:
    """Names and files: "schools=schools.geojson"."""
    found: dict[str, Path] = {}
    for text in texts:
        name, equals, file = text.partition("=")
        if not (equals and name.strip() and file):
            raise InputError(f'--layer takes NAME=FILE, such as schools=schools.geojson, not "{text}".')
        if name.strip() in found:
            raise InputError(f'--layer names "{name.strip()}" twice: give each layer a name of its own.')
        found[name.strip()] = Path(file)
    return found


SOURCE_OPTIONS = (
    click.option("--labels", type=FILE, help="Class raster, vector file or annotations that say what is where."),
    click.option("--legend", type=FILE, help="JSON object of label value to class name."),
    click.option("--label-class", metavar="NAME", help="Class of a vector file without a class column."),
    click.option("--layer", "layers", multiple=True, callback=read_layers, metavar="NAME=FILE", help="One more class."),
    click.option("--segmenter", default="auto", show_default=True, metavar="NAME", help="Who finds the classes."),
    click.option("--bands", callback=read_bands, metavar="ROLE=N,...", help="Which band is which: red=3,nir=4."),
    click.option("--threshold", "thresholds", multiple=True, callback=read_thresholds, metavar="INDEX=T",
                 help="Threshold of a spectral index: NDWI=0.1."),
    click.option("--gsd", "gsd_m", type=float, metavar="METRES", help="Ground size of a pixel; wins over the file's."),
)  # fmt: skip
PLANNER_OPTIONS = (
    click.option("--planner", default="auto", show_default=True, metavar="NAME", help="Who writes the program."),
    click.option("--model", metavar="NAME", help="Language model, or a .gguf file, for --planner llm, look or blind."),
    click.option("--base-url", metavar="URL", help="OpenAI-compatible server that has the model."),
    click.option("--look", is_flag=True, help="Let a vision model judge what cannot be measured; answers say so."),
    click.option("--agree", is_flag=True, help="Plan in two unlike ways; answer only where both measure the same."),
)
HEIGHT_OPTIONS = (
    click.option("--dsm", type=FILE, help="Heights of the first surface: roofs, crowns."),
    click.option("--dtm", type=FILE, help="Heights of bare earth."),
    click.option("--ndsm", type=FILE, help="Heights above ground; by default --dsm minus --dtm."),
    click.option("--dem", type=FILE, help="Heights of the terrain; by default --dtm."),
    click.option("--vertical-accuracy", "vertical_accuracy_m", type=float, metavar="METRES",
                 help="Within how many metres heights are right; sets their interval."),
    click.option("--vertical-unit", metavar="UNIT", help="Unit of heights whose file states none: m, ft, us-ft ..."),
)  # fmt: skip
PLACE_OPTIONS = (
    click.option("--before", type=FILE, help="Labels or image of an earlier date, with --after."),
    click.option("--after", type=FILE, help="Labels or image of a later date, with --before."),
    click.option(
        "--confusion",
        type=FILE,
        metavar="FILE|card",
        help="Error matrix of reference samples that corrects areas and shares; card: the model's own.",
    ),
    click.option("--aoi", type=FILE, help="Vector file; only what lies inside is measured."),
    *HEIGHT_OPTIONS,
    click.option(
        "--tiles-above",
        "tiles_above_px",
        type=click.IntRange(0),
        metavar="PIXELS",
        help="Hold larger images in tiles: less memory, the same answers (33554432 unless given).",
    ),
    click.option("--out", type=FILE, default=Path("runs"), show_default=True, help="Parent of the run folders."),
)


def keep_option(default: str) -> Callable[[Command], Command]:
    """`--keep`, which batches set lower than single questions do."""
    said = "What a run folder holds: the program and its steps; the rest unless answered; all."
    choice = click.Choice(["light", "wrong", "full"])
    return click.option("--keep", type=choice, default=default, show_default=True, help=said)


def dask_option(said: str) -> Callable[[Command], Command]:
    """`--dask`, which hands work to somebody's cluster."""
    return click.option("--dask", metavar="ADDRESS", help=f"{said} an existing Dask cluster: its scheduler's address.")


EXPORT_OPTIONS = (
    click.option("--geojson", type=FILE, help="Write the counted objects to this file, as GeoJSON."),
    click.option("--csv", type=FILE, help="Write the counted objects to this file, a row for each."),
)
RUN_OPTIONS = (
    *PLACE_OPTIONS,
    keep_option("full"),
    click.option("--json", "as_json", is_flag=True, help="Print one JSON object."),
)


def with_options(*options: Callable[[Command], Command]) -> Callable[[Command], Command]:
    """Several options in the order in which help lists them."""

    def add(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return add
