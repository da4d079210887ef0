"""Runs a notebook without a notebook server: cells in order, one namespace, the last value shown.

Outputs are plain text and, for pictures, SVG, so that a stored notebook changes only when
what it shows does.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
from pathlib import Path
from typing import Any


def run(notebook: Path, folder: Path) -> str:
    """The notebook with fresh outputs; raises what a cell raises."""
    content = json.loads(notebook.read_text(encoding="utf-8"))
    names: dict[str, object] = {"__name__": "__main__"}
    count = 0
    for cell in content["cells"]:
        if cell["cell_type"] == "code":
            count += 1
            cell["execution_count"] = count
            cell["outputs"] = _run_cell("".join(cell["source"]), names, folder, count)
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def without_pictures(text: str) -> str:
    """The notebook less its pictures, which depend on the fonts of the machine."""
    content = json.loads(text)
    for cell in content["cells"]:
        for output in cell.get("outputs", ()):
            output.get("data", {}).pop("image/svg+xml", None)
    return json.dumps(content, indent=1, ensure_ascii=False)


def _run_cell(
    source: str, names: dict[str, object], folder: Path, count: int
) -> list[dict[str, Any]]:
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed = io.StringIO()
    value = None
    with contextlib.chdir(folder), contextlib.redirect_stdout(printed):
        exec(compile(tree, f"cell {count}", "exec"), names)  # noqa: S102 - our own notebook
        if isinstance(last, ast.Expr):
            expression = ast.Expression(last.value)
            value = eval(compile(expression, f"cell {count}", "eval"), names)  # noqa: S307
    outputs: list[dict[str, Any]] = []
    if printed.getvalue():
        outputs.append(
            {"name": "stdout", "output_type": "stream", "text": _lines(printed.getvalue())}
        )
    if value is not None:
        outputs.append(
            {
                "data": _shown(value),
                "execution_count": count,
                "metadata": {},
                "output_type": "execute_result",
            }
        )
    return outputs


def _shown(value: object) -> dict[str, list[str]]:
    """A value in the forms a page can show."""
    if hasattr(value, "to_dict") and hasattr(value, "resolve_scale"):  # an Altair chart
        import vl_convert

        svg = vl_convert.vegalite_to_svg(json.dumps(value.to_dict()))
        return {"image/svg+xml": _lines(svg), "text/plain": ["a chart"]}
    if hasattr(value, "_repr_svg_"):
        return {"image/svg+xml": _lines(value._repr_svg_()), "text/plain": ["a drawing"]}
    return {"text/plain": _lines(str(value) if not isinstance(value, str) else repr(value))}


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)
