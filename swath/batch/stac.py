"""STAC items as images: the raster among their assets, on this machine or on the network."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote, urljoin, urlsplit

from swath.errors import InputError
from swath.raster.remote import SECONDS, fetched, is_remote, known_as, shown

ENDINGS = frozenset({".json", ".geojson"})
MOST_BYTES = 2**26
GEOTIFF = ("image/tiff", "image/vnd.stac.geotiff")
"""How the media types of GeoTIFFs begin."""

SHOWN_KEYS = 12


def is_items(word: str) -> bool:
    """Whether a word names STAC items: a JSON file, or the address of one; "#" and the key of an asset may follow."""
    file = _split(word)[0]
    return PurePosixPath(urlsplit(file).path if is_remote(file) else file).suffix.lower() in ENDINGS


def rasters_of(word: str) -> Iterator[Path]:
    """The raster of each STAC item in a file: an item, or a collection of them as a search gives it.

    Args:
        word: a file or an address; `#KEY` behind it names the asset that is meant.

    Raises:
        InputError: it cannot be read, holds no STAC items, or does not tell which raster is meant.
    """
    place, key = _split(word)
    name = shown(known_as(place))
    text = _text(place, name)
    try:
        found = json.loads(text)
        items = found["features"] if found["type"] == "FeatureCollection" else [found]
        if found["type"] not in ("Feature", "FeatureCollection") or not all("assets" in item for item in items):
            raise ValueError("no items")
    except (ValueError, KeyError, TypeError):
        raise InputError(
            f"{name} holds no STAC items. Next: name an item, or a collection of items as a search gives it."
        ) from None
    for item in items:
        yield _raster(item, place, key, name)


def _split(word: str) -> tuple[str, str | None]:
    place, mark, key = word.partition("#")
    return place, key if mark else None


def _text(place: str, name: str) -> bytes:
    if is_remote(place):
        known_as(place)
        found = fetched(place, MOST_BYTES)
        if found is None:
            raise InputError(
                f"{name} cannot be fetched: it is not there, may not be read, is larger than {MOST_BYTES:,} bytes, or "
                f"its server was silent for {SECONDS} s. Next: check the address and its credentials."
            )
        return found
    try:
        if Path(place).exists() and not Path(place).is_file():
            raise InputError(f"{name} is no regular file. Next: name a STAC item.")
        return Path(place).read_bytes()
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise InputError(f"The STAC item {name} cannot be read: {why}. Next: check the path.") from None


def _raster(item: Mapping[str, Any], place: str, key: str | None, name: str) -> Path:
    who = f"The STAC item {str(item.get('id'))[:80]} of {name}"
    assets = {str(own): asset for own, asset in dict(item["assets"]).items() if _is_raster(asset)}
    chosen = _chosen(assets) if key is None else {key: assets[key]} if key in assets else {}
    if len(chosen) != 1:
        keys = ", ".join(list(assets)[:SHOWN_KEYS]) or "none"
        wanted = f'has no GeoTIFF "{key}"' if key is not None else f"has {len(chosen) or 'no'} GeoTIFFs"
        raise InputError(f"{who} {wanted} (there are: {keys}). Next: name one, as in item.json#KEY.")
    return _located(str(next(iter(chosen.values()))["href"]), place, who)


def _is_raster(asset: Any) -> bool:
    if not isinstance(asset, Mapping) or not isinstance(asset.get("href"), str):
        return False
    ending = PurePosixPath(urlsplit(asset["href"]).path).suffix.lower()
    return str(asset.get("type", "")).lower().startswith(GEOTIFF) or (
        "type" not in asset and ending in (".tif", ".tiff")
    )


def _chosen(assets: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Those with the role of data where any has it, else those that are no thumbnails, overviews or metadata."""
    roles = {key: {str(role) for role in asset.get("roles") or ()} for key, asset in assets.items()}
    data = {key for key in assets if "data" in roles[key]}
    aside = {"thumbnail", "overview", "metadata", "cloud", "water-mask", "snow-ice"}
    return {key: asset for key, asset in assets.items() if (key in data if data else not roles[key] & aside)}


def _located(href: str, place: str, who: str) -> Path:
    """Where an asset is; what lies on the network names nothing of this machine."""
    if is_remote(place):
        whole = urljoin(str(_with_slashes(place)), href)
        if not is_remote(whole):
            raise InputError(f"{who} names {href[:80]}, which does not lie on the network as the item does.")
        return known_as(whole)
    if is_remote(href):
        return known_as(href)
    file = unquote(urlsplit(href).path) if href.startswith("file:") else href
    return Path(place).parent / file


def _with_slashes(place: str) -> str:
    return shown(place) if "://" not in place else place
