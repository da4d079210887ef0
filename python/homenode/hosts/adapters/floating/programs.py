"""The programs: where each comes from, its input, and the command that works on it.

The last digits of what they reckon are the processor's and the library's affair: of a product only
what is the same all the same is summed, or nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

from homenode.hosts.adapters.floating import inputs
from homenode.hosts.adapters.integer.programs import Program

_NUMBER = re.compile(rb"-?\d+\.\d+(?:[eE][-+]\d+)?")
_NOTHING = 1e-6
"""Beside figures of about one; smaller ones are what rounding leaves of zero."""


def rounded(told: bytes) -> bytes:
    """A text with its numbers to three digits."""

    def short(found: re.Match[bytes]) -> bytes:
        value = float(found[0])
        return b"%.2e" % (value if abs(value) >= _NOTHING else 0.0)

    return _NUMBER.sub(short, told)


def _lines(*having: bytes) -> Callable[[bytes], bytes]:
    """Of a report the lines with one of these words, rounded."""

    def kept(made: bytes) -> bytes:
        lines = made.splitlines(keepends=True)
        return rounded(b"".join(line for line in lines if any(word in line for word in having)))

    return kept


def _into(name: str, maker: Callable[[Path, int], None]) -> Callable[[Path, int], None]:
    """A maker of one file of that name."""
    return lambda folder, size: maker(folder / name, size)


def _scene(folder: Path, width: int) -> None:
    inputs.scene(folder / "scene.pov", width)
    (folder / "width").write_text(str(width), encoding="ascii")


def _povray(folder: Path, product: Path) -> Sequence[str]:
    width = int((folder / "width").read_text(encoding="ascii"))
    # As Debian sets it up, it reads and writes in the folder that it runs in.
    draw = 'povray +Iscene.pov +Odrawn.ppm +FP "+W$2" "+H$3" -D -GA +WT1 +A0.1'
    line = f'cp "$1" scene.pov && {draw} && mv drawn.ppm "$0"'
    scene, sizes = str(folder / "scene.pov"), (str(width), str(width * 3 // 4))
    return ["sh", "-c", line, str(product), scene, *sizes]


def _calculix(folder: Path, product: Path) -> Sequence[str]:
    # It names all that it writes by its input, beside which it lies.
    line = 'cp "$1" beam.inp && ccx beam && mv beam.dat "$0"'
    return ["env", "OMP_NUM_THREADS=1", "sh", "-c", line, str(product), str(folder / "beam.inp")]


def _nec2c(folder: Path, product: Path) -> Sequence[str]:
    # It takes names of 80 characters at most, which a folder alone can have.
    line = 'cp "$1" antenna.nec && nec2c -i antenna.nec -o currents.out && mv currents.out "$0"'
    return ["sh", "-c", line, str(product), str(folder / "antenna.nec")]


PROGRAMS: dict[str, Program] = {
    "povray": Program(
        "POV-Ray draws spheres of glass by following rays",
        "povray",
        "povray",
        (96, 320),
        _scene,
        _povray,
        kept=None,
    ),
    "lame": Program(
        "LAME packs sound",
        "lame",
        "lame",
        (16, 180),
        _into("sound.wav", inputs.sound),
        lambda folder, product: ["lame", "--quiet", "-h", str(folder / "sound.wav"), str(product)],
        kept=None,
    ),
    "clp": Program(
        "Clp solves a linear program by the dual simplex method",
        "clp",
        "coinor-clp",
        (1500, 4000),
        _into("mixture.mps", inputs.mixture),
        lambda folder, product: [
            "clp",
            str(folder / "mixture.mps"),
            "-dualsimplex",
            "-solution",
            str(product),
        ],
        kept=_lines(b"objective"),
    ),
    "nec2c": Program(
        "NEC-2 finds the currents in an antenna of wires",
        "nec2c",
        "nec2c",
        (28, 45),
        _into("antenna.nec", inputs.antenna),
        _nec2c,
        kept=_lines(b"Watts", b"Percent"),
    ),
    "calculix": Program(
        "CalculiX bends a beam of bricks",
        "ccx",
        "calculix-ccx",
        (9, 16),
        _into("beam.inp", inputs.beam),
        _calculix,
        kept=rounded,
    ),
}
"""By case name, in the order of suites."""
