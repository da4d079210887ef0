"""A report as one HTML file: no script, no network, pictures as drawings within it."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import replace
from html import escape
from pathlib import Path

from homenode.errors import HomenodeError, StoreError
from homenode.report.handed.section import Picture, Section
from homenode.report.pictures import page_drawing
from homenode.simulate.kept.grid import Grid
from homenode.staging import write_whole

MOST_BYTES = 3_000_000
"""What can be mailed."""
_LONG = 12
"""Rows beyond which a table is folded on the screen; it prints whole."""
_WHOLE = 24
"""Rows up to which one that stands beside another is kept on one page."""
_BRIEF = 40
"""Letters up to which a cell takes one line, on a narrow screen too."""
_HALF = 62
"""Letters of a row that two tables side by side leave room for on paper, blanks between counted."""
_BROAD = 1.5
"""Times as wide as high: of such drawings three go on a page and are read still."""
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
_STYLE = """\
:root { color-scheme: light dark; --ink: #1d2327; --ground: #fff; --line: #c9d1d6; }
@media screen and (prefers-color-scheme: dark) {
  :root { --ink: #e8ecee; --ground: #1b1b1b; --line: #4a545b; }
}
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--ground);
  max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1, h2 { line-height: 1.2; } h2 { margin-top: 2.5rem; border-top: 1px solid var(--line);
  padding-top: 1rem; }
figure { margin: 1rem 0; padding: .5rem; overflow-x: auto; }
figure svg { max-width: 100%; height: auto; }
.wide, pre { overflow-x: auto; } .brief :is(th, td) { white-space: nowrap; }
pre { font-size: 13px; }
table { border-collapse: collapse; margin: 1rem 0; font-variant-numeric: tabular-nums;
  font-size: 14px; }
caption { text-align: left; font-weight: 600; padding: .25rem 0; }
th, td { padding: .15rem .6rem .15rem 0; border-bottom: 1px solid var(--line);
  vertical-align: top; }
td[style*="right"] { white-space: nowrap; }
summary { cursor: pointer; font-weight: 600; min-height: 24px; }
@media (max-width: 700px) { figure svg { max-width: none; } }
@media print { figure svg { max-height: 22cm; } .wide, figure { overflow: visible; }
  figure.broad svg { max-height: 8.2cm; } h2 + p:has(+ figure) { break-after: avoid; } }
@media print { .abreast { columns: 2; column-gap: 1cm; } .abreast .wide { margin-top: 0; }
  td:not(:last-child), tbody th { white-space: nowrap; } th, td { padding-right: .5rem; } }
@media print { body { max-width: none; margin: 0; font-size: 10pt; line-height: 1.35; }
  h1 { margin: 0; } h2 { break-after: avoid; margin-top: 1rem; padding-top: .6rem; }
  table { font-size: 8.5pt; margin: .5rem 0; } p { margin: .5rem 0; orphans: 3; widows: 3; }
  figure { margin: .5rem 0; padding: 0; } figure, tr { break-inside: avoid; }
  tr:first-child:not(:last-child) { break-after: avoid; }
  tr:last-child:not(:first-child) { break-before: avoid; } }
@media print { pre { white-space: pre-wrap; overflow-wrap: anywhere; }
  summary { list-style: none; } summary, caption, thead { break-after: avoid; }
  summary, caption, thead, .whole { break-inside: avoid; } }
@media print { details::details-content { content-visibility: visible; block-size: auto; } }
"""


def write_report(title: str, sections: Sequence[Section], path: Path) -> Path:
    """Write the file as a whole. Raises `HomenodeError` where it cannot be written or mailed."""
    path = report_path(path)
    content = page_text(title, sections).encode()
    if len(content) > MOST_BYTES:
        raise HomenodeError(
            f"the report would have {len(content) / 1e6:.1f} MB, more than {MOST_BYTES / 1e6:g}",
            next_step="report fewer runs at once, or a run of fewer partitions",
        )
    try:
        write_whole(path, content)
    except OSError as error:
        raise StoreError(
            f"cannot write {path}: {error.strerror or error}",
            next_step="name a file in a folder that is there and yours",
        ) from error
    return path


def report_path(path: Path) -> Path:
    """Where a report is to be written; refused with another suffix, and where no folder is."""
    if path.suffix != ".html":
        raise HomenodeError(f"{path}: a report ends in .html")
    if not path.parent.is_dir():
        raise HomenodeError(f"cannot write {path}: there is no folder {path.parent}")
    return path


def page_text(title: str, sections: Sequence[Section]) -> str:
    """The whole page."""
    body = "\n".join(_section(one, at) for at, one in enumerate(sections))
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>\n{_STYLE}</style>\n</head>\n<body>\n"
        f"<main>\n<h1>{escape(title)}</h1>\n{body}\n</main>\n</body>\n</html>\n"
    )


def _section(one: Section, at: int) -> str:
    parts = [f'<section aria-labelledby="s{at}">', f'<h2 id="s{at}">{escape(one.title)}</h2>']
    parts += [f"<p>{escape(line)}</p>" for line in one.lines]
    parts += [_figure(picture, f"f{at}-{place}") for place, picture in enumerate(one.pictures)]
    for narrow, tables in itertools.groupby((grid for grid in one.tables if grid.rows), _is_narrow):
        told = [_table(grid) for grid in tables]
        parts += ['<div class="abreast">', *told, "</div>"] if narrow and told[1:] else told
    if one.commands:
        parts.append(f"<pre>{escape(chr(10).join(one.commands))}</pre>")
    return "\n".join([*parts, "</section>"])


def _figure(picture: Picture, key: str) -> str:
    """The drawing with a name for those who do not see it; ids are its own on the page."""
    drawn = page_drawing(picture.chart, picture.says)
    drawn = re.sub(r'\b(id="|url\(#|href="#)', lambda found: found[0] + key + "-", drawn)
    size = re.search(r'viewBox="\S+ \S+ ([\d.]+) ([\d.]+)"', drawn)
    broad = size is not None and float(size[1]) >= _BROAD * float(size[2])
    kind = ' class="broad"' if broad else ""
    return f'<figure tabindex="0"{kind}>\n{drawn}\n</figure>'


def _is_narrow(grid: Grid) -> bool:
    """Whether two such stand side by side on a page."""
    rows = [grid.heads, *grid.rows]
    widths = [max(len(row[at]) for row in rows) + 2 for at in range(len(grid.heads))]
    return sum(widths) <= _HALF


def _table(grid: Grid) -> str:
    if len(grid.rows) <= _LONG:
        return f'<div class="whole">\n{_wide(grid, grid.title)}\n</div>'
    heading = escape(grid.title or f"{len(grid.rows)} rows")
    text = _wide(replace(grid, title=""), heading)
    kind = ' class="whole"' if len(grid.rows) <= _WHOLE and _is_narrow(grid) else ""
    return f"<details{kind}>\n<summary>{heading}</summary>\n{text}\n</details>"


def _wide(grid: Grid, name: str) -> str:
    """A table that is moved sideways, by keys too, where it is wider than the screen."""
    label = escape(name or "Table", quote=True)
    longest = max(len(cell) for row in grid.rows for cell in row)
    kind = "wide brief" if longest <= _BRIEF else "wide"
    return (
        f'<div class="{kind}" tabindex="0" role="region" aria-label="{label}">\n'
        f"{grid.html()}\n</div>"
    )
