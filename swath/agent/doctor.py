"""Examines an installation."""

from __future__ import annotations

import platform
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version

from swath.agent.planners import planner_names
from swath.agent.sandbox import Sandbox
from swath.errors import SandboxUnavailable
from swath.segment.registry import backend_names
from swath.tools.registry import MalformedTool, tools

LIBRARIES = ("numpy", "rasterio", "pyproj", "shapely", "pyogrio", "scikit-image", "opencv-python-headless", "langgraph")


def examine() -> Iterator[tuple[str, bool, str]]:
    """What was looked at, whether it is fine, what was found."""
    yield "python", sys.version_info >= (3, 11), f"{platform.python_version()} on {platform.system()}"
    for library in LIBRARIES:
        try:
            yield library, True, version(library)
        except PackageNotFoundError:
            yield library, False, "not installed"
    yield "sandbox", *_sandbox()
    try:
        yield "tools", True, f"{len(tools())} registered"
    except MalformedTool as error:
        yield "tools", False, str(error)
    yield "segmenters", bool(backend_names()), ", ".join(backend_names())
    yield "planners", bool(planner_names()), ", ".join(planner_names())


def _sandbox() -> tuple[bool, str]:
    try:
        with Sandbox() as sandbox:
            sandbox.run("1 + 1", lambda call: None, names=(), handle_types=())
            return True, "worker runs; hardened by " + (", ".join(sandbox.hardening) or "nothing on this system")
    except SandboxUnavailable as error:
        return False, str(error)
