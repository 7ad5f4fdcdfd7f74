"""Several sources of classes as one: each class from its own source, or the class that scores highest in any.

A file in TOML says which, and the run records it:

    fuse = "class"                              fuse = "score"
    [classes]                                   members = ["landcover", "onnx:mine.toml"]
    building = "onnx:mine.toml"
    water = "spectral"
"""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property, reduce
from operator import and_
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swath.errors import InputError
from swath.raster.fields import TiledField
from swath.raster.reader import Raster
from swath.raster.tiled import PixelSet
from swath.segment.protocol import Segmentation, SegmentOptions, unknown_class
from swath.segment.registry import AUTO, is_backend, open_backend
from swath.segment.tiling import strips
from swath.segment.vocabulary import canonical

FloatImage = NDArray[np.float32]
MOST_MEMBERS = 16
USED = np.float32(0.5)
"""Where a class wins over its strongest rival."""
HOW = 'fuse = "class" with [classes], or fuse = "score" with members'


class Ensemble:
    """Sources that a file names, each opened once."""

    name = "ensemble"

    def __init__(self, raster: Raster, options: SegmentOptions) -> None:
        """Read the file and open the sources.

        Raises:
            InputError: no file is given, or it cannot be used.
            Refused: a source has nothing to say about this image.
        """
        if options.card is None:
            raise InputError(
                "The segmenter ensemble needs a file. Next: name it, as in --segmenter ensemble:FILE.toml."
            )
        self._raster, self._path = raster, options.card
        self._sha256, table = _read(options.card)
        try:
            self._fuse, self._by_class, names = _checked(table)
        except (KeyError, TypeError, ValueError) as why:
            missing = f"it lacks {why}" if isinstance(why, KeyError) else str(why)
            raise InputError(f"{options.card} describes no ensemble: {missing}. Next: write {HOW}.") from None
        bare = replace(options, card=None, address=None)
        self._members = {name: open_backend(_placed(name, options.card), raster, bare) for name in names}
        self._check_classes()

    def classes(self) -> tuple[str, ...]:
        """Those that the file names, or all that any source knows."""
        return tuple(self._by_class) if self._fuse == "class" else tuple(self._voices)

    def known(self) -> PixelSet | None:
        """Where every source says something."""
        known = [found for found in (member.known() for member in self._members.values()) if found is not None]
        return reduce(and_, known) if known else None

    def segment(self, class_name: str) -> Segmentation:
        """The pixels of a class.

        Raises:
            Refused: the class is not one of `classes()`.
        """
        if class_name not in self.classes():
            raise unknown_class(class_name, self)
        if self._fuse == "score":
            return self._fused(class_name)
        member = self._by_class[class_name]
        found = self._members[member].segment(self._own_name(class_name))
        return replace(found, method=f"{class_name} by {member}: {found.method}")

    def describe(self) -> dict[str, Any]:
        """JSON-ready record: how the sources are fused, and what each says of itself."""
        return {
            "name": self.name,
            "path": str(self._path),
            "sha256": self._sha256,
            "fuse": self._fuse,
            "classes": self._by_class if self._fuse == "class" else list(self._voices),
            "members": {name: member.describe() for name, member in self._members.items()},
        }

    def _own_name(self, class_name: str) -> str:
        """What the source of a class calls it."""
        return canonical(class_name, self._members[self._by_class[class_name]].classes()) or class_name

    def _check_classes(self) -> None:
        for class_name, member in self._by_class.items():
            known = self._members[member].classes()
            if canonical(class_name, known) is None:
                raise InputError(
                    f'{self._path}: {member} knows no class "{class_name}", only {", ".join(known) or "none"}. '
                    "Next: name one of these."
                )

    @cached_property
    def _voices(self) -> Mapping[str, list[tuple[str, str]]]:
        """Class to the sources that know it, each with its own name for it; the first source's name is taken."""
        found: dict[str, list[tuple[str, str]]] = {}
        for name, member in self._members.items():
            for own in member.classes():
                found.setdefault(canonical(own, tuple(found)) or own, []).append((name, own))
        return found

    @cached_property
    def _found(self) -> Mapping[tuple[str, str], Segmentation]:
        """What every source finds, computed once."""
        return {
            voice: self._members[voice[0]].segment(voice[1]) for voices in self._voices.values() for voice in voices
        }

    def _fused(self, class_name: str) -> Segmentation:
        """A class where its highest score in any source is above every other class's highest."""
        score = self._scores(class_name)
        mine_found = [self._found[voice] for voice in self._voices[class_name]]
        bounds = [found.thresholds for found in mine_found if found.thresholds is not None]
        doubt = (max([0.5, *(bound[0] for bound in bounds)]), 0.5, min([0.5, *(bound[2] for bound in bounds)]))
        said = dict.fromkeys(sentence for found in mine_found for sentence in found.warnings)
        sources = " and ".join(dict.fromkeys(name for name, _ in self._voices[class_name]))
        return Segmentation(
            score >= USED,
            score,
            doubt if doubt[0] > doubt[2] else None,
            method=f"{class_name} where it scores highest in any of {', '.join(self._members)} (known to {sources})",
            warnings=tuple(said),
        )

    def _scores(self, class_name: str) -> FloatImage | TiledField:
        shape, found = self._raster.shape, self._found

        def window(*part: slice) -> FloatImage:
            best = {name: _best([found[voice] for voice in voices], part) for name, voices in self._voices.items()}
            mine = best.pop(class_name)
            rival = reduce(np.maximum, best.values()) if best else 1 - mine
            total = mine + rival
            share: FloatImage = np.divide(mine, total, out=np.zeros_like(mine), where=total > 0)
            return share

        if self._raster.in_tiles:
            return TiledField(shape, self._raster.tiles, window)
        return np.concatenate([window(rows, slice(0, shape[1])) for rows in strips(*shape)])


