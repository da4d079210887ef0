"""Files, folders and archives: what is in them, each once, and no more than the limits allow."""

from __future__ import annotations

import bz2
import errno
import gzip
import io
import lzma
import os
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from homenode.errors import NotFoundError
from homenode.records.importing.opening.bounds import Limits
from homenode.records.importing.opening.gather import Gathered
from homenode.records.importing.opening.sources import ListingError

TEXT = b"timestamp,name,cpu\n0,a,1\n300,a,2\n"
PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": lambda data: pa.compress(data, "zstd", asbytes=True),
}


def gathered(*paths: Path, limits: Limits | None = None) -> tuple[dict[str, bytes], Gathered]:
    """Contents by name, and all else that was found."""
    with Gathered(limits or Limits()) as found:
        found.add_all(list(paths))
        return {one.file: one.read(1 << 30) for one in found.inputs}, found


def tar_of(members: dict[str, bytes], mode: str = "w", form: int = tarfile.GNU_FORMAT) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode, format=form) as archive:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return out.getvalue()


def zip_of(members: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return out.getvalue()


@pytest.mark.parametrize("kind", PACKERS)
def test_compressed_files_are_read_as_what_they_hold(kind: str, tmp_path: Path) -> None:
    path = tmp_path / f"a.csv.{kind}"
    path.write_bytes(PACKERS[kind](TEXT) * 2)
    contents, found = gathered(path)
    assert contents == {str(path): TEXT * 2}
    assert [one.name for one in found.inputs] == ["a.csv"]
    assert found.notices == []


@pytest.mark.parametrize("kind", PACKERS)
def test_a_compressed_file_that_is_cut_off_gives_what_is_there(kind: str, tmp_path: Path) -> None:
    long = os.urandom(1 << 20) + TEXT * 20_000
    path = tmp_path / f"a.{kind}"
    packed = PACKERS[kind](long)
    path.write_bytes(packed[: len(packed) - 2000])
    contents, found = gathered(path)
    (there,) = contents.values()
    assert 0 < len(there) < len(long)
    assert long.startswith(there)
    assert len(found.notices) == 1
    assert str(found.notices[0]).startswith(f"{path}: it ")


@pytest.mark.parametrize("form", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
@pytest.mark.parametrize("mode", ["w", "w:gz", "w:bz2", "w:xz"])
def test_archives_within_archives(form: int, mode: str, tmp_path: Path) -> None:
    deep = f"{'long-folder-name/' * 8}x.csv"
    inner = zip_of({"b.csv": TEXT, "c.csv.gz": gzip.compress(TEXT)})
    members = {deep: TEXT, "big": TEXT * 40_000, "inner.zip": inner, "empty": b""}
    path = tmp_path / "all.tar"
    path.write_bytes(tar_of(members, mode, form))
    contents, found = gathered(path)
    at = f"{path}:"
    assert contents == {
        f"{at}{deep}": TEXT,
        f"{at}big": TEXT * 40_000,
        f"{at}inner.zip:b.csv": TEXT,
        f"{at}inner.zip:c.csv.gz": TEXT,
    }
    assert [(one.file, one.why) for one in found.left] == [(f"{at}empty", "it is empty")]
    assert [one.name for one in tmp_path.iterdir()] == ["all.tar"]


def test_names_that_lead_out_are_left(tmp_path: Path) -> None:
    evil = {"../out.csv": TEXT, "/etc/out.csv": TEXT, "a/../../out.csv": TEXT, "good.csv": TEXT}
    for name, data in {"a.tar": tar_of(evil), "a.zip": zip_of(evil)}.items():
        path = tmp_path / "box" / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)
        contents, found = gathered(path)
        assert list(contents) == [f"{path}:good.csv"]
        assert len(found.left) == 3
        assert {one.why for one in found.left} == {"its name leads out of the archive"}
    assert [one.name for one in tmp_path.iterdir()] == ["box"]


def test_a_tar_that_is_damaged_gives_what_comes_before(tmp_path: Path) -> None:
    data = bytearray(tar_of({"a.csv": TEXT, "b.csv": TEXT, "c.csv": TEXT}))
    data[1024 + 10] ^= 0xFF  # the header of b.csv
    path = tmp_path / "a.tar"
    path.write_bytes(data)
    contents, found = gathered(path)
    assert list(contents) == [f"{path}:a.csv"]
    assert [one.text for one in found.notices] == [
        "a member's header is damaged; what comes before is kept"
    ]
    path.write_bytes(tar_of({"a.csv": TEXT, "b.csv": TEXT * 1000})[:4000])
    contents, found = gathered(path)
    assert len(contents[f"{path}:b.csv"]) == 4000 - 1536
    assert [one.text for one in found.notices] == ["it ends early; what is there of it is kept"]


def test_a_zip_member_with_a_wrong_checksum_is_kept_and_told(tmp_path: Path) -> None:
    data = bytearray(zip_of({"a.csv": TEXT, "b.csv": TEXT}))
    where = data.find(b"b.csv") - 30 + 14
    central = data.rfind(b"b.csv") - 46 + 16
    data[where] ^= 0xFF
    data[central] ^= 0xFF
    path = tmp_path / "a.zip"
    path.write_bytes(data)
    contents, found = gathered(path)
    assert contents[f"{path}:a.csv"] == TEXT
    assert len(found.notices) == 1
    assert "b.csv" in found.notices[0].text


@pytest.mark.parametrize("kind", PACKERS)
def test_what_unpacks_to_far_too_much_is_refused(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "bomb.csv"
    path.write_bytes(PACKERS[kind](TEXT + b"0" * (4 << 20)))
    contents, _ = gathered(path)
    assert len(contents[str(path)]) > 4 << 20
    with pytest.raises(ListingError, match="more than 20 times its size"):
        gathered(path, limits=Limits(ratio=20, free=1 << 20))
    with pytest.raises(ListingError, match="more than 2 MiB"):
        gathered(path, limits=Limits(unpacked=2 << 20))


def test_members_of_archives_count_together(tmp_path: Path) -> None:
    members = {f"{number}.csv": os.urandom(1000) for number in range(40)}
    for name, data in {"a.tar": tar_of(members), "a.zip": zip_of(members)}.items():
        path = tmp_path / name
        path.write_bytes(data)
        _, found = gathered(path, limits=Limits(unpacked=30_000))
        assert found.inputs == []
        assert "it unpacks to more than 29.2969 KiB" in found.left[0].why
        _, found = gathered(path, limits=Limits(members=39))
        assert "there are more than 39 files, folders and links in all" in found.left[0].why


def test_archives_within_archives_count_together_too(tmp_path: Path) -> None:
    inner = zip_of({f"{number}.csv": TEXT for number in range(10)})
    for name, pack in {"a.tar": tar_of, "a.zip": zip_of}.items():
        path = tmp_path / name
        path.write_bytes(pack({f"{number}.zip": inner for number in range(3)}))
        contents, found = gathered(path, limits=Limits(members=33))
        assert len(contents) == 30
        assert found.left == []
        contents, found = gathered(path, limits=Limits(members=32))
        assert len(contents) == 20
        assert [one.file for one in found.left] == [f"{path}:2.zip"]
        with pytest.raises(ListingError, match="more than 33 files"):
            folders_and(path, tmp_path / "beside", count=33)


def folders_and(path: Path, beside: Path, count: int) -> None:
    """An archive, and then a folder of one more file than may still be there."""
    beside.mkdir(exist_ok=True)
    (beside / "one.csv").write_bytes(TEXT)
    gathered(path, beside, limits=Limits(members=count))


def test_what_goes_while_a_folder_is_read_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.csv").write_bytes(TEXT)
    (tmp_path / "gone").symlink_to("a.csv")

    def readlink(self: Path) -> Path:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(self))

    monkeypatch.setattr(Path, "readlink", readlink)
    contents, found = gathered(tmp_path)
    assert list(contents) == [str(tmp_path / "a.csv")]
    assert [(one.file, one.why) for one in found.left] == [
        (str(tmp_path / "gone"), "No such file or directory")
    ]


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="only Linux has such a folder")
def test_a_folder_that_changes_by_being_read_is_read() -> None:
    assert gathered(Path("/proc/self/fd"))[0] == {}


