"""The commands `swath models`: which networks are at hand, and what their cards say."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

from swath.trace.wording import harmless, harmless_lines


@click.group()
def models() -> None:
    """Networks that find classes in colour images, and how far they may be believed."""


@models.command("list")
def listed() -> None:
    """List every model that a segmenter may use: size, licence, whether it is here, what it needs, what to type."""
    from swath.segment.shelf import models

    for model in models():
        size = "size by choice" if model.bytes is None else f"{model.bytes / 1e6:,.1f} MB"
        lacks = f"lacks {', '.join(model.missing)}" if model.missing else "installed"
        needs = f"needs 'swath[{model.extra}]' ({lacks})"
        here = "here" if model.here else "not here"
        click.echo(harmless("  ".join([model.name, here, size, model.licence, needs, model.finds, model.use])))


@models.command("card")
@click.argument("name", metavar="NAME|CARD.toml")
def shown(name: str) -> None:
    """Print the card of a network: data, licences, numbers, limits."""
    from swath.segment.networks.catalogue import find

    click.echo(harmless_lines(find(name).text.rstrip("\n")))


@models.command("pull")
@click.argument("name", metavar="NAME")
@click.option("--from", "url", metavar="URL", help="Another address that has the same file.")
def pulled(name: str, url: str | None) -> None:
    """Fetch the weights of a known model and check their sha256; a broken download goes on where it stopped."""
    from swath.segment.networks.catalogue import folder
    from swath.segment.pulling import known, pull

    wanted = known(name)
    with _bytes_bar() as progress:
        path = pull(wanted, folder(), progress, url)
    click.echo(harmless(f"{path}: {path.stat().st_size:,} bytes, sha256 {wanted.sha256}. Next: {wanted.use}"))


@models.command("serve")
@click.argument("name", metavar="NAME|CARD.toml")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", type=click.IntRange(0, 65535), default=8765, show_default=True, help="Port to listen on.")
def served(name: str, host: str, port: int) -> None:
    """Let other machines use a network here, by --segmenter remote:URL; whoever reaches the port may."""
    from swath.segment.networks.catalogue import find
    from swath.segment.networks.service import Service

    with Service(find(name), host, port) as server:
        click.echo(f"Ready: --segmenter remote:http://{host}:{server.server_port} (stop with Ctrl-C)")
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            click.echo("Stopped.")


@contextmanager
def _bytes_bar() -> Iterator[Callable[[int, int | None], None] | None]:
    """A bar of bytes, on a terminal only."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn, TransferSpeedColumn

    columns = (BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task("", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
