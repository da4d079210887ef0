"""What happens to files on their way to a planner, drawn from a seed: a case is found again by its
number.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

NUMBERS = (
    b"0 -1 4294967296 18446744073709551616 99999999999999999999999999999999999999999 0-4294967295"
    b" 9-3 1e308 1e999 -0.0 NaN inf 0x7fffffffffffffff 1,5 12.34.56 00:00:00"
).split()
STRAY = (
    b"",
    b"Terminated",
    b"System configuration: lcpu=8 mem=4096MB ent=1.00",
    b",,,,,,,,",
    b'{"a":1}',
    b"</topology>",
    b"%user %sys %wait %idle",
    "Zeitüberschreitung".encode("latin-1"),
)

Damage = Callable[[Random, bytearray, Sequence[bytes]], bytes]


def _lines(random: Random, data: bytearray, change: Callable[[list[bytes], int], None]) -> bytes:
    lines = bytes(data).split(b"\n")
    change(lines, random.randrange(len(lines)))
    return b"\n".join(lines)


def _cut_off(random: Random, data: bytearray, _: Sequence[bytes]) -> bytes:
    return bytes(data[: random.randint(0, len(data))])


def _beginning_lost(random: Random, data: bytearray, _: Sequence[bytes]) -> bytes:
    return bytes(data[random.randint(0, len(data)) :])


def _glued(random: Random, data: bytearray, samples: Sequence[bytes]) -> bytes:
    return bytes(data + random.choice(samples))


def _stray_line(random: Random, data: bytearray, _: Sequence[bytes]) -> bytes:
    return _lines(random, data, lambda lines, at: lines.insert(at, random.choice(STRAY)))


def _line_moved(random: Random, data: bytearray, _: Sequence[bytes]) -> bytes:
    return _lines(random, data, lambda lines, at: lines.append(lines.pop(at)))


def _line_lost(random: Random, data: bytearray, _: Sequence[bytes]) -> bytes:
    return _lines(random, data, lambda lines, at: lines.__delitem__(at))


def _line_twice(random: Random, data: bytearray, _: Sequence[bytes]) -> bytes:
    return _lines(random, data, lambda lines, at: lines.insert(at, lines[at]))


def _hole(random: Random, data: bytearray, _: Sequence[bytes]) -> bytes:
    start, length = random.randint(0, len(data)), random.randint(1, 64)
    data[start : start + length] = bytes(len(data[start : start + length]))
    return bytes(data)


def _old_encoding(random: Random, data: bytearray, _: Sequence[bytes]) -> bytes:
    data.insert(random.randint(0, len(data)), random.choice(b"\xe4\xfc\x85\xa0\xff"))
    return bytes(data)


def _carriage_returns(_: Random, data: bytearray, __: Sequence[bytes]) -> bytes:
    return bytes(data).replace(b"\n", b"\r\n")


def _strange_number(random: Random, data: bytearray, _: Sequence[bytes]) -> bytes:
    digits = b"0123456789"
    places = [place for place, byte in enumerate(data) if byte in digits]
    if places:
        start = end = random.choice(places)
        while start and data[start - 1] in digits:
            start -= 1
        while end < len(data) and data[end] in digits:
            end += 1
        data[start:end] = random.choice(NUMBERS)
    return bytes(data)


TEXT_DAMAGES: tuple[Damage, ...] = (
    _cut_off,
    _beginning_lost,
    _glued,
    _stray_line,
    _line_moved,
    _line_lost,
    _line_twice,
    _hole,
    _old_encoding,
    _carriage_returns,
    _strange_number,
    _strange_number,
    _strange_number,
)


def _bit_flipped(random: Random, data: bytearray, _: Sequence[bytes]) -> bytes:
    if data:
        data[random.randrange(len(data))] ^= 1 << random.randrange(8)
    return bytes(data)


def _piece_lost(random: Random, data: bytearray, _: Sequence[bytes]) -> bytes:
    start = random.randint(0, len(data))
    del data[start : start + random.randint(1, 600)]
    return bytes(data)


def _piece_twice(random: Random, data: bytearray, _: Sequence[bytes]) -> bytes:
    start, at = random.randint(0, len(data)), random.randint(0, len(data))
    data[at:at] = data[start : start + random.randint(1, 600)]
    return bytes(data)


def _all_ones(random: Random, data: bytearray, _: Sequence[bytes]) -> bytes:
    start, width = random.randint(0, len(data)), random.choice((1, 2, 4, 8))
    data[start : start + width] = b"\xff" * width
    return bytes(data)


BINARY_DAMAGES: tuple[Damage, ...] = (
    _cut_off,
    _glued,
    _hole,
    _bit_flipped,
    _bit_flipped,
    _piece_lost,
    _piece_twice,
    _all_ones,
)


def damaged(seed: str, samples: Sequence[bytes], damages: Sequence[Damage]) -> bytes:
    """One of the samples with up to four damages."""
    random = Random(seed)
    data = random.choice(samples)
    for _ in range(random.randint(1, 4)):
        data = random.choice(damages)(random, bytearray(data), samples)
    return data