def test_a_zip_that_is_mostly_zeros_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bomb.zip"
    path.write_bytes(zip_of({"a.csv": b"0" * (8 << 20)}))
    _, found = gathered(path, limits=Limits(free=1 << 20))
    assert "more than 200 times its size" in found.left[0].why


def test_archives_of_nothing_and_damaged_ones_are_left(tmp_path: Path) -> None:
    for name, data, why in (
        ("empty.zip", zip_of({}), "it holds no file that can be read"),
        ("cut.zip", zip_of({"a.csv": TEXT})[:-10], "it is no sound zip archive"),
    ):
        path = tmp_path / name
        path.write_bytes(data)
        _, found = gathered(path)
        assert found.left[0].why.startswith(why)


def test_archives_too_deep_are_left(tmp_path: Path) -> None:
    data, name = TEXT, "a.csv"
    for _ in range(7):
        data, name = tar_of({name: data}), "in.tar"
    path = tmp_path / "deep.tar"
    path.write_bytes(data)
    contents, found = gathered(path)
    assert contents == {}
    assert "more than 6 archives within each other" in found.left[0].why


def test_a_pax_header_may_not_be_endless(tmp_path: Path) -> None:
    data = bytearray(tar_of({"p": b"x" * (1 << 20), "a.csv": TEXT}))
    data[156:157] = b"x"
    checksum = sum(data[:148]) + 8 * 32 + sum(data[156:512])
    data[148:156] = f"{checksum:06o}\0 ".encode()
    path = tmp_path / "a.tar"
    path.write_bytes(data)
    _, found = gathered(path)
    assert [one.text for one in found.notices] == [
        "a member's name is too long; what comes before is kept"
    ]


