"""In which unit and above which datum a raster of heights is, as far as its file says."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pyproj

from swath.errors import InputError
from swath.raster.geodesy import horizontal

US_SURVEY_FOOT_M = 1200 / 3937
SAME_UNIT = 1e-5
"""The international and the US survey foot differ by 2e-6, which no height shows."""

SILENT = frozenset({"", "unknown", "unnamed", "none", "n/a"})
METRES_OF: Mapping[str, float] = {
    **dict.fromkeys(("m", "metre", "meter", "metres", "meters"), 1.0),
    **dict.fromkeys(("dm", "decimetre", "decimeter", "decimetres", "decimeters"), 0.1),
    **dict.fromkeys(("cm", "centimetre", "centimeter", "centimetres", "centimeters"), 0.01),
    **dict.fromkeys(("mm", "millimetre", "millimeter", "millimetres", "millimeters"), 0.001),
    **dict.fromkeys(("km", "kilometre", "kilometer", "kilometres", "kilometers"), 1000.0),
    **dict.fromkeys(("ft", "foot", "feet", "international foot", "international feet"), 0.3048),
    **dict.fromkeys(
        ("us-ft", "ftus", "us ft", "us survey foot", "us survey feet", "foot_us", "us_survey_foot", "survey foot"),
        US_SURVEY_FOOT_M,
    ),
}
"""Metres in one of what files call a vertical unit, lower-case."""

_UNIT_KEY = re.compile(r"(vert|elev|height|^z)\w*_?units?$", re.IGNORECASE)
_DATUM_KEY = re.compile(r"vert\w*_?(datum|crs|cs|srs|reference\w*)$|^vdatum$|^geoid\w*$", re.IGNORECASE)
_DATUMS = {
    "EGM2008": r"egm\W?(20)?08\b",
    "EGM96": r"egm\W?(19)?96\b",
    "EGM84": r"egm\W?(19)?84\b",
    "NAVD88": r"navd\W?(19)?88|north american vertical datum (of )?1988",
    "NGVD29": r"ngvd\W?(19)?29|national geodetic vertical datum (of )?1929",
    "NGF-IGN69": r"ign\W?(19)?69",
    "DHHN2016": r"dhhn\W?2016",
    "EVRF2007": r"evrf\W?2007",
    "EVRF2000": r"evrf\W?2000",
    "the ellipsoid": r"ellipsoid",
}


@dataclass(frozen=True)
class Vertical:
    """What a file says of its heights.

    Attributes:
        unit: its own word for the unit, None where it states none.
        metres: metres in one unit; 1 where it states none.
        datum: what heights are counted from, None where it does not say.
        said: whether the unit is what a person said, since the file states none.
    """

    unit: str | None = None
    metres: float = 1.0
    datum: str | None = None
    said: bool = False


def read_vertical(dataset: Any, crs: pyproj.CRS | None, name: str, said: str | None = None) -> Vertical:
    """Vertical unit and datum of an open dataset: from its band, its CRS or its metadata, in this order.

    Args:
        dataset: an open dataset.
        crs: its CRS, vertical part included.
        name: the file, for sentences.
        said: a known unit that a person gave for files that state none.

    Raises:
        InputError: it states a unit in which no height can be, or another one than was said.
    """
    tags = {**dataset.tags(), **dataset.tags(1)}
    own_unit, own_datum = _of_crs(crs)
    tagged = [value for key, value in tags.items() if _UNIT_KEY.search(key)]
    units = [unit for unit in (dataset.units[0], own_unit, *tagged) if unit and unit.strip().lower() not in SILENT]
    datums = [own_datum, *(value for key, value in tags.items() if _DATUM_KEY.search(key))]
    datum = next((named(text) for text in datums if text and text.strip().lower() not in SILENT), None)
    if not units:
        return Vertical(None, 1.0, datum) if said is None else Vertical(said, check_unit(said), datum, said=True)
    metres = METRES_OF.get(units[0].strip().lower())
    if metres is None:
        raise InputError(
            f'{name} states its values in "{units[0][:40]}", which is no unit of height that is known. '
            "Next: give a raster of heights in metres or feet."
        )
    if said is not None and abs(check_unit(said) / metres - 1) > SAME_UNIT:
        raise InputError(
            f"{name} states its heights in {units[0].strip()}, but --vertical-unit says {said}. Next: leave "
            "--vertical-unit out, or correct the file (gdal_edit.py -units) where it is wrong."
        )
    return Vertical(units[0].strip(), metres, datum)


def check_unit(unit: str) -> float:
    """Metres in a unit that a person gave.

    Raises:
        InputError: it is no unit of height.
    """
    metres = METRES_OF.get(unit.strip().lower())
    if metres is None:
        raise InputError(f'--vertical-unit takes a unit of height, such as m, ft or us-ft, not "{unit[:40]}".')
    return metres


def named(datum: str) -> str:
    """A vertical datum by one name, however a file spells it."""
    for name, spelling in _DATUMS.items():
        if re.search(spelling, datum, re.IGNORECASE):
            return name
    return re.sub(r"\s+height$", "", datum.strip(), flags=re.IGNORECASE)


def flat(crs: pyproj.CRS | None) -> pyproj.CRS | None:
    """A CRS without its vertical part."""
    if crs is None:
        return None
    part = horizontal(crs)
    return part.to_2d() if len(part.axis_info) == 3 else part


def _of_crs(crs: pyproj.CRS | None) -> tuple[str | None, str | None]:
    """Unit and datum of the vertical part of a CRS, None where it has none."""
    for part in _parts(crs):
        if part.is_vertical:
            return part.axis_info[0].unit_name, part.name
        if len(part.axis_info) == 3 and not part.is_geocentric:
            return part.axis_info[2].unit_name, f"the ellipsoid of {part.name}"
    return None, None


def _parts(crs: pyproj.CRS | None) -> Iterator[pyproj.CRS]:
    if crs is None:
        return
    if crs.is_bound and crs.source_crs is not None:
        yield from _parts(crs.source_crs)
    elif crs.is_compound:
        for part in crs.sub_crs_list:
            yield from _parts(part)
    else:
        yield crs
