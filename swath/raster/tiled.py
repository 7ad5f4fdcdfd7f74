"""Sets of pixels of images that are too large for one array: compressed tiles that are computed when they are needed.

`TiledPixels` stands where a (rows, columns) bool array would: it has its shape, its `&`, `|` and `~`, and gives windows
of it as arrays. Whatever goes window by window takes both; what wants the whole array is refused. See design/scale.md.
"""

from __future__ import annotations

import itertools
import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from swath.raster.held import Tiles, refuse_whole
from swath.raster.parallel import handed_on, mapped, threaded
from swath.raster.stretches import Stretches, in_full, one_after_another
from swath.raster.tile_file import Kept, TileFile

BoolImage = NDArray[np.bool_]
Compute = Callable[[slice, slice], "BoolImage | bool"]
RunsOf = Callable[[slice], "Stretches | None"]


@dataclass(frozen=True)
class Made:
    """A tile that was computed: how many of its pixels are in the set, and their bits unless they are all alike."""

    count: int
    bits: NDArray[np.uint8] | None


class TiledPixels:
    """A set of pixels in tiles.

    Each tile is computed once, when somebody first asks for it, and then kept: as one truth value where its pixels are
    all alike, else packed. Thread-safe; a tile that two threads want at once may be computed twice.

    Attributes:
        shape: (rows, columns) of the image.
        tiles: rows and columns of a tile.
    """

    __array_ufunc__ = None  # so that NumPy leaves `array & tiled` to this class
    base = None
    ndim = 2
    dtype = np.dtype(bool)

    def __init__(
        self,
        shape: tuple[int, int],
        compute: Compute,
        tiles: tuple[int, int],
        file: TileFile,
        runs_of: RunsOf | None = None,
    ) -> None:
        """Begin with no tile known.

        Args:
            shape: (rows, columns) of the image.
            compute: from rows and columns to the pixels there, or one truth value for all of them.
            tiles: rows and columns of a tile.
            file: where tiles are kept.
            runs_of: from the rows of a row of tiles to its runs of pixels; None where it cannot say.
        """
        self.shape, self.tiles = shape, tiles
        self._compute: Compute | None = compute
        self._recipe = compute if handed_on() else None
        self._runs_of = runs_of
        self._file = file
        self._known: dict[tuple[int, int], bool | Kept] = {}
        self._counts: dict[tuple[int, int], int] = {}
        self._given: dict[tuple[int, int], int] | None = None
        self._across = tuple(-(-size // side) for size, side in zip(shape, tiles, strict=True))

    def __reduce__(self) -> tuple[Any, ...]:
        """How it is computed, not what has been: the same bytes whenever it is asked, and few of them."""
        if self._recipe is None:
            raise pickle.PicklingError("a set of pixels that was made for this process alone")
        return _again, (self.shape, self._recipe, self.tiles, self._file, self._given)

    @property
    def size(self) -> int:
        """Number of pixels of the image."""
        return self.shape[0] * self.shape[1]

    @property
    def nbytes(self) -> int:
        """Memory and disk that the tiles take."""
        return sum(known.length if isinstance(known, Kept) else 1 for known in list(self._known.values()))

    def derived(self, compute: Compute, runs_of: RunsOf | None = None) -> TiledPixels:
        """Another set of pixels of the same image."""
        return TiledPixels(self.shape, compute, self.tiles, self._file, runs_of)

    def runs(self, rows: slice) -> Stretches | None:
        """The runs of pixels of some rows where they are known without the pixels; None where they are not.

        Args:
            rows: of the image, any.
        """
        found = []
        for k in range(rows.start // self.tiles[0], -(-rows.stop // self.tiles[0])):
            part = self._row_of_tiles(k)
            if part is None:
                return None
            found.append(part.within(rows, self.shape[1]))
        return one_after_another(found)

    def _row_of_tiles(self, k: int) -> Stretches | None:
        values = {self._known.get((k, col)) for col in range(self._across[1])}
        rows = self._slices((k, 0))[0]
        if values in ({True}, {False}):
            return in_full(rows if values == {True} else slice(rows.stop, rows.stop), self.shape[1])
        return None if self._runs_of is None else self._runs_of(rows)

    def counted(self, counts: Mapping[tuple[int, int], int]) -> TiledPixels:
        """The same set, knowing how many pixels of each tile are in it; a tile of all or none is not computed.

        Args:
            counts: by the first row and the first column of each tile.
        """
        self._given = dict(counts)
        for key in np.ndindex(self._across):
            rows, cols = self._slices(key)
            count = self._counts[key] = counts[rows.start, cols.start]
            if count in (0, _area((rows, cols))):
                self._known[key] = count > 0
        self._forget_when_done()
        return self

    def tile(self, row: int, col: int) -> BoolImage | bool:
        """One tile: its pixels, or the truth value that all of them have."""
        key = (row, col)
        if key not in self._known:
            return self._made(key)
        known = self._known[key]
        return self._file.get(known, self._shape_of(key)) if isinstance(known, Kept) else known

    def _made(self, key: tuple[int, int]) -> BoolImage | bool:
        compute = self._compute
        if compute is None:  # another thread has just completed the set
            return self.tile(*key)
        made = compute(*self._slices(key))
        count = self._count_in(key, made)
        if count in (0, _area(self._slices(key))):
            made = count > 0
        if not isinstance(made, bool) and made.base is not None:
            made = made.copy()  # a part of something larger would keep all of it
        self._counts[key] = count
        self._known[key] = made if isinstance(made, bool) else self._file.put(made)
        self._forget_when_done()
        return made

    def _count_in(self, key: tuple[int, int], made: BoolImage | bool) -> int:
        return int(made) * _area(self._slices(key)) if isinstance(made, bool) else int(np.count_nonzero(made))

    def _computed(self, key: tuple[int, int]) -> Made:
        """A tile for whoever keeps it."""
        made = self.tile(*key)
        count = self._count_in(key, made)
        alike = isinstance(made, bool) or count in (0, _area(self._slices(key)))
        return Made(count, None if alike or isinstance(made, bool) else np.packbits(made))

    def _complete(self, missing: Sequence[tuple[int, int]]) -> None:
        """Have tiles computed by whoever the passes of this context are handed to."""
        for key, made in zip(missing, mapped(self._computed, missing), strict=True):
            self._counts[key] = made.count
            if key in self._known:  # a thread of this process has worked on it
                continue
            self._known[key] = made.count > 0 if made.bits is None else self._file.put_bits(made.bits)
        self._forget_when_done()

    def _forget_when_done(self) -> None:
        """What the set is computed from may go once every tile is known."""
        if len(self._known) == self._across[0] * self._across[1]:
            self._compute = None

    def _slices(self, key: tuple[int, int]) -> tuple[slice, slice]:
        rows, cols = (
            slice(k * side, min((k + 1) * side, size))
            for k, side, size in zip(key, self.tiles, self.shape, strict=True)
        )
        return rows, cols

    def parts(self) -> Iterator[tuple[slice, slice]]:
        """Rows and columns of each tile."""
        return map(self._slices, np.ndindex(self._across))

    def _shape_of(self, key: tuple[int, int]) -> tuple[int, int]:
        rows, cols = self._slices(key)
        return rows.stop - rows.start, cols.stop - cols.start

    def _keys(self, rows: slice, cols: slice) -> Iterator[tuple[int, int]]:
        """The tiles that a window reaches into."""
        down, across = (
            range(part.start // side, -(-part.stop // side))
            for part, side in zip((rows, cols), self.tiles, strict=True)
        )
        return itertools.product(down, across)

    def counts(self) -> Iterator[tuple[tuple[slice, slice], int]]:
        """Rows and columns of each tile, and how many of its pixels are in the set."""
        keys = list(np.ndindex(self._across))
        unknown = [key for key in keys if key not in self._counts]
        if handed_on() and self._recipe is not None:
            self._complete(unknown)
            unknown = []
        found, missing = mapped(self._count_of, unknown), set(unknown)
        yield from ((self._slices(key), next(found) if key in missing else self._counts[key]) for key in keys)

    def _count_of(self, key: tuple[int, int]) -> int:
        if key not in self._counts:
            self.tile(*key)
        return self._counts[key]

    def tiled_parts(self) -> Iterator[tuple[slice, slice, BoolImage]]:
        """Rows, columns and pixels of the tiles in which any pixel is in the set, from top to bottom."""
        keys = list(np.ndindex(self._across))
        if handed_on() and self._recipe is not None:
            self._complete([key for key in keys if key not in self._known])
        for key, tile in zip(keys, threaded(lambda key: self.tile(*key), keys), strict=True):
            if tile is not False:
                rows, cols = self._slices(key)
                yield rows, cols, np.ones(self._shape_of(key), dtype=bool) if tile is True else tile

    def sum(self) -> int:
        """Number of pixels in the set."""
        return sum(count for _, count in self.counts())

    def any(self) -> bool:
        """Whether any pixel is in the set."""
        return any(list(self._counts.values())) or any(count for _, count in self.counts())

    def all(self) -> bool:
        """Whether every pixel is in the set."""
        return all(count == _area(part) for part, count in self.counts())

    def copy(self) -> TiledPixels:
        """The same set: nothing changes it."""
        return self

    def alike(self, rows: slice, cols: slice) -> bool | None:
        """The truth value that all pixels of a window have; None where they differ, or the tiles under it do."""
        values = {tile if isinstance(tile, bool) else None for tile in (self.tile(*k) for k in self._keys(rows, cols))}
        return values.pop() if len(values) == 1 else None

    def window(self, rows: slice, cols: slice) -> BoolImage:
        """(rows, columns) bool of a window inside the image; it may be read-only."""
        keys = list(self._keys(rows, cols))
        if len(keys) == 1:
            own, tile = self._slices(keys[0]), self.tile(*keys[0])
            if not isinstance(tile, bool):
                return tile[_moved(rows, own[0].start), _moved(cols, own[1].start)]
        window = np.zeros((rows.stop - rows.start, cols.stop - cols.start), dtype=bool)
        for key in keys:
            tile, own = self.tile(*key), self._slices(key)
            both = [slice(max(a.start, b.start), min(a.stop, b.stop)) for a, b in zip((rows, cols), own, strict=True)]
            if tile is not False:
                inside = tuple(_moved(part, first.start) for part, first in zip(both, own, strict=True))
                into = tuple(_moved(part, first.start) for part, first in zip(both, (rows, cols), strict=True))
                window[into] = True if tile is True else tile[inside]
        return window

    def __getitem__(self, key: Any) -> Any:
        """A window as an array, whole or every so many rows and columns; or pixels given by their rows and columns."""
        parts = key if isinstance(key, tuple) else (key, slice(None))
        if all(isinstance(part, slice) for part in parts):
            (top, bottom, down), (left, right, across) = (
                part.indices(size) for part, size in zip(parts, self.shape, strict=True)
            )
            cols = slice(left, right)
            if down == 1:
                return self.window(slice(top, bottom), cols)[:, ::across]
            picked = [self.window(slice(row, row + 1), cols)[0, ::across] for row in range(top, bottom, down)]
            return np.stack(picked)
        return self._points(*(np.asarray(part) for part in parts))

    def _points(self, rows: NDArray[Any], cols: NDArray[Any]) -> BoolImage:
        tile_of = rows // self.tiles[0] * self._across[1] + cols // self.tiles[1]
        order = np.argsort(tile_of, kind="stable")
        found = np.zeros(len(rows), dtype=bool)
        for own in np.split(order, np.flatnonzero(np.diff(tile_of[order])) + 1):
            if not len(own):
                continue
            key = divmod(int(tile_of[own[0]]), self._across[1])
            tile, part = self.tile(*key), self._slices(key)
            found[own] = tile if isinstance(tile, bool) else tile[rows[own] - part[0].start, cols[own] - part[1].start]
        return found

    def __and__(self, other: PixelSet) -> TiledPixels:
        if isinstance(other, TiledPixels) and other.complete:
            return self
        if self.complete and isinstance(other, TiledPixels):
            return other
        return self._joined(other, absorbing=False)

    __rand__ = __and__

    def __or__(self, other: PixelSet) -> TiledPixels:
        return self._joined(other, absorbing=True)

    __ror__ = __or__

    def __invert__(self) -> TiledPixels:
        def compute(rows: slice, cols: slice) -> BoolImage | bool:
            own = self.part(rows, cols)
            return not own if isinstance(own, bool) else ~own

        return self.derived(compute)

    @property
    def complete(self) -> bool:
        """Whether it is known already that every pixel is in the set."""
        return self._compute is None and all(known is True for known in self._known.values())

    def part(self, rows: slice, cols: slice) -> BoolImage | bool:
        """A window: its pixels, or the truth value that all of them have."""
        alike = self.alike(rows, cols)
        return self.window(rows, cols) if alike is None else alike

    def _joined(self, other: PixelSet, *, absorbing: bool) -> TiledPixels:
        """The union where `absorbing`, else the intersection: the other side of an absorbing tile is not asked."""

        def compute(rows: slice, cols: slice) -> BoolImage | bool:
            own = self.part(rows, cols)
            if isinstance(own, bool):
                return own if own is absorbing else part_of(other, rows, cols)
            its = part_of(other, rows, cols)
            if isinstance(its, bool):
                return its if its is absorbing else own
            return own | its if absorbing else own & its

        return self.derived(compute)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> BoolImage:
        refuse_whole(self.shape)

    def __iter__(self) -> Iterator[Any]:
        refuse_whole(self.shape)

    def __getattr__(self, name: str) -> Any:
        if hasattr(np.ndarray, name):
            refuse_whole(self.shape)
        raise AttributeError(name)


PixelSet: TypeAlias = "BoolImage | TiledPixels"
"""A set of pixels of an image, as an array or in tiles."""


def tiled(shape: tuple[int, int], tiles: Tiles, compute: Compute) -> TiledPixels:
    """A set of pixels in tiles of a file of their own."""
    return TiledPixels(shape, compute, tiles.shape, TileFile())


def everywhere(shape: tuple[int, int], tiles: Tiles) -> TiledPixels:
    """All pixels of an image, in tiles; that they are all is known at once."""
    found = tiled(shape, tiles, lambda rows, cols: True)
    return found.counted({(part[0].start, part[1].start): _area(part) for part in found.parts()})


def part_of(pixels: PixelSet, rows: slice, cols: slice) -> BoolImage | bool:
    """A window of a set; one truth value where it is known that all pixels have it."""
    return pixels.part(rows, cols) if isinstance(pixels, TiledPixels) else pixels[rows, cols]


def _again(
    shape: tuple[int, int],
    compute: Compute,
    tiles: tuple[int, int],
    file: TileFile,
    given: Mapping[tuple[int, int], int] | None,
) -> TiledPixels:
    """A set of pixels in another process."""
    made = TiledPixels(shape, compute, tiles, file)
    return made if given is None else made.counted(given)


def _area(part: tuple[slice, slice]) -> int:
    rows, cols = part
    return int((rows.stop - rows.start) * (cols.stop - cols.start))


def _moved(part: slice, first: int) -> slice:
    return slice(part.start - first, part.stop - first)
