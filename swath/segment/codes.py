"""From label values or colours to small codes, counting on the way what the legend does not name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from swath.errors import InputError
from swath.raster.reader import Raster
from swath.segment.legend import NamedValues, colour_code

OUTSIDE, VOID, FIRST_CLASS, LAST_CODE = 0, 1, 2, 2**16 - 1
"""Codes of a pixel that the labels do not cover, of one they say nothing about, and of the first class; no code is
above the last."""

MOST_COUNTED = 2**24
"""OpenCV counts in float32, which holds every whole number up to here."""

COUNTED_BY_VALUE = 8
"""Values of a window up to which comparing with each takes less time than OpenCV's histogram."""

MOST_COMPARED = 3
"""Values of one class up to which comparing with each takes less time than a table."""

SAMPLED = 61
"""Every so many rows and columns are looked at to guess which values a window holds."""

MOST_CLASSES = 60_000
SHOWN_VALUES = 8

BoolImage = NDArray[np.bool_]
CodeImage = NDArray[np.unsignedinteger[Any]]
Masked = np.ma.MaskedArray[Any, Any]
Values = Callable[[Masked], Masked]


@dataclass(frozen=True, eq=False)
class Coding:
    """How the bands of a label raster become codes.

    Attributes:
        names: class names; class i has the code FIRST_CLASS + i.
        code_of: value to code; any other value is void.
        values: from (band, y, x) to (y, x) label values; masked where the raster says nothing.
        meaning: what `values` takes from the bands of a raster: itself, colours, or where it is not zero.
    """

    names: tuple[str, ...]
    code_of: Mapping[int, int]
    values: Values
    meaning: str = "values"

    def __reduce__(self) -> tuple[type[Coding], tuple[Any, ...]]:
        return Coding, (self.names, self.code_of, self.values, self.meaning)  # the same bytes whatever has been asked

    @property
    def dtype(self) -> type[np.unsignedinteger[Any]]:
        """The type of the codes: one byte where it can hold all of them."""
        return np.uint8 if FIRST_CLASS + len(self.names) <= 256 else np.uint16

    def codes(self, values: Masked) -> CodeImage:
        """(y, x) codes of label values."""
        mask = np.ma.getmask(values)
        if mask is np.ma.nomask or not mask.any():
            return self._coded(np.ascontiguousarray(values.data))
        codes = np.full(values.shape, VOID, dtype=self.dtype)
        known = ~mask
        if known.any():
            codes[known] = self._coded(values.data[known])
        return codes

    def between(self, values: Masked, first: int, last: int) -> BoolImage:
        """(y, x) bool: where the codes of label values lie between two, both included."""
        mask = np.ma.getmask(values)
        if values.dtype != np.uint8 or values.ndim != 2:
            codes = self.codes(values)
            return codes == first if first == last else np.asarray((codes >= first) & (codes <= last))
        found = _among(values.data, (self.of_bytes >= first) & (self.of_bytes <= last))
        if mask is not np.ma.nomask:
            found[mask] = first <= VOID <= last
        return found

    def _coded(self, data: NDArray[Any]) -> CodeImage:
        if data.dtype == np.uint8:
            return self._of_byte(data)
        present, places, _ = occurring(data.reshape(-1))
        codes = np.array([self.code_of.get(value, VOID) for value in present.tolist()], self.dtype)
        return np.asarray(codes[places].reshape(data.shape))

    def _of_byte(self, data: NDArray[Any]) -> CodeImage:
        if self.dtype is np.uint8 and data.ndim == 2:
            return np.asarray(cv2.LUT(data, self.of_bytes), dtype=np.uint8)  # ten times faster than indexing
        return np.asarray(self.of_bytes[data])

    def reads_bytes(self, values: Masked) -> bool:
        """Whether `of_bytes` says the codes of some label values: they are plain bytes, and none is masked."""
        return values.dtype == np.uint8 and values.ndim == 2 and np.ma.getmask(values) is np.ma.nomask

    @cached_property
    def of_bytes(self) -> CodeImage:
        """(256,) codes of the values of one byte."""
        return np.array([self.code_of.get(value, VOID) for value in range(256)], dtype=self.dtype)


def _among(data: NDArray[np.uint8], chosen: BoolImage) -> BoolImage:
    """(y, x) bool: which bytes are among those chosen of all 256."""
    members = np.flatnonzero(chosen).tolist()  # comparing bytes with an int64 takes eight times as long
    if 0 < len(members) <= MOST_COMPARED:
        found: BoolImage = data == members[0]
        for value in members[1:]:
            found |= data == value
        return found
    return np.asarray(cv2.LUT(np.ascontiguousarray(data), chosen.view(np.uint8))).view(bool)


def layer_coding(name: str) -> Coding:
    """Codes of a raster that is one class wherever it is valid and not zero."""
    return Coding((name,), {1: FIRST_CLASS}, lambda bands: (bands[0] != 0).astype(np.uint8), "not zero")


def legend_coding(raster: Raster, named: NamedValues) -> Coding:
    """Codes of a label raster under the legend in force.

    Raises:
        InputError: the legend names more classes than codes can hold.
    """
    legend = named.legend
    names = tuple(dict.fromkeys(name for _, name in sorted(legend.names.items())))
    if len(names) > MOST_CLASSES:
        raise InputError(f"{named.source} names {len(names)} classes. Next: name at most {MOST_CLASSES}.")
    code_of_name = {name: FIRST_CLASS + i for i, name in enumerate(names)}
    code_of = {value: code_of_name[name] for value, name in legend.names.items()}
    meaning = "colours" if named.coloured else "values"
    return Coding(names, code_of, lambda bands: _values(bands, raster, named), meaning)


