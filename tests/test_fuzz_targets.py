"""One list of parsers: the damage tests, the fuzz targets and their seeds have the same names."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TESTS = ROOT / "crates" / "captures" / "tests"


def named(pattern: str, *paths: Path) -> list[str]:
    found = [re.findall(pattern, path.read_text(encoding="utf-8"), re.MULTILINE) for path in paths]
    return sorted(name for names in found for name in names)


def test_every_parser_has_a_target_seeds_and_a_damage_test() -> None:
    readers = named(r'(?:reader|topology)\(\s*"(\w+)"', TESTS / "damaged" / "readers" / "mod.rs")
    assert readers
    assert named(r'^name = "(\w+)"$', ROOT / "fuzz" / "Cargo.toml") == readers
    targets = ROOT / "fuzz" / "fuzz_targets"
    assert named(r'homenode_fuzz::check\("(\w+)"', *targets.glob("*.rs")) == readers
    assert sorted(path.stem for path in targets.glob("*.rs")) == readers
    seeds = ROOT / "fuzz" / "seeds"
    assert sorted(path.name for path in seeds.iterdir()) == readers
    main = (TESTS / "damaged" / "main.rs").read_text(encoding="utf-8")
    tested = re.search(r"^damaged! \{(.*?)\}", main, re.DOTALL | re.MULTILINE)
    assert tested is not None
    assert sorted(tested[1].split()) == readers
