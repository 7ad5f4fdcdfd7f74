"""The command line: parse, call, print."""

from __future__ import annotations

import errno
import gc
import io
import os
import signal
import sys
from typing import NoReturn

import click

from swath import __version__
from swath.cli.annotating import annotate
from swath.cli.asking import ask, demo, run
from swath.cli.benching import bench, score
from swath.cli.chatting import chat
from swath.cli.llm import llm
from swath.cli.looking import doctor, info, segment, tools
from swath.cli.mcp import mcp
from swath.cli.models import models
from swath.cli.serving import serve
from swath.cli.surveying import survey
from swath.cli.traces import trace
from swath.errors import SwathError
from swath.trace.wording import harmless, harmless_lines

GARBAGE_THRESHOLDS = (50_000, 20, 100)
"""Loading the libraries makes a million objects that stay: collecting after every 700 costs 0.15 s of a 1.9 s start."""

NO_ROOM = (errno.ENOSPC, errno.EFBIG, errno.EIO, getattr(errno, "EDQUOT", errno.ENOSPC))
"""Failures of the medium that is written to, which are not ours."""


def main() -> None:
    """Run the command line; every mistake of a user ends in one sentence and an exit status."""
    gc.set_threshold(*GARBAGE_THRESHOLDS)
    _end_tidily()
    try:
        sys.exit(swath(standalone_mode=False) or 0)
    except click.exceptions.Exit as end:
        sys.exit(end.exit_code)
    except click.Abort:
        sys.exit(130)
    except click.ClickException as error:
        shown = io.StringIO()
        error.show(shown)
        click.echo(harmless_lines(shown.getvalue().rstrip("\n")), err=True)
        sys.exit(error.exit_code)
    except SwathError as error:
        click.echo(f"swath: {harmless(str(error))}", err=True)
        sys.exit(error.exit_status)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except OSError as error:
        if error.errno not in NO_ROOM or os.environ.get("SWATH_TRACEBACK"):
            _internal(error)
        click.echo(f"swath: The output cannot be written: {(error.strerror or '').lower()}. Next: make room.", err=True)
        sys.exit(1)
    except Exception as error:
        _internal(error)


def _internal(error: Exception) -> NoReturn:
    """What nobody foresaw, in one line; as a traceback where the environment asks for it."""
    if os.environ.get("SWATH_TRACEBACK"):
        raise error
    why = harmless(f"{type(error).__name__}: {error}")[:300]
    click.echo(f"swath: internal error ({why}). Next: report it with the output of SWATH_TRACEBACK=1.", err=True)
    sys.exit(1)


def _end_tidily() -> None:
    """Being ended from outside unwinds like Ctrl-C, so that no half-written run and no worker stays behind."""
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, lambda received, frame: sys.exit(128 + received))


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, message="swath %(version)s")
def swath() -> None:
    """Answer questions about overhead imagery by measuring.

    \b
    swath demo                  six real questions about a real GeoTIFF
    swath info image.tif        what swath sees in a file
    swath ask image.tif "What percentage is water?" --bands green=2,nir=4
    swath ask image.tif "How many buildings are near water?" --labels l.gpkg
    swath survey tiles/ "How much is forest?" --labels lc.tif -o forest.csv
    swath trace show 2026       how an answer came about, step by step
    swath serve tiles/          ask on a page, beside the picture

    Exit status: 0 answered; 3 refused, it cannot be measured from this image; 2 wrong usage or unreadable input;
    1 anything else.
    """  # noqa: D301 - click reads the backspace as "leave these lines as they are"


bench.add_command(annotate)
for _command in (ask, run, chat, survey, segment, info, tools, trace, bench, score, llm, serve, mcp, demo, doctor):
    swath.add_command(_command)
swath.add_command(models)
