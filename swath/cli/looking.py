"""Commands that look at images, tools and the installation: `info`, `tools`, `segment`, `doctor`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from swath.cli.options import FILE, SOURCE_OPTIONS, read_bands, with_options
from swath.cli.printing import json_line, progress
from swath.trace.wording import harmless, harmless_lines

OF_EACH_BAND = frozenset({"dtypes", "nodata", "band_descriptions", "colorinterp", "scales", "offsets", "units"})
"""Facts of which there is one for each band."""


@click.command()
@click.argument("image", type=FILE)
@click.option("--bands", callback=read_bands, metavar="ROLE=N,...", help="Which band is which: red=3,nir=4.")
@click.option("--gsd", "gsd_m", type=float, metavar="METRES", help="Ground size of a pixel; wins over the file's.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def info(image: Path, bands: dict[str, int], gsd_m: float | None, as_json: bool) -> None:
    """Say what swath sees in an IMAGE: grid, ground pixel size, bands, valid share, warnings."""
    from swath.raster.info import info as look
    from swath.raster.reader import open_raster

    facts = look(open_raster(image, gsd_m=gsd_m, bands=bands or None))
    if as_json:
        click.echo(json_line(facts))
        return
    for name, value in facts.items():
        for line in value if name == "warnings" else [_fact(value, merged=name in OF_EACH_BAND)]:
            if line:
                click.echo(f"{name.replace('_', ' '):>20}  {harmless(line)}")


def _fact(value: Any, *, merged: bool = False) -> str:
    """A fact for people: what is absent not at all; merged lists of one value once."""
    if value is None or value is False or value in ([], {}, ""):
        return ""
    if merged and len(value) > 1 and all(item == value[0] for item in value):
        return f"{_fact(value[0])} in each" if _fact(value[0]) else ""
    if isinstance(value, float):
        return f"{value:.10g}"
    if isinstance(value, list):
        return ", ".join(_fact(item) or "none" for item in value)
    if isinstance(value, dict):
        return ", ".join(f"{key} {_fact(item)}" for key, item in value.items())
    return str(value)


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON Schema of each tool.")
@click.option("--markdown", is_flag=True, help="Print the page docs/tools.md.")
def tools(as_json: bool, markdown: bool) -> None:
    """List every tool that a program may call, with its signature and one line."""
    from swath.agent.execution import surface

    if markdown:
        from swath.agent.surface_page import surface_page

        click.echo(surface_page().text, nl=False)
        return
    if as_json:
        click.echo(json_line([tool.schema for tool in surface().values()]))
        return
    family = ""
    for tool in surface().values():
        if tool.family != family:
            family = tool.family
            click.echo(click.style(f"\n{family}", bold=True))
        click.echo(f"  {tool.stub}\n      {tool.summary}")


@click.command()
@click.argument("image", type=FILE)
@click.argument("class_name", metavar="CLASS")
@with_options(*SOURCE_OPTIONS)
@click.option("-o", "--output", type=FILE, required=True, help="Mask to write, GeoTIFF.")
@click.option("--vector", type=FILE, help="Objects to write, GeoPackage.")
def segment(image: Path, class_name: str, output: Path, vector: Path | None, **options: Any) -> None:
    """Write the pixels of one CLASS of an IMAGE as a mask on the image's grid."""
    from swath.agent.segmenting import write_class
    from swath.trace.events import heard_by

    with progress(quiet=False) as listen, heard_by(listen):
        said = write_class(image, class_name, output, vector, **options)
    click.echo(harmless_lines(said))


@click.command()
def doctor() -> int:
    """Check the installation: libraries, sandbox, what is registered."""
    from swath.agent.doctor import examine

    healthy = True
    for name, fine, finding in examine():
        healthy &= fine
        click.echo(f"{'ok  ' if fine else 'FAIL'}  {name:<12} {finding}")
    return 0 if healthy else 1
