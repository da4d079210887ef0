"""Names of a host and of its people in what is kept when nobody may be named."""

from __future__ import annotations

import json
import os
import platform
import pwd
import shutil
from pathlib import Path

import fake_adapter
import pytest
from fake_adapter import row, write_suite

from homenode.hosts import anonymous, keeping
from homenode.hosts.anonymous import Names
from homenode.hosts.result import Result, load
from homenode.hosts.run_suite import run_suite
from homenode.hosts.session import Options
from homenode.hosts.settings import parse

ALICE = pwd.struct_passwd(
    ("alice", "x", 1234, 1234, "Alice Archer,Room 7", "/home/a.archer", "/bin/sh")
)
SECRETS = ("alice", "archer", "payroll", "acme")


@pytest.fixture
def of_alice(monkeypatch: pytest.MonkeyPatch) -> None:
    """She works, as root, on payroll-db.acme.test."""
    monkeypatch.setattr(platform, "node", lambda: "payroll-db.acme.test")
    monkeypatch.setenv("SUDO_USER", "alice")
    known = pwd.getpwnam
    monkeypatch.setattr(pwd, "getpwnam", lambda name: ALICE if name == "alice" else known(name))
    texts = {
        "/etc/resolv.conf": "# made by hand\nnameserver 10.0.0.1\nsearch lan dc2.acme.test.\n",
        "/etc/machine-info": 'PRETTY_HOSTNAME="Payroll of Archer"\n',
    }
    monkeypatch.setattr(anonymous, "_text", lambda path: texts.get(path, ""))


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("Linux payroll-db.acme.test 6.18", "Linux host 6.18"),
        (
            "PAYROLL-DB: ready, my-payroll-db, payroll-dbs",
            "host: ready, my-payroll-db, payroll-dbs",
        ),
        ("web.dc2.acme.test, mail.acme.test", "web.domain, mail.domain"),
        ("cat /home/a.archer/x /srv/alice_data/y", "cat /home/user/x /srv/user_data/y"),
        ("by Alice Archer <alice@acme.test>", "by user <user@domain>"),
        ("malice and alices stay", "malice and alices stay"),
        ("on Payroll of Archer", "on host"),
        ("root lan 10.0.0.1 user=postgres", "root lan 10.0.0.1 user=postgres"),
    ],
)
@pytest.mark.usefixtures("of_alice")
def test_names_are_taken_out_as_whole_words(text: str, clean: str) -> None:
    assert Names.here().value({"a": [text, 1, None]}) == {"a": [clean, 1, None]}


def test_who_names_nobody_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    """The system's own accounts, and a host that has no name."""
    monkeypatch.setattr(platform, "node", lambda: "localhost")
    monkeypatch.setattr(anonymous, "_text", lambda _: "")
    monkeypatch.setattr(os, "getuid", lambda: 0)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(os, "getlogin", lambda: "root")
    for name in ("SUDO_USER", "LOGNAME", "USER"):
        monkeypatch.setenv(name, "daemon")
    text = "root@localhost daemon nobody"
    assert Names.here().value(text) == text


@pytest.mark.usefixtures("of_alice")
def test_a_word_for_any_home_network_names_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "node", lambda: "payroll-db.local")
    text = "payroll-db.local payroll-db: local port 80, web.dc2.acme.test"
    assert Names.here().value(text) == "host host: local port 80, web.domain"


def test_outputs_that_are_no_text_are_taken_as_they_are(tmp_path: Path) -> None:
    names = Names([("box", "host"), ("x", "user")])
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "out").write_bytes(b"\xff\xfebox\0x box-2")
    names.folder(tmp_path)
    assert (tmp_path / "a" / "out").read_bytes() == b"\xff\xfehost\0x box-2"
    assert names.value("said \udc80 box") == "said \udc80 host"


def measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    fake_adapter.register(monkeypatch)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    says = "print('as alice on payroll-db, /home/a.archer/.cache'); print(1)"
    dies = "import sys; sys.exit('alice@payroll-db.acme.test may not')"
    suite = write_suite(tmp_path, row("one", says), row("two", dies), defaults="repeats = 1")
    sides = [parse("a", "env=DATA=/home/alice/data switch='true alice'")]
    run_suite(
        str(suite), sides, Options(foreign_limit=None), out=tmp_path / "r.json", anonymous=True
    )
    return tmp_path / "r.json"


def everything(path: Path) -> str:
    raw = path.with_suffix(".raw")
    texts = [path.read_text(), *(f.read_text() for f in raw.rglob("*") if f.is_file())]
    assert len(texts) > 5
    return "\n".join(texts).lower()


@pytest.mark.usefixtures("of_alice")
def test_nothing_that_is_kept_names_anybody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = measured(tmp_path, monkeypatch)
    text = everything(kept)
    assert [name for name in SECRETS if name in text] == []
    assert "as user on host, /home/user/.cache" in text
    result = load(kept)
    assert "user@host may not" in result.failures[0]["why"]
    assert result.systems["a"]["env"] == {"DATA": "/home/user/data"}


@pytest.mark.usefixtures("of_alice")
def test_what_a_killed_session_finished_names_nobody_either(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed as its result was about to be put in place: no name is taken out before."""
    dead = 1 << 22
    left, staged = tmp_path / f".r.unfinished.{dead}.json", tmp_path / f".r.raw.{dead}"

    living: list[keeping.Keeper] = []

    def killed(self: keeping.Keeper, result: Result) -> tuple[Path, Path]:
        living.append(self)  # its own files stay its own
        return keeping.save(result, left), shutil.copytree(self.raw.staged, staged)

    monkeypatch.setattr(keeping.Keeper, "finish", killed)
    measured(tmp_path, monkeypatch)
    assert "alice" in left.read_text()
    (found,) = keeping.recover(tmp_path)
    text = everything(found)
    assert [name for name in SECRETS if name in text] == []
    assert json.loads(found.read_text())["environment"]["anonymous"] is True
