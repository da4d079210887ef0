"""What a wheel's engine is optimised for: a short run of every example, and a recording read back.

`make wheel` (maturin's --pgo) starts it with an instrumented homenode installed, from the project's
root. The examples are of every platform that is simulated. Functions that nothing here calls leave
no counts behind: one that counts zero would be taken for one that nobody calls, and made small
instead of quick, the measured loops of `homenode measure` and the other readers among them.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path


def main() -> None:
    """Runs, then puts the counts of all processes into one file without the zeros."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        kept = ("--out", str(folder / "runs"))
        for scenario in sorted(Path("examples").resolve().glob("*.toml")):
            homenode("run", str(scenario), "--replications", "1", "--jobs", "1", *kept)
        recorded = str(folder / "recorded")
        homenode("export", "p795-shared-book", "--as", "nmon", "--output", recorded, *kept)
        homenode("import", recorded, "--output", str(folder / "imported"))
    merge(Path(os.environ["LLVM_PROFILE_FILE"]).parent)


def homenode(*words: str) -> None:
    """One command, in a process of its own, whose end writes its counts."""
    subprocess.run(
        [sys.executable, "-m", "homenode", *words], check=True, stdout=subprocess.DEVNULL
    )


def merge(counts: Path) -> None:
    """One file in place of those of all processes, in the name's form that maturin looks for."""
    raw = sorted(str(file) for file in counts.glob("*.profraw"))
    merged = counts / "merged"
    subprocess.run([profdata(), "merge", "--sparse", "-o", str(merged), *raw], check=True)
    for file in raw:
        Path(file).unlink()
    merged.rename(counts / "trained.profraw")


def profdata() -> str:
    """The tool that reads what this rustc writes; it is installed beside it."""
    root = subprocess.run(
        ["rustc", "--print", "sysroot"], check=True, capture_output=True, text=True
    )
    return str(next(Path(root.stdout.strip()).glob("lib/rustlib/*/bin/llvm-profdata")))


if __name__ == "__main__":
    main()
