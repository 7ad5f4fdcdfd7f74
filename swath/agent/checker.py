"""The static check: what is wrong with a program that can be said before anything runs."""

from __future__ import annotations

import ast
import warnings

from swath.agent.checking.arguments import check_arguments
from swath.agent.checking.constructs import check_constructs
from swath.agent.checking.dataflow import depends_on_measurement
from swath.agent.checking.inference import Inference
from swath.agent.checking.replies import check_replies
from swath.agent.checking.surface import Faults, ToolLike, Tools
from swath.errors import ProgramRejected

MAX_SOURCE_BYTES = 20_000  # the longest of the planners' programs has about 2,000
MAX_NESTING = 40  # the same in the tree of the program; a comprehension of calls has about 10

__all__ = ["MAX_NESTING", "MAX_SOURCE_BYTES", "ToolLike", "Tools", "check", "depends_on_measurement"]


def check(source: str, tools: Tools) -> None:
    """Hold a program against the language and the tools.

    Args:
        source: the program.
        tools: all that it may call, `reply` among them.

    Raises:
        ProgramRejected: it has faults; `hints` holds one sentence for each, with its line.
    """
    tree = _parsed(source)
    faults = Faults()
    inference = Inference(tree, tools)
    check_constructs(tree, tools, inference, faults)
    check_arguments(tree, tools, inference, faults)
    check_replies(tree, faults)
    if hints := faults.hints():
        raise ProgramRejected(hints)


def _parsed(source: str) -> ast.Module:
    """The program's syntax tree.

    Raises:
        ProgramRejected: it is too long, too nested, or not Python.
    """
    size = len(source.encode(errors="replace"))
    if size > MAX_SOURCE_BYTES:
        raise ProgramRejected([f"Line 1: the program has {size} bytes, more than {MAX_SOURCE_BYTES}: write less."])
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source)
    except SyntaxError as error:
        raise ProgramRejected([f"Line {error.lineno or 1}: this is not Python: {error.msg}."]) from error
    except (RecursionError, MemoryError) as error:
        raise ProgramRejected([_too_nested(1)]) from error
    except ValueError as error:
        raise ProgramRejected(["Line 1: the program holds characters that no text file can hold."]) from error
    _measure_nesting(tree)
    return tree


def _measure_nesting(tree: ast.Module) -> None:
    """Keep what follows, which walks the tree by recursion, well inside the interpreter's stack."""
    level: list[ast.AST] = [tree]
    for _ in range(MAX_NESTING):
        level = [child for node in level for child in ast.iter_child_nodes(node)]
        if not level:
            return
    deepest = next((node for node in level if hasattr(node, "lineno")), tree)
    raise ProgramRejected([_too_nested(getattr(deepest, "lineno", 1))])


def _too_nested(line: int) -> str:
    return f"Line {line}: this is nested too deeply: split it over several assignments."
