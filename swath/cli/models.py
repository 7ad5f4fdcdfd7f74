"""The commands `swath models`: which networks are at hand, and what their cards say."""

from __future__ import annotations

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