def test_a_folder_is_gone_through_without_following_links(tmp_path: Path) -> None:
    (tmp_path / "box" / "sub").mkdir(parents=True)
    (tmp_path / "outside.csv").write_bytes(TEXT)
    (tmp_path / "box" / "b.csv").write_bytes(TEXT)
    (tmp_path / "box" / "sub" / "a.csv").write_bytes(TEXT)
    (tmp_path / "box" / "loop").symlink_to(tmp_path / "box")
    (tmp_path / "box" / "leads.csv").symlink_to(tmp_path / "outside.csv")
    os.mkfifo(tmp_path / "box" / "pipe")
    contents, found = gathered(tmp_path / "box")
    assert list(contents) == [str(tmp_path / "box" / name) for name in ("b.csv", "sub/a.csv")]
    assert [one.why for one in found.left] == ["it is no regular file"]


def test_a_file_given_twice_counts_once(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(TEXT)
    contents, found = gathered(path, path)
    assert list(contents) == [str(path)]
    assert [one.why for one in found.left] == ["it was given twice"]


def test_what_is_not_there_names_the_nearest(tmp_path: Path) -> None:
    (tmp_path / "recording.nmon").write_bytes(TEXT)
    with pytest.raises(NotFoundError, match=r"did you mean recording\.nmon\?"):
        gathered(tmp_path / "recordng.nmon")


def tree_of(path: Path) -> Gathered:
    found = Gathered()
    found.add(path)
    return found


def test_a_dump_is_a_tree_in_a_folder_and_in_an_archive(tmp_path: Path) -> None:
    root = tmp_path / "box" / "host1"
    cpu = root / "sys/devices/system/cpu"
    node = root / "sys/devices/system/node/node0"
    for folder in (cpu / "cpu0", node, root / "proc"):
        folder.mkdir(parents=True)
    (cpu / "online").write_text("0\n")
    (node / "meminfo").write_text("Node 0 MemTotal: 1 kB\n")
    (root / "proc/cpuinfo").write_text("processor : 0\n")
    (cpu / "cpu0" / "node0").symlink_to("../../node/node0")
    (cpu / "cpu0" / "absolute").symlink_to("/proc/cpuinfo")
    (cpu / "cpu0" / "circle").symlink_to("circle")
    (cpu / "cpu0" / "away").symlink_to("../../../../../../../../etc/passwd")
    (root / "notes.csv").write_bytes(TEXT)
    archive = tmp_path / "host1.tar.gz"
    with tarfile.open(archive, "w:gz") as out:
        out.add(root, "host1")
    for given in (tmp_path / "box", archive):
        with tree_of(given) as found:
            (tree,) = found.trees
            assert tree.files["proc/cpuinfo"] == b"processor : 0\n"
            through = "sys/devices/system/cpu/cpu0/node0"
            assert tree.files[f"{through}/meminfo"] == b"Node 0 MemTotal: 1 kB\n"
            assert through in tree.folders
            assert f"{through}/meminfo" in tree.files
            assert f"{through}/meminfo" not in set(tree.files)
            here = "sys/devices/system/cpu/cpu0"
            assert tree.files[f"{here}/absolute"] == b"processor : 0\n"
            for name in ("circle", "away", "nothing"):
                assert f"{here}/{name}" not in tree.files
                with pytest.raises(KeyError):
                    tree.files[f"{here}/{name}"]
            assert [one.name for one in found.inputs] == ["notes.csv"]
            shown = str(tree.at("proc/cpuinfo", 1))
            assert shown.endswith("host1/proc/cpuinfo:1")


def test_a_file_of_a_dump_may_not_be_long(tmp_path: Path) -> None:
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/cpuinfo").write_bytes(b"x" * 1000)
    with Gathered(Limits(small=100)) as found:
        found.add(tmp_path)
        with pytest.raises(ListingError, match="longer than 100 bytes"):
            found.trees[0].files["proc/cpuinfo"]
