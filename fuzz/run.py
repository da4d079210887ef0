"""Run every fuzz target for a bounded time and print what came of it.

`make fuzz` calls it. What the fuzzer starts from lies in `fuzz/seeds/<target>/`; recordings of real
machines are added where they lie beside the repository (they are not shipped). Inputs that break a
parser are left in `fuzz/artifacts/<target>/`; `cargo +nightly fuzz run TARGET FILE` repeats one.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import re
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
RECORDINGS = HERE.parents[1] / "shared" / "captures"
RECORDED = {
    "lparstat_strict": ["lparstat/*.txt"],
    "reports": ["lparstat/*.txt"],
    "nmon": ["nmon/*.gz"],
    "hwloc": ["hwloc/*.xml"],
    "sysfs": ["hwloc/*.tar.bz2", "lscpu/*.tar.gz"],
    "sysinfo": ["lscpu/s390*.tar.gz"],
}
"""Recordings a target can start from."""

LONGEST = 1 << 14
"""Longest input [bytes]; a recording is cut there."""
LIMITS = (
    f"-max_len={LONGEST}",
    "-timeout=10",  # seconds for one input
    "-rss_limit_mb=2048",
    "-malloc_limit_mb=64",  # in one piece
    "-print_final_stats=1",
    "-seed=1",
)


@dataclass(frozen=True)
class Outcome:
    """What one target did."""

    target: str
    seconds: float
    inputs: int
    features: int
    """Of the program, as the fuzzer counts them; more is more of it seen."""
    broken_by: str | None
    """File with an input that breaks the parser."""


def targets() -> list[str]:
    """Names in the manifest."""
    manifest = (HERE / "Cargo.toml").read_text(encoding="utf-8")
    return re.findall(r'^\[\[bin\]\]\nname = "(\w+)"', manifest, flags=re.MULTILINE)


def lay_corpus(target: str) -> Path:
    """Put what is known to be sound where the fuzzer looks; what it found earlier stays."""
    folder = HERE / "corpus" / target
    folder.mkdir(parents=True, exist_ok=True)
    seeds = [path.read_bytes() for path in sorted((HERE / "seeds" / target).iterdir())]
    recorded = [path for glob in RECORDED.get(target, []) for path in RECORDINGS.glob(glob)]
    for content in seeds + [unpacked(path)[:LONGEST] for path in sorted(recorded)]:
        (folder / hashlib.sha256(content).hexdigest()[:16]).write_bytes(content)
    return folder


def unpacked(path: Path) -> bytes:
    """What a file holds."""
    if path.suffix != ".gz":
        return path.read_bytes()
    with gzip.open(path) as file:
        return file.read(LONGEST)


def fuzz(command: list[str], target: str, seconds: int) -> Outcome:
    """Run one target; its output goes to a file beside its findings."""
    corpus = lay_corpus(target)
    artifacts = HERE / "artifacts" / target
    artifacts.mkdir(parents=True, exist_ok=True)
    before = set(artifacts.iterdir())
    log = HERE / "artifacts" / f"{target}.log"
    start = time.monotonic()
    call = [*command, "run", target, str(corpus), "--", f"-max_total_time={seconds}", *LIMITS]
    with log.open("wb") as output:
        done = subprocess.run(call, cwd=HERE, stdout=output, stderr=output, check=False)
    told = log.read_text(encoding="utf-8", errors="replace")
    broken = sorted(set(artifacts.iterdir()) - before)
    culprit = str(broken[0].relative_to(HERE.parent)) if broken else None
    if done.returncode and culprit is None:
        culprit = f"see {log.relative_to(HERE.parent)}"
    inputs = re.findall(r"stat::number_of_executed_units:\s+(\d+)", told)
    features = re.findall(r" ft: (\d+)", told)
    return Outcome(
        target,
        time.monotonic() - start,
        int(inputs[-1]) if inputs else 0,
        int(features[-1]) if features else 0,
        culprit,
    )


def arguments() -> argparse.Namespace:
    """What was asked."""
    parser = argparse.ArgumentParser(description="Fuzz the capture parsers for a bounded time.")
    parser.add_argument("--cargo-fuzz", required=True, help="the program cargo-fuzz")
    parser.add_argument("--seconds", type=int, default=10, help="for each target")
    parser.add_argument("targets", nargs="*", help="default: all")
    asked = parser.parse_args()
    unknown = sorted(set(asked.targets) - set(targets()))
    if unknown:
        parser.error(f"no target is called {', '.join(unknown)}; there are {', '.join(targets())}")
    return asked


def main() -> int:
    """Fuzz one target after the other; 1 if a parser broke."""
    asked = arguments()
    if subprocess.run(["rustc", "+nightly", "-V"], capture_output=True, check=False).returncode:
        print("make fuzz needs the nightly compiler: rustup toolchain install nightly")
        return 2
    cargo_fuzz = str(Path(asked.cargo_fuzz).resolve())
    command = ["rustup", "run", "nightly", cargo_fuzz]
    for build in [[target] for target in asked.targets] or [[]]:
        if subprocess.run([*command, "build", *build], cwd=HERE, check=False).returncode:
            return 2
    outcomes = []
    for target in asked.targets or targets():
        outcome = fuzz(command, target, asked.seconds)
        verdict = outcome.broken_by or "sound"
        figures = f"{outcome.inputs:>9} inputs {outcome.features:>6} features"
        print(f"{target:<20} {outcome.seconds:5.0f} s {figures}  {verdict}", flush=True)
        outcomes.append(outcome)
    return int(any(outcome.broken_by for outcome in outcomes))


if __name__ == "__main__":
    sys.exit(main())