def _best(found: Sequence[Segmentation], part: tuple[slice, ...]) -> FloatImage:
    """The highest score of a class in any source; a source without scores says 0 or 1."""
    values = [
        np.asarray(one.mask[part], np.float32) if one.score is None else np.nan_to_num(one.score[part]) for one in found
    ]
    best: FloatImage = reduce(np.maximum, values)
    return best


def _read(path: Path) -> tuple[str, dict[str, Any]]:
    try:
        data = path.read_bytes()
        return hashlib.sha256(data).hexdigest(), tomllib.loads(data.decode("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as why:
        raise InputError(f"{path} cannot be read as TOML ({why}). Next: see docs/models.md for an ensemble.") from None


def _checked(table: Mapping[str, Any]) -> tuple[str, dict[str, str], list[str]]:
    """How to fuse, the source of each class, and the sources."""
    fuse = table["fuse"]
    if fuse not in ("class", "score"):
        raise ValueError(f'fuse is "class" or "score", not {str(fuse)[:40]!r}')
    by_class = (
        {" ".join(name.lower().split()): source for name, source in table["classes"].items()} if fuse == "class" else {}
    )
    names = list(dict.fromkeys(by_class.values() if fuse == "class" else table["members"]))
    if not 1 <= len(names) <= MOST_MEMBERS or not all(isinstance(name, str) for name in names):
        raise ValueError(f"it names no 1 to {MOST_MEMBERS} segmenters")
    wrong = [name for name in names if not is_backend(name) or name.partition(":")[0] in (Ensemble.name, AUTO)]
    if wrong:
        raise ValueError(f'"{wrong[0]}" is no segmenter that an ensemble can hold')
    return fuse, by_class, names


def _placed(name: str, path: Path) -> str:
    """A source with its file beside the ensemble's own, where it lies there."""
    kind, _, file = name.partition(":")
    beside = path.parent / file
    return f"{kind}:{beside}" if file and beside.exists() else name
