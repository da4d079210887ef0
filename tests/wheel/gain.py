"""Are two engines the same to the byte, and is the second one faster?

    python tests/wheel/gain.py ENGINE ENGINE [--rounds N]

An engine is a wheel, or a compiled `_engine`. Each simulates one replication of every example, in
turns and in a process of its own; the figure is processor time of the first over that of the
second, the median of the rounds with the least and the largest. Exit code 1 if any byte differs.
`make test-wheel` holds a wheel against the checkout's own engine so.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
MEMBER = "homenode/_engine.abi3.so"

ONE = """\
import hashlib, importlib.util, json, sys, time
found = importlib.util.spec_from_file_location("_engine", sys.argv[1])
engine = importlib.util.module_from_spec(found)
found.loader.exec_module(engine)
told = hashlib.sha256()
def observe(batch):
    for _, columns in sorted(batch["tables"].items()):
        for _, column in sorted(columns.items()):
            told.update(column)
    return True
spec = open(sys.argv[2]).read()
began = time.process_time()
summary = engine.simulate(spec, 0, observe)
took = time.process_time() - began
told.update(summary.encode())
print(json.dumps([took, told.hexdigest()]))
"""
"""One replication: its seconds, and what all of it comes to."""


def main() -> int:
    """A line an example; 1 if two engines say different things."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("engines", nargs=2, type=Path, metavar="ENGINE")
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    differ = False
    with tempfile.TemporaryDirectory() as made:
        engines = [unpacked(one, Path(made) / str(n)) for n, one in enumerate(given.engines)]
        ratios = []
        for spec in written(Path(made)):
            rounds = [[simulated(one, spec) for one in engines] for _ in range(given.rounds)]
            same = len({said for pair in rounds for _, said in pair}) == 1
            found = [first / second for (first, _), (second, _) in rounds]
            ratios.append(statistics.median(found))
            spread = f"{ratios[-1]:.2f} ({min(found):.2f} to {max(found):.2f})"
            print(f"{spec.stem:28} {spread:24} {'same bytes' if same else 'OTHER BYTES'}")
            differ |= not same
        print(f"{'geometric mean':28} {statistics.geometric_mean(ratios):.2f}")
    return int(differ)


def unpacked(engine: Path, folder: Path) -> Path:
    """The compiled part of a wheel; what is no wheel is one."""
    if engine.suffix != ".whl":
        return engine.resolve()
    return Path(zipfile.ZipFile(engine).extract(MEMBER, folder))


def written(folder: Path) -> list[Path]:
    """The engine's input of every example."""
    import homenode

    specs = []
    for example in sorted(EXAMPLES.glob("*.toml")):
        specs.append(folder / f"{example.stem}.json")
        specs[-1].write_text(json.dumps(homenode.load_scenario(example).spec()))
    return specs


def simulated(engine: Path, spec: Path) -> tuple[float, str]:
    """Seconds of processor time of a replication, and the hash of what came out."""
    asked = [sys.executable, "-c", ONE, str(engine), str(spec)]
    took, told = json.loads(subprocess.run(asked, capture_output=True, check=True).stdout)
    return float(took), str(told)


if __name__ == "__main__":
    sys.exit(main())
