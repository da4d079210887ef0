"""Inputs of the programs: made from a seed, the same bytes on every host."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from random import Random

_SEED = 20_112
_SPHERES = 60
_RATE = 44_100  # samples a second, of a compact disc
_BLOCK_S = 2
_TONES = (110, 220, 331, 440, 663)
_TERMS = 12


def _between(source: Random, low: float, high: float) -> float:
    """A number; only `random()` gives the same ones in every version of Python."""
    return low + (high - low) * source.random()


def scene(path: Path, _width: int) -> None:
    """Glass and coloured spheres on a chequered mirror, under a light that has a size."""
    source = Random(_SEED)  # noqa: S311 - the same numbers everywhere are the point
    lines = [
        "#version 3.7;",
        "global_settings { assumed_gamma 1.0 max_trace_level 8 }",
        "camera { location <0, 4, -12> look_at <0, 1, 0> }",
        "light_source { <10, 20, -10> rgb 1 area_light <4, 0, 0>, <0, 0, 4>, 4, 4 }",
        "plane { y, 0 pigment { checker rgb 1, rgb 0.2 } finish { reflection 0.2 } }",
    ]
    lines += [_sphere(source, clear=number % 2 == 0) for number in range(_SPHERES)]
    path.write_text("\n".join(lines) + "\n", encoding="ascii")


def _sphere(source: Random, *, clear: bool) -> str:
    x, z = _between(source, -6, 6), _between(source, -4, 8)
    size = _between(source, 0.3, 0.9)
    red, green, blue = (source.random() for _ in range(3))
    return (
        f"sphere {{ <{x:.4f}, {size:.4f}, {z:.4f}>, {size:.4f} "
        f"pigment {{ rgbt <{red:.3f}, {green:.3f}, {blue:.3f}, {0.6 if clear else 0}> }} "
        "finish { specular 0.6 reflection 0.3 } interior { ior 1.4 } }"
    )


def sound(path: Path, seconds: int) -> None:
    """Five triangular tones and noise, in stereo, two seconds again and again."""
    source = Random(_SEED)  # noqa: S311
    block = bytearray()
    for sample in range(_BLOCK_S * _RATE):
        height = sum(_triangle(sample * tone) // (at + 1) for at, tone in enumerate(_TONES))
        height += int(600 * source.random()) - 300
        block += struct.pack("<hh", height, height * 4 // 5)
    count = seconds * _RATE * 4
    data = (bytes(block) * (seconds // _BLOCK_S + 1))[:count]
    form = struct.pack("<IHHIIHH", 16, 1, 2, _RATE, 4 * _RATE, 4, 16)
    head = b"RIFF" + struct.pack("<I", 36 + count) + b"WAVEfmt " + form
    path.write_bytes(head + b"data" + struct.pack("<I", count) + data)


def _triangle(at: int) -> int:
    """A wave of whole numbers: no library's sine is another's."""
    phase = at % _RATE
    return 4000 - abs(16_000 * phase // _RATE - 8000)


def mixture(path: Path, rows: int) -> None:
    """A linear program: the cheapest of twice as many things that meet so many demands, in MPS."""
    source = Random(_SEED)  # noqa: S311
    lines = ["NAME mix", "ROWS", " N cost", *(f" G r{row}" for row in range(rows)), "COLUMNS"]
    for column in range(2 * rows):
        lines.append(f" x{column} cost {_between(source, 1, 10):.6f}")
        met = sorted({int(rows * source.random()) for _ in range(_TERMS)})
        lines += [f" x{column} r{row} {_between(source, 0.1, 5):.6f}" for row in met]
    lines += ["RHS", *(f" b r{row} {_between(source, 10, 100):.6f}" for row in range(rows))]
    path.write_text("\n".join([*lines, "ENDATA"]) + "\n", encoding="ascii")


def antenna(path: Path, wires: int) -> None:
    """So many parallel wires of as many segments, one of them fed, and where they radiate (NEC-2's
    cards).
    """
    length = 0.1 * (wires - 1)
    cards = ["CM parallel wires", "CE"]
    for number in range(wires):
        at = 0.1 * number
        cards.append(f"GW {number + 1} {wires} {at:.3f} 0 0 {at:.3f} {length:.3f} 0 0.001")
    fed = f"EX 0 {wires // 2 + 1} {wires // 2} 0 1 0"
    cards += ["GE 0", "FR 0 1 0 0 300 0", fed, "RP 0 19 37 1000 0 0 5 10", "EN"]
    path.write_text("\n".join(cards) + "\n", encoding="ascii")


def beam(path: Path, across: int) -> None:
    """A steel beam of bricks, four times as long as wide, held at one end and pushed at the other
    (CalculiX's deck).
    """
    path.write_text("\n".join(_deck(across)) + "\n", encoding="ascii")


def _deck(across: int) -> Iterator[str]:
    along, side = 4 * across, across + 1

    def node(i: int, j: int, k: int) -> int:
        return 1 + i + (along + 1) * (j + side * k)

    yield "*NODE,NSET=all"
    corners = [(i, j, k) for k in range(side) for j in range(side) for i in range(along + 1)]
    yield from (f"{node(i, j, k)},{i},{j},{k}" for i, j, k in corners)
    yield "*ELEMENT,TYPE=C3D8,ELSET=bar"
    bricks = [one for one in corners if one[0] < along and max(one[1:]) < across]
    for number, (i, j, k) in enumerate(bricks, 1):
        base = [(i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)]
        eight = [node(*at, k + up) for up in (0, 1) for at in base]
        yield ",".join(map(str, (number, *eight)))
    for name, i in (("wall", 0), ("tip", along)):
        yield f"*NSET,NSET={name}"
        yield from (f"{node(i, j, k)}," for j in range(side) for k in range(side))
    yield from ("*BOUNDARY", "wall,1,3", "*MATERIAL,NAME=steel", "*ELASTIC", "210000,0.3")
    yield from ("*SOLID SECTION,ELSET=bar,MATERIAL=steel", "*STEP", "*STATIC", "*CLOAD")
    yield from ("tip,3,-1", "*NODE PRINT,NSET=tip", "U", "*END STEP")
