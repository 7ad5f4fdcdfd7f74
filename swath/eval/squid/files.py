"""Rows of SQuID from a folder or a file: parquet, arrow (file and stream), JSON, JSON lines; or through `datasets`."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from swath.errors import InputError
from swath.segment.rows import Row, json_array, json_lines, read_text

HUB = "hf:"
"""What a folder's name begins with when it names a dataset that `datasets` loads: "hf:owner/name"."""

BATCH_ROWS = 16
"""Rows held at once: an embedded image has 2 MB, and the files have 4 GB."""

BUFFER_BYTES = 2**20
"""Read ahead of a parquet column; without a limit a file of one row group of 300 MB takes 997 MB instead of 709."""

_BESIDE = frozenset({"dataset_info.json", "state.json", "dataset_dict.json", "dataset_infos.json", "legend.json"})
_INSTALL = 'Next: pip install "swath[bench]".'


def read_rows(folder: Path) -> Iterator[Row]:
    """All rows, in the order of the files.

    Args:
        folder: a folder that holds the files anywhere below it, one file, or "hf:owner/name".

    Raises:
        InputError: there are no such files, or one of them cannot be read.
    """
    if str(folder).startswith(HUB) and not folder.exists():
        yield from _hub(folder)
        return
    for file in _files(folder):
        yield from _READERS[file.suffix](file)


def _files(folder: Path) -> list[Path]:
    if folder.is_file() and folder.suffix in _READERS:
        return [folder]
    below = sorted(path for path in folder.rglob("*") if path.suffix in _READERS and path.is_file())
    files = [path for path in below if not _is_beside(path.relative_to(folder))]
    if not files:
        raise InputError(
            f"{folder} holds no parquet, arrow, JSON or JSON-lines file of SQuID. Next: give the folder with the "
            "dataset's files, or hf:owner/name for a dataset that the package datasets has."
        )
    formats = sorted({path.suffix for path in files})
    if len(formats) > 1:
        raise InputError(
            f"{folder} holds rows as {' and as '.join(formats)}. Next: give one of these files or folders."
        )
    return files


def _is_beside(path: Path) -> bool:
    """Whether a file only describes the others, or was left there by a tool."""
    return path.name in _BESIDE or path.name.startswith("cache-") or any(part.startswith(".") for part in path.parts)


def _numbered(values: Iterable[dict[str, Any]], file: Path) -> Iterator[Row]:
    for number, found in enumerate(values, start=1):
        yield Row(file, f"row {number}", found)


def _parquet(file: Path) -> Iterator[Row]:
    parquet = _package("pyarrow.parquet", "Parquet files need pyarrow.")

    def batches() -> Iterable[Any]:
        opened = parquet.ParquetFile(file, buffer_size=BUFFER_BYTES, pre_buffer=False)
        return opened.iter_batches(batch_size=BATCH_ROWS)  # type: ignore[no-any-return]  # pyarrow is untyped

    yield from _numbered(_readable(file, batches), file)


def _arrow(file: Path) -> Iterator[Row]:
    """Rows of an IPC file or, as `datasets` writes it, of an IPC stream."""
    arrow = _package("pyarrow", "Arrow files need pyarrow.")

    def batches() -> Iterator[Any]:
        source = arrow.memory_map(str(file))
        try:
            opened = arrow.ipc.open_file(source)
            found: Iterable[Any] = (opened.get_batch(at) for at in range(opened.num_record_batches))
        except arrow.ArrowInvalid:
            source.seek(0)
            found = arrow.ipc.open_stream(source)
        for batch in found:
            yield from (batch.slice(start, BATCH_ROWS) for start in range(0, batch.num_rows, BATCH_ROWS))

    yield from _numbered(_readable(file, batches), file)


def _readable(file: Path, batches: Callable[[], Iterable[Any]]) -> Iterator[dict[str, Any]]:
    """The rows of record batches; what pyarrow says of a damaged file becomes one sentence."""
    try:
        for batch in batches():
            yield from batch.to_pylist()
    except (OSError, ValueError) as why:  # pyarrow's own errors are ValueErrors
        reason = str(why).splitlines()[0] if str(why) else type(why).__name__
        raise InputError(f"{file} cannot be read ({reason}). Next: fetch the file anew.") from None


def _json(file: Path) -> Iterator[Row]:
    """Rows of one array, or of lines under this name, as `datasets` writes them."""
    return json_array(file) if read_text(file).lstrip().startswith("[") else json_lines(file)


_READERS: dict[str, Callable[[Path], Iterator[Row]]] = {
    ".parquet": _parquet,
    ".arrow": _arrow,
    ".json": _json,
    ".jsonl": json_lines,
}


def _hub(folder: Path) -> Iterator[Row]:
    """Rows through `datasets`, from its cache where the network is off; images stay the bytes that were shipped."""
    name = str(folder).removeprefix(HUB)
    datasets = _package("datasets", f"{folder} needs the package datasets.")
    try:
        loaded = datasets.load_dataset(name, split="train")
    except Exception as why:  # whatever the hub, its cache or the network raise
        raise InputError(
            f"The dataset {name} is neither in the cache of the package datasets nor can it be fetched "
            f"({type(why).__name__}). Next: fetch it where there is a network, or give a folder with its files."
        ) from None
    for column, feature in loaded.features.items():
        if isinstance(feature, datasets.Image):
            loaded = loaded.cast_column(column, datasets.Image(decode=False))
    yield from _numbered(loaded, folder)


def _package(module: str, needed: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError:
        raise InputError(f"{needed} {_INSTALL}") from None
