"""`affinity`, `lsmemopt`, `lssrad --frame` and what `check` says of them."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("homenode._engine", reason="the engine is not built: run `make build`")

Command = Callable[..., "subprocess.CompletedProcess[str]"]

FRAME = """\
name = "moved"

[machine]
model = "ibm-power-795"

[[partition]]
name = "erp"
processors = { mode = "shared", entitlement = 12.0, virtual = 24 }
memory = [{ size = "64 GiB", on = "book0" }, { size = "64 GiB", on = "book5" }]
home = ["book0", "book5"]
workload = { kind = "transactions", rate = "100/s", profile = "oltp" }

[[partition]]
name = "web"
processors = { mode = "shared", entitlement = 2.0, virtual = 4 }
memory = "16 GiB"
workload = { kind = "transactions", rate = "100/s", profile = "oltp" }

[run]
warmup = "100 ms"
duration = "400 ms"
replications = 1
"""


@pytest.fixture
def moved(tmp_path: Path) -> Path:
    path = tmp_path / "moved.toml"
    path.write_text(FRAME, encoding="utf-8")
    return path


def answer(done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_check_tells_scores_and_who_lies_where(command: Command, moved: Path) -> None:
    out = answer(command("check", moved))
    assert re.search(r"erp +shared +12\.00 +24 +4 +book0, book5 .* 45$", out, re.MULTILINE)
    assert re.search(r"book0\.chip1 +1\.50 +16 GiB +erp", out)
    assert re.search(r"affinity score 5\d of 100, see homenode affinity", out)
    told = json.loads(answer(command("check", moved, "--json")))
    assert [row["affinity"] for row in told["partitions"]] == [45, 100]
    assert {row["partition"] for row in told["frame"]} == {"erp", "web"}
    assert sum(row["entitlement"] for row in told["frame"]) == pytest.approx(14.0)
    assert 45 < told["affinity"] < 100


def test_affinity_shows_now_and_then(command: Command, moved: Path) -> None:
    out = answer(command("affinity", moved))
    assert re.search(r"erp +12\.00 +128 GiB +12 % +38 % +50 % +45 +book0, book5", out)
    assert re.search(r"erp +56 % +100 +96 GiB +-\d+\.\d % to -\d\.\d % +book0\.chip0-1", out)
    assert re.search(r"moved: affinity score 5\d of 100, after a run 100", out)
    assert "the formula of the HMC's score is not published" in out
    told = json.loads(answer(command("affinity", moved, "--json")))
    assert told["score"]["then"] == 100
    assert told["partitions"][0]["instruction_change_pct"] < 0
    kept = json.loads(answer(command("affinity", moved, "-x", "erp", "-x", "web", "--json")))
    assert kept["score"]["then"] == kept["score"]["now"]


def test_the_layout_after_the_run_can_be_simulated(
    command: Command, moved: Path, tmp_path: Path
) -> None:
    after = tmp_path / "after.toml"
    assert "is in" in command("affinity", moved, "-o", after).stderr
    assert ", on = " not in after.read_text(encoding="utf-8")
    assert "nothing would move" in answer(command("affinity", after))
    refused = command("affinity", moved, "-o", after)
    assert (refused.returncode, "add --force" in refused.stderr) == (2, True)
    assert command("affinity", moved, "-o", after, "--force").returncode == 0
    nowhere = command("affinity", moved, "-o", tmp_path / "no" / "after.toml")
    assert (nowhere.returncode, "cannot be written" in nowhere.stderr) == (2, True)
    both = command("affinity", moved, "-o", tmp_path / "x.toml", "-x", "web")
    assert (both.returncode, "leave -x out" in both.stderr) == (2, True)


def test_rows_as_the_hmc_prints_them(command: Command, moved: Path) -> None:
    assert answer(command("lsmemopt", moved)) == (
        "lpar_name=erp,lpar_id=1,curr_lpar_score=45\nlpar_name=web,lpar_id=2,curr_lpar_score=100\n"
    )
    system = answer(command("lsmemopt", moved, "-r", "sys", "-o", "calcscore"))
    assert re.fullmatch(r"curr_sys_score=5\d,predicted_sys_score=100\n", system)
    rows = json.loads(answer(command("lsmemopt", moved, "-o", "calcscore", "--json")))
    assert rows[0]["predicted_lpar_score"] == 100
    listing = moved.with_name("scores.txt")
    listing.write_text(answer(command("lsmemopt", moved, "-o", "calcscore")), encoding="utf-8")
    read = command("import", "--look", listing)
    assert "2 rows of lsmemopt lpar" in read.stdout + read.stderr, "as a real HMC's are read"
    wrong = command("lsmemopt", moved, "-o", "score")
    assert wrong.returncode == 2


def test_a_run_has_a_frame_too(command: Command, moved: Path, tmp_path: Path) -> None:
    out = tmp_path / "runs"
    run = json.loads(answer(command("run", moved, "--out", out, "--json")))["run"]
    for words in (("-r", run), ("-r", moved)):
        text = answer(command("lssrad", "--frame", *words, "--out", out))
        assert text.startswith("REF1   SRAD   LPAR")
        assert re.search(r"^ +20 +erp +16384\.00 +1\.50 ", text, re.MULTILINE)
    rows = json.loads(answer(command("lssrad", "--frame", "--out", out, "--json")))
    assert {row["LPAR"] for row in rows} == {"erp", "web"}
    assert "affinity score" in answer(command("affinity", "--out", out))
    alone = command("lssrad", "--frame", "-p", "web", "--out", out)
    assert (alone.returncode, "leave everything else out" in alone.stderr) == (2, True)


def test_other_machines_have_no_score(command: Command, root: Path) -> None:
    for name in ("prsm-three-partitions", "rx7640-two-vpars", "linux-groups"):
        refused = command("affinity", root / "examples" / f"{name}.toml")
        assert refused.returncode == 2
        assert "homenode check shows who lies where" in refused.stderr
        told = json.loads(answer(command("check", root / "examples" / f"{name}.toml", "--json")))
        assert told["affinity"] is None
        assert told["frame"]


def test_sizes_stay_short(command: Command, tmp_path: Path) -> None:
    """4 TiB over two drawers in blocks of 256 MiB."""
    text = FRAME.replace("ibm-power-795", "ibm-power-e1080").partition("[[partition]]")[0]
    text += '[[partition]]\nname = "big"\nmemory = "4 TiB"\nworkload = { kind = "idle" }\n'
    text += 'processors = { mode = "shared", entitlement = 100.0, virtual = 130 }\n'
    (tmp_path / "big.toml").write_text(text, encoding="utf-8")
    assert "2458 GiB drawer0" in answer(command("check", tmp_path / "big.toml"))