def _values(bands: Masked, raster: Raster, named: NamedValues) -> Masked:
    """(y, x) label values, or colour codes where the legend names colours."""
    if not named.coloured:
        return whole_numbers(bands[0], raster.path.name)
    palette = raster.palette()
    if palette is None:
        red, green, blue = bands.astype(np.int64)
        return np.ma.MaskedArray(
            colour_code(red.data, green.data, blue.data), mask=np.ma.getmaskarray(bands).all(axis=0)
        )
    known = np.array(sorted(palette))
    colours = np.array([colour_code(*palette[value][:3]) for value in known.tolist()], dtype=np.int64)
    data = bands[0].filled(0)
    places = np.clip(np.searchsorted(known, data), 0, len(known) - 1)
    return np.ma.MaskedArray(colours[places], mask=np.ma.getmaskarray(bands[0]) | (known[places] != data))


class Census:
    """Counts the label values that a legend does not name."""

    def __init__(self, raster: Raster, named: NamedValues) -> None:
        self._raster, self._named = raster, named
        self._unnamed: Counter[int] = Counter()
        self._total = self._understood = 0

    def add(self, present: NDArray[Any], counts: NDArray[Any]) -> None:
        """Count some values, each as often as it occurs."""
        legend = self._named.legend
        for value, count in zip(present.tolist(), counts.tolist(), strict=True):
            self._total += count
            if value in legend.names or value in legend.void:
                self._understood += count
            else:
                self._unnamed[value] += count

    def warnings(self) -> tuple[str, ...]:
        """A sentence about the values that occurred without being named, if any.

        Raises:
            InputError: not one value that occurred is named.
        """
        if not self._unnamed:
            return ()
        by_number = sorted(self._unnamed, key=lambda value: (-self._unnamed[value], value))
        name, shown = self._raster.path.name, self._shown(by_number)
        if not self._understood:
            raise InputError(
                f"No value of {name} is named by {self._named.source}: it holds {shown}. "
                "Next: give the legend that belongs to these labels."
            )
        share = 100 * sum(self._unnamed.values()) / self._total
        return (f"{name} holds values that the legend does not name, taken as void: {shown} ({share:.2g} % of it).",)

    def _shown(self, values: Sequence[int]) -> str:
        return listed([f"#{value:06x}" for value in values] if self._named.coloured else [str(v) for v in values])


def listed(values: Sequence[str], most: int = SHOWN_VALUES) -> str:
    """The first few of many, for a sentence."""
    return ", ".join(values[:most]) + (f" and {len(values) - most:,} more" * (len(values) > most))


def tallied(values: Masked) -> tuple[NDArray[Any], NDArray[Any]]:
    """Label values that occur, and how often."""
    mask = np.ma.getmask(values)
    if values.data.dtype == np.uint8 and values.ndim == 2 and values.size <= MOST_COUNTED:
        counts = _bytes_counted(values.data, None if mask is np.ma.nomask else np.asarray(mask))
        present = np.flatnonzero(counts)
        return present, counts[present]
    data = values.data.reshape(-1) if mask is np.ma.nomask else values.compressed()
    if not len(data):
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    present, _, counts = occurring(data)
    return present, counts


def _bytes_counted(data: NDArray[np.uint8], mask: BoolImage | None) -> NDArray[np.int64]:
    """(256,) how often each byte occurs; the masked ones are left out."""
    few = None if mask is not None or not data.size else _few_counted(data)
    if few is not None:
        return few
    counted = None if mask is None else np.asarray(~mask, dtype=np.uint8)
    counts = cv2.calcHist([np.ascontiguousarray(data)], [0], counted, [256], [0, 256])
    return counts.reshape(-1).astype(np.int64)


def _few_counted(data: NDArray[np.uint8]) -> NDArray[np.int64] | None:
    """(256,) how often each byte occurs; None where there seem to be many."""
    likely = np.bincount(data[::SAMPLED, ::SAMPLED].reshape(-1), minlength=256)
    order = np.argsort(-likely, kind="stable")[: np.count_nonzero(likely)].tolist()  # int64 compares slowly
    if len(order) > COUNTED_BY_VALUE:
        return None
    counts, left = np.zeros(256, dtype=np.int64), data.size
    for value in _guessed(data, order):
        if not counts[value]:
            counts[value] = np.count_nonzero(data == value)
            left -= int(counts[value])
        if not left:
            return counts
    return None


def _guessed(data: NDArray[np.uint8], seen: list[int]) -> Iterator[int]:
    """Values to be tried: those seen, then what a rare one is likely to be."""
    yield from seen
    yield int(data.max())
    yield int(data.min())


def occurring(data: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Values that occur, the place of each item among them, and how often each occurs.

    For 8 and 16 bits a table replaces the sort of `np.unique`: 0.1 s instead of 1.5 s for 16 M pixels.
    """
    if data.dtype.itemsize > 2:
        return np.unique(data, return_inverse=True, return_counts=True)
    low = int(data.min())
    shifted = data.astype(np.int32) - low
    counts = np.bincount(shifted)
    present = np.flatnonzero(counts)
    position = np.zeros(len(counts), dtype=np.int32)
    position[present] = np.arange(len(present))
    return present + low, position[shifted], counts[present]


def whole_numbers(values: Masked, name: str) -> Masked:
    """Label values as integers.

    Raises:
        InputError: some value is not a whole number.
    """
    if values.dtype.kind in "iu":
        return values
    present = values.compressed()
    odd = present[(present != np.rint(present)) | (np.abs(present) > 2**53)]
    if odd.size:
        raise InputError(
            f"{name} holds {odd[0]:g}, but the values of a class raster are whole numbers. Next: give a class raster."
        )
    return np.ma.MaskedArray(values.filled(0).astype(np.int64), mask=np.ma.getmaskarray(values))
