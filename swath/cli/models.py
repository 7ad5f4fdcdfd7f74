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
    """List the networks that are at hand, with how to use each."""
    from swath.segment.networks.catalogue import EMBEDDED, cards

    for card in cards():
        size = card.network.stat().st_size / 1e6
        use = card.name if card.path == EMBEDDED else f"onnx:{card.path}"
        names = ", ".join(name for name in card.classes if name)
        click.echo(harmless(f"{card.name}  {size:.1f} MB  {names}  --segmenter {use}"))


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
