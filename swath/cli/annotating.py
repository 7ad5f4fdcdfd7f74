"""The command `bench annotate`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from swath.cli.options import FILE
from swath.trace.wording import harmless

if TYPE_CHECKING:
    from swath.eval.annotate.make import Listener


@click.command()
@click.option("--boxes", type=FILE, required=True, help="Annotation file for all images, or folder with one for each.")
@click.option("--images", type=FILE, required=True, help="Folder of images.")
@click.option("--out", type=FILE, required=True, help="Folder of the data set to make.")
@click.option("--legend", type=FILE, help="JSON object of label value to class name, for label maps.")
@click.option("--label-class", metavar="NAME", help="Class of a vector file without a class column.")
@click.option("--classes", type=FILE, help='JSON object of class to class, "" to drop; "vrsbench" for the shipped one.')
@click.option("--gsd", "gsd_m", type=float, metavar="METRES", help="Ground size of a pixel, where images state none.")
@click.option("--size", "size_px", type=int, default=512, show_default=True, help="Width and height of a patch.")
@click.option("--overlap", "overlap_px", type=int, default=0, show_default=True, help="Pixels that neighbours share.")
@click.option("--visible", "least_visible", type=float, default=0.5, show_default=True,
              help="Share of an object's area that must lie in a patch.")  # fmt: skip
@click.option("--seed", type=int, default=0, show_default=True, help="The same seed writes the same sentences.")
@click.option("--test-share", type=click.FloatRange(0, 1), default=0.3, show_default=True,
              help="Share of the source images that make the test split.")  # fmt: skip
@click.option("--dataset", default="annotated", show_default=True, help="Name of the data set.")
@click.option("--source", default="not stated", help="Where the images come from, for the data card.")
@click.option("--licence", default="not stated", help="Terms of use, for the data card.")
@click.option("--writer", type=click.Choice(["offline", "model"]), default="offline", show_default=True,
              help="Who writes: templates, or a language model.")  # fmt: skip
@click.option("--model", metavar="NAME", help="Language model, or a .gguf file, for --writer model.")
@click.option("--base-url", metavar="URL", help="OpenAI-compatible server that has the model.")
@click.option("--resume", is_flag=True, help="Go on with what was interrupted.")
def annotate(out: Path, resume: bool, model: str | None, base_url: str | None, **options: Any) -> int:
    """Make a VRSBench-style data set out of boxes: captions, referring sentences, questions.

    Annotations may be DOTA text files, VOC or DIOR XML, COCO JSON, VRSBench annotations, GeoJSON or label maps. Every
    sentence is measured over the objects, and measured again before it is kept.

    \b
    swath bench annotate --boxes labelTxt/ --images images/ --classes vrsbench --out mine
    swath bench run vrsbench-ref --data mine --out r
    """  # noqa: D301 - click reads the backspace as "leave these lines as they are"
    from swath.agent.planner import PlannerOptions
    from swath.eval.annotate.card import statistics
    from swath.eval.annotate.make import Wanted
    from swath.eval.annotate.make import annotate as annotate_all
    from swath.eval.annotate.patches import Cut

    cut = Cut(*(options.pop(name) for name in ("size_px", "overlap_px", "least_visible")))
    wanted = Wanted(cut=cut, planner_options=PlannerOptions(model, base_url), **options)
    try:
        with _progress() as listen:
            figures = statistics(annotate_all(wanted, out, resume=resume, listen=listen))
    except KeyboardInterrupt:
        click.echo(f"Interrupted: the patches so far are in {out}. Next: go on with --resume.", err=True)
        return 130
    patches, dropped = figures["patches"], sum(figures["statements dropped"].values())
    click.echo(
        f"{out}: {sum(patches.values())} patches ({patches['val']} in val), {figures['objects']} objects, "
        f"{figures['referring sentences']} referring sentences, {figures['captions']} captions, "
        f"{figures['questions']} questions, {figures['quantities']} quantities; {dropped} statements dropped"
    )
    click.echo(f"Next: look at {out / 'statistics.html'}, or swath bench run vrsbench-ref --data {out} --out RESULTS")
    return 0


@contextmanager
def _progress() -> Iterator[Listener | None]:
    """A bar on a terminal only."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task("patches", total=None)
        yield lambda done, of, name: shown.update(task, completed=done, total=of, description=harmless(name))
