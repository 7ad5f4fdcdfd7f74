"""Starts the server: where it listens, by which names it goes, and the token that strangers need."""

from __future__ import annotations

import secrets
import socket
from collections.abc import Sequence
from dataclasses import dataclass

import uvicorn

from swath.errors import InputError
from swath.serve.guard import LEAST_TOKEN_LETTERS, Guard, content_policy, is_loopback
from swath.serve.server import Settings
from swath.serve.site import application

MOST_CONNECTIONS = 256
LONGEST_HEADERS = 32 * 1024
GOODBYE_S = 2
"""How long open streams may take to end with the server."""


@dataclass(frozen=True)
class Address:
    """Where the server listens.

    Attributes:
        host: name or IP address.
        port: 0 for any that is free.
        names: further names by which it may be called.
        token: what strangers need; None where only this machine can reach it.
    """

    host: str
    port: int
    names: Sequence[str] = ()
    token: str | None = None

    @property
    def hosts(self) -> frozenset[str]:
        """Names by which the server may be called."""
        own = {"localhost", "127.0.0.1", "::1"}
        others = () if is_loopback(self.host) else (socket.gethostname().lower(),)
        return frozenset({self.host.lower(), *own, *others, *(name.lower() for name in self.names)})


def address(host: str, port: int, names: Sequence[str], token: str | None) -> Address:
    """An address to listen at, with a token wherever others can reach it.

    Raises:
        InputError: the token is too short to keep anyone out.
    """
    if token is not None and len(token) < LEAST_TOKEN_LETTERS:
        raise InputError(f"A token has at least {LEAST_TOKEN_LETTERS} letters. Next: give a longer one, or none.")
    if token is None and not is_loopback(host):
        token = secrets.token_urlsafe(32)
    return Address(host, port, names, token)


def guarded(settings: Settings, place: Address) -> Guard:
    """The application behind its guard."""
    policy = content_policy(settings.base_map)
    return Guard(application(settings), place.hosts, not is_loopback(place.host), place.token, policy)


def bound(place: Address) -> socket.socket:
    """A socket that listens at an address.

    Raises:
        InputError: the address cannot be had.
    """
    config = uvicorn.Config("", host=place.host, port=place.port)
    try:
        family = socket.AF_INET6 if ":" in place.host else socket.AF_INET
        found = socket.socket(family)
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind((config.host, config.port))
    except OSError as why:
        said = (why.strerror or str(why)).lower()
        raise InputError(
            f"{place.host}:{place.port} cannot be listened at: {said}. Next: try another --port."
        ) from None
    return found


def serve(settings: Settings, place: Address, listening: socket.socket) -> None:
    """Serve until somebody ends it."""
    config = uvicorn.Config(
        guarded(settings, place), log_level="warning", access_log=False, server_header=False,
        limit_concurrency=MOST_CONNECTIONS, h11_max_incomplete_event_size=LONGEST_HEADERS, http="h11", ws="none",
        timeout_graceful_shutdown=GOODBYE_S, proxy_headers=False,
    )  # fmt: skip
    uvicorn.Server(config).run(sockets=[listening])


def url(place: Address, port: int) -> str:
    """The address to open in a browser."""
    shown = f"[{place.host}]" if ":" in place.host else place.host
    shown = {"0.0.0.0": socket.gethostname(), "[::]": socket.gethostname()}.get(shown, shown)  # noqa: S104 - compared with
    return f"http://{shown}:{port}/" + (f"?token={place.token}" if place.token else "")
