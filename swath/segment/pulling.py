"""Fetching the weights of known models: only when asked, checked by their sha256, going on where a connection broke."""

from __future__ import annotations

import hashlib
import http.client
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from swath.errors import InputError, SwathError

CHUNK = 2**20
ATTEMPTS = 5
"""Connections that bring nothing new, one after the other, after which it is given up for now."""
LARGEST_BYTES = 8 * 2**30
TIMEOUT_S = 60.0
Progress = Callable[[int, int | None], None]


@dataclass(frozen=True)
class Known:
    """A file of weights whose content is known.

    Attributes:
        file: its official name.
        url: where its authors publish it.
        sha256: of its content.
        bytes: how many it has.
        use: how it is then used.
        licence: under which its authors publish it.
    """

    file: str
    url: str
    sha256: str
    bytes: int
    use: str = "--segmenter landcover+sam"
    licence: str = "Apache-2.0"


_SAM = "https://dl.fbaipublicfiles.com/segment_anything/"
KNOWN = {
    # Many projects that use these files state the same sha256. The digits in their names begin their MD5.
    "sam-vit-b": Known(
        "sam_vit_b_01ec64.pth",
        _SAM + "sam_vit_b_01ec64.pth",
        "ec2df62732614e57411cdcf32a23ffdf28910380d03139ee0f4fcbe91eb8c912",
        375_042_383,
    ),
    "sam-vit-l": Known(
        "sam_vit_l_0b3195.pth",
        _SAM + "sam_vit_l_0b3195.pth",
        "3adcc4315b642a4d2101128f611684e8734c41232a17c648ed1693702a49a622",
        1_249_524_607,
    ),
    "sam-vit-h": Known(
        "sam_vit_h_4b8939.pth",
        _SAM + "sam_vit_h_4b8939.pth",
        "a7bf3b02f3ebf1267aba913ff637d9a2d5c33d3173bb679e46d9f338c26f262e",
        2_564_550_879,
    ),
}
"""Names that `swath models pull` takes."""


def known(name: str) -> Known:
    """A known file by name.

    Raises:
        InputError: there is none of that name.
    """
    if name not in KNOWN:
        raise InputError(f'There is no model "{name[:80]}" to pull. Next: use one of {", ".join(KNOWN)}.')
    return KNOWN[name]


def pull(wanted: Known, folder: Path, progress: Progress | None = None, url: str | None = None) -> Path:
    """Fetch a file of weights, unless it is there already.

    Args:
        wanted: what to fetch.
        folder: where it goes; what has come so far lies there as `FILE.part`.
        progress: told how many bytes of how many (None where the server does not say) are there.
        url: another place that has the same file.

    Returns:
        The file.

    Raises:
        InputError: the address is none, the folder cannot be written, or what lies there or came is another file.
        SwathError: the server cannot be reached or broke off; the part that came is kept.
    """
    path, part = folder / wanted.file, folder / f"{wanted.file}.part"
    try:
        if path.exists():
            _check(path, wanted, "lies there already")
            return path
        folder.mkdir(parents=True, exist_ok=True)
        _fetch(url or wanted.url, part, progress)
        try:
            _check(part, wanted, "came")
        except InputError:
            part.unlink()
            raise
        part.replace(path)
    except OSError as why:
        raise InputError(f"{path} cannot be written ({why.strerror or why}). Next: set SWATH_MODELS.") from None
    return path


def _check(path: Path, wanted: Known, how: str) -> None:
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != wanted.sha256:
        raise InputError(
            f"What {how} as {path} is not {wanted.file}: its sha256 begins with {found[:12]}, "
            f"not {wanted.sha256[:12]}. Next: remove it and pull again."
        )


def _fetch(url: str, part: Path, progress: Progress | None) -> None:
    if not url.startswith(("https://", "http://")):
        raise InputError(f"{url[:200]} is no http address. Next: give one that begins with https://.")
    failures, why, had = 0, "", -1
    while failures < ATTEMPTS:
        size = part.stat().st_size if part.exists() else 0
        failures = 0 if size > had else failures + 1
        had = max(had, size)
        try:
            if _more(url, part, size, progress):
                return
            why = "it broke off"
        except (OSError, http.client.HTTPException) as error:
            if isinstance(error, OSError) and not isinstance(
                error, urllib.error.URLError | TimeoutError | ConnectionError
            ):
                raise  # of the disk
            why = str(getattr(error, "reason", None) or error or type(error).__name__)
            if isinstance(error, urllib.error.HTTPError) and error.code < 500:
                break
    came = part.stat().st_size if part.exists() else 0
    raise SwathError(
        f"{url} could not be fetched whole ({why[:200]}); {came:,} bytes are kept. Next: run the same command again, "
        "which goes on from there."
    )


def _more(url: str, part: Path, size: int, progress: Progress | None) -> bool:
    """Fetch what is missing; whether that is all."""
    headers = {"Accept-Encoding": "identity", **({"Range": f"bytes={size}-"} if size else {})}
    try:
        request = urllib.request.Request(url, headers=headers)  # noqa: S310 - `pull` takes http and https alone
        reply = urllib.request.urlopen(request, timeout=TIMEOUT_S)  # noqa: S310 - as above
    except urllib.error.HTTPError as error:
        if error.code != http.HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
            raise
        return True  # nothing is missing, or the part is another file: its sha256 tells
    with reply:
        goes_on = reply.status == http.HTTPStatus.PARTIAL_CONTENT and _starts(reply) == size
        have = size if goes_on else 0
        length = reply.headers.get("Content-Length", "")
        total = have + int(length) if length.isascii() and length.isdecimal() else None
        with part.open("ab" if goes_on else "wb") as file:
            while chunk := _read(reply):
                have += len(chunk)
                if have > LARGEST_BYTES:
                    raise InputError(f"{url} sends more than any model has. Next: check the address.")
                file.write(chunk)
                if progress is not None:
                    progress(have, total)
    return total is None or have == total


def _starts(reply: Any) -> int | None:
    """Where the part begins that a server sends, as it says itself."""
    unit, _, rest = reply.headers.get("Content-Range", "").partition(" ")
    start = rest.partition("-")[0]
    return int(start) if unit == "bytes" and start.isascii() and start.isdecimal() else None


def _read(reply: Any) -> bytes:
    try:
        return bytes(reply.read(CHUNK))
    except http.client.IncompleteRead as broken:
        return bytes(broken.partial)
