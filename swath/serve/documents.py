"""Pages of runs and batches as the server shows them; made in its processes, in the served folder."""

from __future__ import annotations

import html
import os
import re
from pathlib import Path
from urllib.parse import quote

from swath.serve.pages.batch import batch_page, batches_page
from swath.serve.pages.compare import compare_page
from swath.serve.pages.run import run_page
from swath.serve.processes import Say

_POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">')


def run_document(say: Say, folder: str) -> str:
    """The page of a run."""
    return run_page(Path(folder), live=True)


def compare_document(say: Say, a: str, b: str) -> str:
    """The page that compares two runs."""
    return compare_page(Path(a), Path(b), live=True)


def batch_document(say: Say, folder: str) -> str:
    """The page of a batch."""
    return batch_page(Path(folder), link=_link)


def batches_document(say: Say, a: str, b: str) -> str:
    """The page of two batches side by side."""
    return batches_page(Path(a), Path(b), link=_link)


def _link(run: Path) -> str:
    """Address of the page of a run in some folder."""
    return f"/run?folder={quote(Path(os.path.relpath(run.resolve(), Path.cwd().resolve())).as_posix())}"


def policy_of(document: str) -> str:
    """The content policy of a document, which names its own style and script, without any access to the server."""
    own = _POLICY.search(document)
    rules = html.unescape(own.group(1)) if own else "default-src 'none'"
    return f"{rules}; frame-ancestors 'none'; sandbox allow-scripts allow-downloads"
