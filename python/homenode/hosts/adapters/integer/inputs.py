"""Inputs of the programs: made from a seed, the same bytes on every host.

Of Python's generator only `random()` is used, whose numbers are the same in every version.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path
from random import Random

_SEED = 20_111
_LETTERS = "etaoinshrdlucmfwypvbgkjqxz"
_VOCABULARY = 8000
_DRAWN = 1 << 16


def _below(source: Random, limit: int) -> int:
    """A number from 0 to `limit` - 1."""
    return int(source.random() * limit)


def text(path: Path, size: int) -> None:
    """Words as of a language: few that are frequent, many that are rare; `size` bytes."""
    source = Random(_SEED)  # noqa: S311 - the same numbers everywhere are the point
    words = [_word(source) for _ in range(_VOCABULARY)]
    # The rank-frequency law of words: the n-th is met 1/n times as often as the first.
    heights = list(accumulate(1.0 / rank for rank in range(1, _VOCABULARY + 1)))
    drawn = [words[bisect_left(heights, heights[-1] * at / _DRAWN)] for at in range(_DRAWN)]
    random = source.random
    parts: list[str] = []
    length = 0
    while length < size:
        line = " ".join([drawn[int(random() * _DRAWN)] for _ in range(4 + int(random() * 16))])
        parts.append(line)
        length += len(line) + 1
    path.write_text("\n".join(parts)[: size - 1] + "\n", encoding="ascii")


def _word(source: Random) -> str:
    length = 2 + _below(source, 9)
    return "".join(_LETTERS[int(26 * source.random() ** 2)] for _ in range(length))


def c_source(path: Path, functions: int) -> None:
    """A C program of so many functions, with loops, branches, arrays and calls among them."""
    source = Random(_SEED)  # noqa: S311
    lines = ["static unsigned t[1024];"]
    for number in range(functions):
        lines += _c_function(source, number)
    calls = " + ".join(f"f{number}(n, {number})" for number in range(0, functions, 5))
    lines += ["int main(int n, char **a) {", f"  return (int)({calls}) + !a;", "}"]
    path.write_text("\n".join(lines) + "\n", encoding="ascii")


def _c_function(source: Random, number: int) -> Iterator[str]:
    yield f"static unsigned f{number}(unsigned a, unsigned b) {{"
    yield "  unsigned s = a ^ b, i, j;"
    yield f"  for (i = 0; i < (a & {15 + _below(source, 240)}); i++) {{"
    for step in range(4 + _below(source, 8)):
        odd = 2 * _below(source, 1 << 15) + 1
        yield f"    t[(s + {step}) & 1023] += s * {odd}u + (b >> {1 + _below(source, 9)});"
        yield f"    if (s & {1 << _below(source, 12)}) s ^= t[i & 1023]; else s += t[b & 1023];"
    yield "    for (j = 0; j < 8; j++) s = (s << 3) ^ t[(i * j) & 1023];"
    if number:
        yield f"    if ((s & 4095) == {_below(source, 4096)}) s += f{_below(source, number)}(s, i);"
    yield "  }"
    yield "  switch (s & 7) {"
    for case in range(8):
        factor, place = 3 + _below(source, 97), _below(source, 1024)
        yield f"  case {case}: s = s * {factor}u + t[{place}]; break;"
    yield "  }"
    yield "  return s;"
    yield "}"


def go_moves(path: Path, moves: int) -> None:
    """Commands for a game of Go that the program plays against itself on a board of 13 lines."""
    sides = ("black", "white")
    commands = ["boardsize 13", "clear_board", "komi 6.5"]
    commands += [f"genmove {sides[move % 2]}" for move in range(moves)]
    path.write_text("\n".join([*commands, "showboard", "quit"]) + "\n", encoding="ascii")


def video(path: Path, frames: int) -> None:
    """Raw pictures of 352 by 288 points, 4:2:0: two shapes that move over a grainy ground."""
    width, height = 352, 288
    source = Random(_SEED)  # noqa: S311
    ground = bytes(96 + _below(source, 64) for _ in range(width * 2))
    colour = bytes(128 for _ in range(width * height // 2))
    with path.open("wb") as out:
        for frame in range(frames):
            for line in range(height):
                shift = (line * 7 + frame) % width
                row = bytearray(ground[shift : shift + width])
                for speed, top, shade in ((3, 60, 220), (5, 150, 30)):
                    if top <= line < top + 64:
                        left = frame * speed % (width - 64)
                        row[left : left + 64] = bytes([(shade + line) & 255]) * 64
                out.write(row)
            out.write(colour)


def proteins(path: Path, count: int) -> None:
    """Sequences of 300 amino acids, in FASTA."""
    source = Random(_SEED)  # noqa: S311
    with path.open("w", encoding="ascii") as out:
        for number in range(count):
            out.write(f">s{number}\n{_acids(source, 300)}\n")


def alignment(path: Path, rows: int = 12, columns: int = 180) -> None:
    """An aligned family, in FASTA: one sequence, each row with every sixth acid another."""
    source = Random(_SEED + 1)  # noqa: S311
    first = _acids(source, columns)
    with path.open("w", encoding="ascii") as out:
        for row in range(rows):
            changed = "".join(
                _acids(source, 1) if _below(source, 6) == 0 else acid for acid in first
            )
            out.write(f">a{row}\n{changed}\n")


def _acids(source: Random, length: int) -> str:
    return "".join("ACDEFGHIKLMNPQRSTVWY"[_below(source, 20)] for _ in range(length))


def clauses(path: Path, variables: int) -> None:
    """A random formula of 4.6 clauses of three a variable: a little beyond where half of them can
    be satisfied, so that it is hard to refute.
    """
    source = Random(_SEED)  # noqa: S311
    count = round(4.6 * variables)
    lines = [f"p cnf {variables} {count}"]
    for _ in range(count):
        chosen: list[int] = []
        while len(chosen) < 3:
            variable = 1 + _below(source, variables)
            if variable not in chosen:
                chosen.append(variable)
        signed = (v if source.random() < 0.5 else -v for v in chosen)
        lines.append(" ".join(map(str, signed)) + " 0")
    path.write_text("\n".join(lines) + "\n", encoding="ascii")


def assignment(path: Path, places: int) -> None:
    """Goods of so many suppliers sent to as many customers at the least cost, in GLPK's language:
    a program of `places` squared variables.
    """
    lines = [
        f"param n := {places};",
        "set P := 1..n;",
        "param cost{i in P, j in P} := 1 + (i * 7919 + j * 104729 + i * j * 31) mod 997;",
        "param supply{i in P} := 20 + (i * 37) mod 11;",
        "var x{P, P} >= 0;",
        "minimize total: sum{i in P, j in P} cost[i, j] * x[i, j];",
        "subject to from{i in P}: sum{j in P} x[i, j] <= supply[i];",
        "subject to into{j in P}: sum{i in P} x[i, j] >= 15 + (j * 13) mod 5;",
        "end;",
    ]
    path.write_text("\n".join(lines) + "\n", encoding="ascii")


def tables(path: Path, rows: int) -> None:
    """Statements for a database in memory: two tables filled, indexed, joined, grouped."""
    path.write_text(_TABLES.replace("ROWS", str(rows)), encoding="ascii")


_TABLES = """\
create table orders(id integer primary key, customer integer, amount integer, t text);
create table customers(id integer primary key, region integer, name text);
with recursive n(i) as (select 1 union all select i + 1 from n where i < ROWS)
insert into orders
select i, (i * 7919) % 5003, (i * 104729) % 9973, 'order ' || (i * 31 % 1009) from n;
with recursive n(i) as (select 1 union all select i + 1 from n where i < 5003)
insert into customers select i, i % 17, 'customer ' || i from n;
create index by_customer on orders(customer, amount);
select region, count(*), sum(amount), max(t) from orders join customers
on orders.customer = customers.id group by region order by region;
select t, count(*) from orders where t like '%9%' group by t order by 2 desc, 1 limit 9;
select sum(a) from (select amount * 3 % 1001 as a from orders order by t, a);
"""


def document(path: Path, entries: int) -> None:
    """An XML document of so many entries."""
    source = Random(_SEED)  # noqa: S311
    with path.open("w", encoding="ascii") as out:
        out.write("<list>\n")
        for number in range(entries):
            group, size = _below(source, 50), _below(source, 10_000)
            out.write(f'<entry id="e{number}" group="g{group}"><size>{size}</size>')
            out.write(f"<name>{_word(source)} {_word(source)}</name></entry>\n")
        out.write("</list>\n")


def stylesheet(path: Path) -> None:
    """What turns the document into tables: sorted, by group, with names looked up by a key."""
    path.write_text(_STYLE, encoding="ascii")


_STYLE = """\
<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">
<xsl:key name="of" match="entry" use="@group"/>
<xsl:template match="/list">
<html><xsl:for-each select="entry[generate-id() = generate-id(key('of', @group)[1])]">
<xsl:sort select="@group"/>
<h1><xsl:value-of select="@group"/> <xsl:value-of select="sum(key('of', @group)/size)"/></h1>
<table><xsl:for-each select="key('of', @group)">
<xsl:sort select="size" data-type="number"/><xsl:sort select="name"/>
<tr><td><xsl:value-of select="translate(name, 'aeiou', 'AEIOU')"/></td>
<td><xsl:value-of select="concat(substring(name, 1, 5), '-', size mod 97)"/></td></tr>
</xsl:for-each></table></xsl:for-each></html>
</xsl:template>
</xsl:stylesheet>
"""


def perl_program(path: Path) -> None:
    """A Perl program: hashes, patterns, sorting, joining of strings."""
    path.write_text(_PERL, encoding="ascii")


_PERL = """\
use strict; use warnings;
my ($file, $rounds) = @ARGV;
open(my $in, '<', $file) or die "$file: $!";
my @lines = <$in>;
my %count; my $sum = 0;
for my $round (1 .. $rounds) {
    for my $line (@lines) {
        for my $word (split ' ', $line) {
            $count{$word}++;
            $sum += length($1) if $word =~ /^(?:[aeiou]*)([^aeiou]+)/;
        }
        (my $turned = $line) =~ s/(\\w+) (\\w+)/$2 $1/g;
        $sum += ($turned =~ tr/a-m//);
    }
    my @most = sort { $count{$b} <=> $count{$a} || $a cmp $b } keys %count;
    $sum = ($sum * 31 + length(join ',', @most)) % 1000003;
}
print "$sum\\n";
"""
