"""The programs: where each comes from, its input, and the command that works on it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from homenode.hosts.adapter import Need
from homenode.hosts.adapters.integer import inputs

_MIB = 1 << 20


@dataclass(frozen=True)
class Program:
    """A program with its work. Sizes are chosen so that the small one takes one processor about
    half a second and the large one about five, on a host of today.
    """

    title: str
    program: str
    package: str
    sizes: tuple[int, int]
    """Of the small and the large input, in the maker's own measure."""
    make: Callable[[Path, int], None]
    """Makes the input in a folder."""
    command: Callable[[Path, Path], Sequence[str]]
    """The command, from the input's folder and the path that its product goes to."""
    ready: Callable[[Path], Sequence[str]] | None = None
    """A command that completes the input, not timed."""
    good: tuple[int, ...] = (0,)
    """Exit codes of success."""
    to_file: bool = True
    """Whether the product goes to a file; else it is what the program prints."""
    remarks: bytes | None = None
    """What lines begin with that are left out of the product's sum: dates, paths."""
    kept: Callable[[bytes], bytes] | None = bytes
    """What of the product is the same on every host, and so summed; None for nothing."""

    def needs(self) -> tuple[Need, ...]:
        """What has to be installed."""
        more = () if self.ready is None else (Need(self.ready(Path())[0], self.package),)
        return (Need(self.program, self.package), *more)


def _into(name: str, maker: Callable[[Path, int], None]) -> Callable[[Path, int], None]:
    """A maker of one file of that name."""
    return lambda folder, size: maker(folder / name, size)


