"""Rasters on the network that a person names: read window by window through GDAL, credentials kept to this process.

Opened are GeoTIFFs by an address that was typed: `https://`, `s3://`, `gs://`, `az://`, or GDAL's `/vsicurl/` and
`/vsis3/` before it. Nothing else is, neither beside them nor out of them. What an address holds of credentials (a user
before the host, signatures behind "?") never leaves `_typed`: everything else, what is recorded and said included,
knows a raster by the rest. Keys of clouds are GDAL's own affair: it takes them from the environment.
"""

from __future__ import annotations

import base64
import hashlib
import http.client
import os
import re
import urllib.request
from collections.abc import Iterable, Mapping
from pathlib import Path
from urllib.error import URLError
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

SECONDS = 30
"""How long a server may be silent."""

TRIES = 4
SECONDS_BETWEEN = 0.5
"""After the first failure; GDAL doubles it each time."""

SIGNING = re.compile(
    r"x-(amz|goog|ms|oss)-.*|awsaccesskeyid|googleaccessid|ossaccesskeyid|signature|expires|key-pair-id|policy"
    r"|s(ig|v|t|e|r|p|pr|s|rt|ip|koid|ktid|kt|ke|ks|kv)"
    r"|(access_?|auth_?|sas_?)?token|auth|(api_?|subscription-?)?key|password|secret",
    re.IGNORECASE,
)
"""Parameters that say who may read, not what."""

_ADDRESS = re.compile(r"(?:/vsicurl/)?(https?|s3|gs|az):/+([^/].*)|/vsi(s3|gs|az)/([^/].*)", re.IGNORECASE | re.DOTALL)
_typed: dict[str, str] = {}
"""From the name of a raster to the address that was typed."""


def is_remote(name: str | Path) -> bool:
    """Whether a name is an address that swath reads from; a file of this machine of that name comes first."""
    return _ADDRESS.fullmatch(str(name)) is not None and not os.path.lexists(name)


def known_as(name: str | Path) -> Path:
    """The name by which everybody knows a raster: an address without credentials, any other name as it is.

    Args:
        name: as typed; a `Path` has lost one slash of two, which does not matter.
    """
    found = _ADDRESS.fullmatch(str(name))
    if found is None or os.path.lexists(name):
        return Path(name)
    scheme, rest = (found[1] or found[3]).lower(), found[2] or found[4]
    if scheme not in ("http", "https"):
        return Path(f"{scheme}:/{rest}")
    parts = urlsplit(f"{scheme}://{rest}")
    kept = [pair for pair in parse_qsl(parts.query, keep_blank_values=True) if not SIGNING.fullmatch(pair[0])]
    place = f"{scheme}:/{parts.netloc.rpartition('@')[2]}{parts.path}" + (f"?{urlencode(kept)}" if kept else "")
    typed = f"{scheme}://{parts.netloc}{parts.path}" + (f"?{parts.query}" if parts.query else "")
    if typed.replace("://", ":/", 1) != place:
        _typed[place] = typed
    return Path(place)


def credentials_of(names: Iterable[str | Path]) -> dict[str, str]:
    """What another process has to know to read some rasters; never written anywhere."""
    return {str(name): _typed[str(name)] for name in names if str(name) in _typed}


def know(credentials: Mapping[str, str]) -> None:
    """Take over what `credentials_of` gave."""
    _typed.update(credentials)


def shown(name: str | Path) -> str:
    """A name for people, both slashes included."""
    return re.sub(r"^([a-z0-9]+):/(?!/)", r"\1://", str(name)) if is_remote(name) else str(name)


def gdal_name(name: str | Path) -> str:
    """What GDAL opens; it may hold credentials."""
    address = _address(name)
    scheme, _, rest = address.partition("://")
    return f"/vsicurl/{address}" if scheme in ("http", "https") else f"/vsi{scheme}/{rest}"


def _address(name: str | Path) -> str:
    place = str(known_as(name))
    return _typed.get(place) or place.replace(":/", "://", 1)


def network_options(name: str | Path, *, anew: bool = False) -> dict[str, str]:
    """GDAL with the network open for one file alone.

    Args:
        name: of a raster.
        anew: whether to forget what has been read of it, which may have changed, once it is closed again.
    """
    return {
        "CPL_VSIL_CURL_ALLOWED_FILENAME": gdal_name(name),
        "CPL_VSIL_CURL_NON_CACHED": gdal_name(name) if anew else "",
        "GDAL_DISABLE_READDIR_ON_OPEN": "EMPTY_DIR",
        "GDAL_HTTP_PROXY": _proxy("http"),
        "GDAL_HTTPS_PROXY": _proxy("https"),
        "GDAL_HTTP_CONNECTTIMEOUT": str(max(SECONDS // 3, 1)),
        "GDAL_HTTP_TIMEOUT": str(SECONDS),
        "GDAL_HTTP_MAX_RETRY": str(TRIES - 1),
        "GDAL_HTTP_RETRY_DELAY": str(SECONDS_BETWEEN),
        "GDAL_HTTP_MERGE_CONSECUTIVE_RANGES": "YES",
    }


def _proxy(scheme: str) -> str:
    """That of whoever runs this, in place of the one that shuts the network elsewhere."""
    return os.environ.get(f"GDAL_{scheme.upper()}_PROXY") or urllib.request.getproxies().get(scheme, "")


def fetched(name: str | Path, most_bytes: int) -> bytes | None:
    """A small file over http, None where it cannot be had or is larger than that."""
    request = _request(name)
    try:
        with urllib.request.urlopen(request, timeout=SECONDS) as reply:  # noqa: S310 - http and https alone
            found: bytes = reply.read(most_bytes + 1)
    except (URLError, OSError, http.client.HTTPException, ValueError):
        return None
    return found if len(found) <= most_bytes else None


def remote_stamp(name: str | Path) -> list[int]:
    """Size and a number for the state of a raster as its server tells them; zeros where it does not."""
    if not str(name).startswith("http"):
        return [0, 0]
    request = _request(name)
    request.add_header("Range", "bytes=0-0")
    try:
        with urllib.request.urlopen(request, timeout=SECONDS) as reply:  # noqa: S310 - http and https alone
            size = str(reply.headers.get("Content-Range", "")).rpartition("/")[2] or reply.headers.get("Content-Length")
            state = f"{reply.headers.get('ETag')} {reply.headers.get('Last-Modified')}"
    except (URLError, OSError, http.client.HTTPException, ValueError):
        return [0, 0]
    digest = hashlib.sha256(state.encode()).digest()
    return [int(size) if str(size).isdecimal() else 0, int.from_bytes(digest[:6], "big")]


def _request(name: str | Path) -> urllib.request.Request:
    parts = urlsplit(_address(name))
    user, _, host = parts.netloc.rpartition("@")
    place = parts._replace(netloc=host, path=quote(parts.path, safe="/%:@!$&'()*+,;=~"), fragment="").geturl()
    headers = {"User-Agent": "swath"}
    if user:
        headers["Authorization"] = "Basic " + base64.b64encode(unquote(user).encode()).decode()
    return urllib.request.Request(place, headers=headers)  # noqa: S310 - http and https alone
