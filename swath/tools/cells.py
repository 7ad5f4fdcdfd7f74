"""Statistics of the cells of a field under things, and how far they could lie elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from swath.errors import Refused, ToolError
from swath.raster.fields import MOST_CELLS, Field, Numbers, TiledField, numbers_of
from swath.raster.tiled import TiledPixels
from swath.tools.blocks import row_blocks
from swath.tools.handles import Mask, Regions
from swath.tools.runs import Runs
from swath.tools.site import Site

CellStatistic = Literal["mean", "median", "min", "max", "std", "percentile"]
FloatArray = NDArray[np.float64]
IntArray = NDArray[np.integer[Any]]

DEVIATIONS = 1.96
"""Standard errors on each side of an estimate that hold 95 % of a normal distribution."""

_RANKED = {"median": 0.5, "min": 0.0, "max": 1.0}


def named(statistic: CellStatistic, percent: float) -> str:
    """A statistic as a person would name it: "95th percentile (p95)", "median".

    Raises:
        ToolError: a percentile above 100.
    """
    if statistic != "percentile":
        return {"min": "minimum", "max": "maximum", "std": "standard deviation"}.get(statistic, statistic)
    if percent > 100:
        raise ToolError(f"percent is a share of the cells from 0 to 100, not {percent:g}.")
    tail = "th"
    if percent == int(percent) and percent % 100 not in (11, 12, 13):
        tail = {1: "st", 2: "nd", 3: "rd"}.get(int(percent) % 10, "th")
    return f"{percent:g}{tail} percentile (p{percent:g})"


def statistic_by_owner(
    values: Numbers, owner: IntArray, count: int, statistic: CellStatistic, percent: float = 95.0, end: int = 0
) -> FloatArray:
    """One number for the cells of each owner.

    Args:
        values: (k,) cells, NaN where unknown; these do not count.
        owner: (k,) index of what each cell belongs to.
        count: number of owners.
        statistic: which number; percentiles by linear interpolation between cells, "std" divides by n.
        percent: share of the cells below a percentile, 0 to 100.
        end: 0 for the number itself; -1 or +1 for the end of its sampling interval: 1.96 standard errors of a mean or a
            standard deviation, the binomial ranks of a percentile (at least one cell, Conover 1999).

    Returns:
        (count,) NaN for an owner without a known cell.
    """
    known = np.isfinite(values)
    cells, owner = values[known].astype(np.float64), owner[known]
    sizes = np.bincount(owner, minlength=count)
    some = np.maximum(sizes, 1)
    if statistic in ("mean", "std"):
        found = _moment(cells, owner, count, some, statistic, end)
    else:
        share = _RANKED.get(statistic, percent / 100)
        order = np.lexsort((cells, owner))
        last = np.maximum(sizes - 1, 0)
        moved = end * np.maximum(DEVIATIONS * np.sqrt(sizes * share * (1 - share)), 1.0)
        found = _ranked(cells[order], np.cumsum(sizes) - sizes, last, share * last + moved)
    return np.where(sizes > 0, found, np.nan)


def _moment(
    cells: FloatArray, owner: IntArray, count: int, sizes: IntArray, statistic: CellStatistic, end: int
) -> FloatArray:
    mean = np.bincount(owner, cells, minlength=count) / sizes
    std = np.sqrt(np.bincount(owner, (cells - mean[owner]) ** 2, minlength=count) / sizes)
    if statistic == "std":
        return np.maximum(std + end * DEVIATIONS * std / np.sqrt(2 * sizes), 0.0)
    return mean + end * DEVIATIONS * std / np.sqrt(np.maximum(sizes - 1, 1))


def _ranked(ordered: FloatArray, first: IntArray, last: IntArray, rank: FloatArray) -> FloatArray:
    """Values at ranks, which may lie between two cells, of groups that are sorted one after another."""
    if len(ordered) == 0:
        return np.full(len(first), np.nan)
    rank = np.clip(rank, 0, last)
    below = np.floor(rank).astype(np.int64)
    at = np.minimum(first + below, len(ordered) - 1)
    above = np.minimum(first + np.minimum(below + 1, last), len(ordered) - 1)
    part = rank - below
    return np.asarray(ordered[at] + part * (ordered[above] - ordered[at]))


def doubted_statistic(
    site: Site, field: Field, of: Mask | Regions | None, statistic: CellStatistic, percent: float, *, end: int = 1
) -> float:
    """One number for all cells of a thing, each once, under the present doubt of heights.

    Args:
        site: the image.
        field: (rows, columns) in metres, NaN where unknown.
        of: which cells; None for the whole image.
        statistic: which number.
        percent: of a percentile.
        end: -1 where a larger number makes the answer smaller.

    Raises:
        Refused: no cell is known.
    """
    cells = known_cells(site, field, of)
    owner = np.zeros(len(cells), dtype=np.int64)
    return float(_doubted(site, cells, owner, 1, statistic, percent, end)[0])


def doubted_statistics(
    site: Site, field: Field, regions: Regions, statistic: CellStatistic, percent: float
) -> FloatArray:
    """(n,) one number for the cells of each region, under the present doubt; NaN where none of its cells is known."""

    def measure(runs: Runs) -> FloatArray:
        return _by_groups(runs, lambda own: _doubted(site, *_cells_of(field, own), own.count, statistic, percent, 1))

    return np.asarray(regions.measured(measure), dtype=np.float64)


def statistic_of_objects(
    field: Field, runs: Runs, statistic: CellStatistic = "percentile", percent: float = 95.0
) -> FloatArray:
    """(n,) one number for the cells of each object; NaN where none of its cells is known."""
    return _by_groups(runs, lambda own: statistic_by_owner(*_cells_of(field, own), own.count, statistic, percent))


def _by_groups(runs: Runs, measure: Callable[[Runs], FloatArray]) -> FloatArray:
    """(n,) one number for each object, of so many objects at a time as have `MOST_CELLS` cells together."""
    total = np.cumsum(runs.sizes_px)
    if not len(total) or total[-1] <= MOST_CELLS:
        return measure(runs)
    cuts = np.flatnonzero(np.diff(total // MOST_CELLS)) + 1
    return np.concatenate([measure(runs.of(own)) for own in np.split(np.arange(runs.count), cuts)])


def _cells_of(field: Field, runs: Runs) -> tuple[Numbers, IntArray]:
    """Every cell of every object, and the index of the object that it belongs to."""
    owner = np.repeat(runs.owner, runs.lengths)
    if not isinstance(field, TiledField):
        return field.reshape(-1)[runs.places], owner
    cells, cols = [np.zeros(0, dtype=field.dtype)], runs.shape[1]
    for rows in row_blocks(runs.shape[0]):
        part = runs.where(slice(*np.searchsorted(runs.start, [rows.start * cols, rows.stop * cols]).tolist()))
        if len(part.start):
            first, last = int((part.start % cols).min()), int((part.stop - 1 - (part.start // cols) * cols).max()) + 1
            row, col = np.divmod(part.places, cols)
            cells.append(field.window(rows, slice(first, last))[row - rows.start, col - first])
    return np.concatenate(cells), owner


def _doubted(
    site: Site, cells: Numbers, owner: IntArray, count: int, statistic: CellStatistic, percent: float, end: int
) -> FloatArray:
    end *= site.nudge.height
    stated = accuracy_m(site, len(cells))
    if stated is None:
        return statistic_by_owner(cells, owner, count, statistic, percent, end)
    found = statistic_by_owner(cells, owner, count, statistic, percent)
    return found if statistic == "std" else found + end * stated


def accuracy_m(site: Site, cells: int) -> float | None:
    """Within how many metres heights are right, None where nobody stated it; from now on the answer's doubt.

    Args:
        site: the image.
        cells: how many were measured; a single one has no spread.
    """
    stated = None if site.heights is None else site.heights.accuracy_m
    if stated is not None:
        site.doubts.add("vertical accuracy")
    elif cells > 1:
        site.doubts.add("sampling")
    else:
        site.warn("Of a single cell nobody can say how sure it is. Next: state it with --vertical-accuracy.")
    return stated


def height_shift_m(site: Site) -> float:
    """By how much every height moves under the present doubt; 0 where no accuracy is stated."""
    stated = None if site.heights is None else site.heights.accuracy_m
    if stated is None:
        return 0.0
    site.doubts.add("vertical accuracy")
    return site.nudge.height * stated


def known_cells(site: Site, field: Field, of: Mask | Regions | None, what: str = "height") -> Numbers:
    """(k,) the known cells of a thing (the whole image if None); says which share of it is unknown.

    Raises:
        Refused: none is known, or there is no such thing in the image.
    """
    name = "the image" if of is None else of.name
    pixels = site.valid if of is None else site.mask_of(of).pixels
    cells = numbers_of(field, pixels, name)
    known = np.isfinite(cells)
    _check(site, name, what, len(cells), int(np.count_nonzero(known)))
    return np.asarray(cells[known])


def check_known(site: Site, field: Field, of: Mask | Regions) -> None:
    """What `known_cells` refuses and says, of cells that need not be looked at together."""
    pixels = site.mask_of(of).pixels
    if not (isinstance(field, TiledField) and isinstance(pixels, TiledPixels)):
        known_cells(site, field, of)
        return
    parts = pixels.tiled_parts()
    known = sum(int(np.count_nonzero(np.isfinite(field.window(rows, cols)) & own)) for rows, cols, own in parts)
    _check(site, of.name, "height", pixels.sum(), known)


def _check(site: Site, name: str, what: str, total: int, known: int) -> None:
    if not total:
        raise Refused(f"There are no {name} in the image, so that their {what} has no value.")
    if not known:
        raise Refused(f"No pixel of {name} has a known {what}. Next: give heights that cover it.")
    warn_of_gaps(site, name, total - known, total, f"pixels have no known {what}; the others count")


def warn_of_gaps(site: Site, name: str, missing: int, total: int, said: str) -> None:
    """Say how much of a thing could not be measured."""
    if missing:
        share = 100 * missing / total
        site.warn(f"{name}: {share:.2g} % of the {said}.")