def _words_and_program(folder: Path, rounds: int) -> None:
    inputs.text(folder / "words.txt", _MIB // 4)
    inputs.perl_program(folder / "words.pl")
    (folder / "rounds").write_text(str(rounds), encoding="ascii")


def _perl(folder: Path, product: Path) -> Sequence[str]:
    rounds = (folder / "rounds").read_text(encoding="ascii")
    script, words = str(folder / "words.pl"), str(folder / "words.txt")
    return ["sh", "-c", 'perl "$1" "$2" "$3" > "$0"', str(product), script, words, rounds]


def _packer(program: str, *options: str) -> Callable[[Path, Path], Sequence[str]]:
    """A compressor that writes to its standard output."""
    line = f'exec {program} {" ".join(options)} -c "$1" > "$0"'
    return lambda folder, product: ["sh", "-c", line, str(product), str(folder / "words.txt")]


def _family(folder: Path, count: int) -> None:
    inputs.alignment(folder / "family.fa")
    inputs.proteins(folder / "proteins.fa", count)


def _document(folder: Path, entries: int) -> None:
    inputs.document(folder / "list.xml", entries)
    inputs.stylesheet(folder / "list.xsl")


def _depth(folder: Path, depth: int) -> None:
    (folder / "depth").write_text(str(depth), encoding="ascii")


def _chess(folder: Path, product: Path) -> Sequence[str]:
    depth = (folder / "depth").read_text(encoding="ascii")
    # Memory of 16 MB, one thread, its own list of positions. What it counts goes to the error
    # stream, with times beside; of these only the nodes searched are the same each time.
    line = 'stockfish bench 16 1 "$1" default depth 2>&1 > /dev/null | grep "^Nodes s" > "$0"'
    return ["sh", "-c", line, str(product), depth]


PROGRAMS: dict[str, Program] = {
    "perl": Program(
        "Perl over a text: hashes, patterns, sorting",
        "perl",
        "perl",
        (10, 50),
        _words_and_program,
        _perl,
    ),
    "bzip2": Program(
        "bzip2 packs a text",
        "bzip2",
        "bzip2",
        (3 * _MIB, 30 * _MIB),
        _into("words.txt", inputs.text),
        _packer("bzip2", "-9"),
    ),
    "gcc": Program(
        "gcc compiles generated C, with -O2",
        "gcc",
        "gcc",
        (60, 500),
        _into("source.c", inputs.c_source),
        lambda folder, product: ["gcc", "-O2", "-S", "-o", str(product), str(folder / "source.c")],
    ),
    "glpsol": Program(
        "GLPK solves a transport problem",
        "glpsol",
        "glpk-utils",
        (170, 350),
        _into("transport.mod", inputs.assignment),
        lambda folder, product: [
            "glpsol",
            "--model",
            str(folder / "transport.mod"),
            "--write",
            str(product),
        ],
    ),
    "gnugo": Program(
        "GNU Go plays against itself",
        "gnugo",
        "gnugo",
        (8, 20),
        _into("moves.gtp", inputs.go_moves),
        lambda folder, product: [  # noqa: ARG005 - it prints its moves
            "gnugo",
            "--mode",
            "gtp",
            "--seed",
            "1",
            "--level",
            "10",
            "--gtp-input",
            str(folder / "moves.gtp"),
        ],
        to_file=False,
    ),
    "hmmsearch": Program(
        "HMMER seeks a family among proteins",
        "hmmsearch",
        "hmmer",
        (800, 8000),
        _family,
        lambda folder, product: [
            "hmmsearch",
            "--cpu",
            "0",
            "--seed",
            "1",
            "--max",
            "-o",
            "/dev/null",
            "--tblout",
            str(product),
            str(folder / "family.hmm"),
            str(folder / "proteins.fa"),
        ],
        remarks=b"#",
        ready=lambda folder: [
            "hmmbuild",
            "--amino",
            "--cpu",
            "0",
            str(folder / "family.hmm"),
            str(folder / "family.fa"),
        ],
    ),
    "minisat": Program(
        "MiniSat decides a random formula",
        "minisat",
        "minisat",
        (225, 265),
        _into("formula.cnf", inputs.clauses),
        lambda folder, product: [
            "minisat",
            "-verb=0",
            str(folder / "formula.cnf"),
            str(product),
        ],
        good=(10, 20),  # satisfiable or not
    ),
    "sqlite3": Program(
        "SQLite joins and groups in memory",
        "sqlite3",
        "sqlite3",
        (150_000, 1_500_000),
        _into("tables.sql", inputs.tables),
        lambda folder, product: [
            "sh",
            "-c",
            'exec sqlite3 :memory: < "$1" > "$0"',
            str(product),
            str(folder / "tables.sql"),
        ],
    ),
    "stockfish": Program(
        "Stockfish searches its own positions, one thread",
        "stockfish",
        "stockfish",
        (9, 14),
        _depth,
        _chess,
    ),
    "x264": Program(
        "x264 encodes generated pictures, one thread",
        "x264",
        "x264",
        (120, 1200),
        _into("frames.yuv", inputs.video),
        lambda folder, product: [
            "x264",
            "--quiet",
            "--threads",
            "1",
            "--demuxer",
            "raw",
            "--input-res",
            "352x288",
            "--fps",
            "25",
            "--muxer",
            "raw",
            "--output",
            str(product),
            str(folder / "frames.yuv"),
        ],
    ),
    "xsltproc": Program(
        "xsltproc turns XML into tables",
        "xsltproc",
        "xsltproc",
        (20_000, 80_000),
        _document,
        lambda folder, product: [
            "xsltproc",
            "--nonet",
            "-o",
            str(product),
            str(folder / "list.xsl"),
            str(folder / "list.xml"),
        ],
    ),
    "xz": Program(
        "xz packs a text, one thread",
        "xz",
        "xz-utils",
        (1 * _MIB, 10 * _MIB),
        _into("words.txt", inputs.text),
        _packer("xz", "-6", "-T1"),
    ),
    "zstd": Program(
        "zstd packs a text hard, one thread",
        "zstd",
        "zstd",
        (1 * _MIB, 10 * _MIB),
        _into("words.txt", inputs.text),
        _packer("zstd", "-19", "--single-thread", "-q"),
    ),
}
"""Name of the case and its work."""
