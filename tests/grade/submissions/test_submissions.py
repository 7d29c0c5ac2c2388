"""Facts about submissions: which are found, what is refused and in which words, and that nothing but regular files comes out."""

import gzip
import io
import os
import re
import socket
import stat
import subprocess
import sys
import tarfile
import time
import zipfile

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from xman.errors import XManError
from xman.grade.submissions import contents as limits
from xman.grade.submissions import find, harmless, one
from xman.grade.submissions.finding import with_slugs
from xman.grade.submissions.harmless import KEPT

CODE = b"def eval(steps):\n    return steps\n"
MIB = 1 << 20


def zipped(*members, **options):
    """The bytes of a zip archive. A member: (name or ZipInfo, bytes)."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", options.pop("compression", zipfile.ZIP_DEFLATED)) as archive:
        for name, data in members:
            archive.writestr(name, data)
    return file.getvalue()


def special(name, mode):
    """A member of a zip that is what the mode says."""
    info = zipfile.ZipInfo(name)
    info.create_system, info.external_attr = 3, mode << 16
    return info


def tarred(*members, mode="w:gz"):
    """The bytes of a tar archive. A member: (name, bytes), or (name, {attribute of TarInfo: value})."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode=mode) as archive:
        for name, data in members:
            info = tarfile.TarInfo(name)
            if isinstance(data, dict):
                for key, value in data.items():
                    setattr(info, key, value)
                archive.addfile(info)
            else:
                info.size = len(data)
                archive.addfile(info, io.BytesIO(data))
    return file.getvalue()


@pytest.fixture
def put(tmp_path):
    """put(name, bytes or {name: bytes}) -> the path of a file or a folder of that name."""
    def place(name, data):
        path = tmp_path / name
        if isinstance(data, dict):
            path.mkdir(parents=True, exist_ok=True)
            for inner, content in data.items():
                (path / inner).parent.mkdir(parents=True, exist_ok=True)
                (path / inner).write_bytes(content)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        return path
    return place


def program(path):
    """The bytes that are judged of a submission."""
    return one(path).program("wengert")


def refusal(path):
    """The sentence with which a submission is refused."""
    with pytest.raises(XManError) as error:
        program(path)
    assert len(str(error.value)) < 800 and str(error.value).isprintable()
    return str(error.value)


# what is taken


PACKINGS = {
    "alice.py": CODE,
    "wengert.py": CODE,
    "alice.zip": zipped(("wengert.py", CODE)),
    "stored.zip": zipped(("wengert.py", CODE), compression=zipfile.ZIP_STORED),
    "alice.tar": tarred(("wengert.py", CODE), mode="w"),
    "alice.tar.gz": tarred(("wengert.py", CODE)),
    "alice.tgz": tarred(("./", {"type": tarfile.DIRTYPE}), ("./wengert.py", CODE)),
    "alice.tar.bz2": tarred(("wengert.py", CODE), mode="w:bz2"),
    "alice.tar.xz": tarred(("wengert.py", CODE), mode="w:xz"),
    "a zip without its ending": zipped(("wengert.py", CODE)),
    "top.zip": zipped(("top/", b""), ("top/wengert.py", CODE)),
    "deep.zip": zipped(("a/b/wengert.py", CODE), ("README.txt", b"hello")),
    "other name.zip": zipped(("main.py", CODE)),
    "with what was handed out.zip": zipped(("x/mine.py", CODE), ("x/checks.py", b"1"), ("x/check.py", b"1")),
    "macOS.zip": zipped(("x/wengert.py", CODE), ("__MACOSX/._wengert.py", b"1"), ("x/.DS_Store", b"1"), ("__pycache__/a", b"1")),
    "a hidden link.tar": tarred((".venv/python", {"type": tarfile.SYMTYPE, "linkname": "/usr/bin/python"}), ("wengert.py", CODE)),
    "a copy below.zip": zipped(("x/wengert.py", CODE), ("x/old/wengert.py", b"old")),
    "folder": {"wengert.py": CODE},
    "folder around a folder": {"src/wengert.py": CODE},
    "folder around an archive": {"alice.zip": zipped(("src/wengert.py", CODE))},
}


@pytest.mark.parametrize("name", PACKINGS)
def test_the_module_is_found_however_it_is_packed(put, name):
    assert program(put(name, PACKINGS[name])) == CODE


def test_a_zip_with_backslashes_between_folders_is_read_like_one_with_slashes(put):
    names = "mine\\", "mine\\sub\\", "mine\\wengert.py", "mine\\sub\\data.txt"
    path = put("backslashes.zip", zipped(*((name, b"" if name.endswith("\\") else CODE) for name in names)))
    assert program(path) == CODE
    for evil in ("..\\wengert.py", "\\wengert.py", "a\\..\\..\\wengert.py", "a\\wengert.py/x"):
        refusal(put("evil.zip", zipped(("a/wengert.py", CODE), (evil, CODE))))


def test_an_archive_in_an_archive_is_a_file_like_any_other(put):
    assert program(put("a.zip", zipped(("wengert.py", CODE), ("inner.zip", zipped(("../evil.py", CODE)))))) == CODE


# what is refused


STORED = zipped(("wengert.py", CODE), compression=zipfile.ZIP_STORED)
LINK, HARD, FIFO, DEVICE = ({"type": kind, "linkname": "/etc/passwd"} for kind in
                            (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE))
ENCRYPTED = bytearray(zipped(("wengert.py", CODE)))
for signature, offset in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
    ENCRYPTED[ENCRYPTED.index(signature) + offset] |= 1

REFUSED = {
    "empty.zip": (zipped(), "is empty"),
    "empty.tar": (tarred(), "is empty"),
    "empty.tgz": (b"", "is empty"),
    "empty.py": (b"", "is empty"),
    "blank.zip": (zipped(("wengert.py", b" \n")), "is empty"),
    "only hidden.zip": (zipped((".wengert.py", CODE)), "is empty"),
    "empty folder": ({}, "is empty"),
    "no module.zip": (zipped(("wenget.py", CODE), ("b.py", CODE)),
                      "there is no file wengert.py in 'no module.zip': it holds 'b.py', 'wenget.py'; did you mean 'wenget.py'?"),
    "no program.zip": (zipped(("notes.txt", b"1")), "it holds 'notes.txt'"),
    "two.zip": (zipped(("a/wengert.py", CODE), ("b/wengert.py", CODE)), "more than once: 'a/wengert.py', 'b/wengert.py'"),
    "text.zip": (b"def eval(steps): pass\n", "nor an archive"),
    "a.rar": (b"Rar!\x1a\7\1\0" + bytes(600), "nor an archive"),
    "notebook.ipynb": (b"{}", "no notebook of format 4"),
    "gzipped.gz": (gzip.compress(CODE), "broken or cut off"),
    "encrypted.zip": (bytes(ENCRYPTED), "without a password"),
    "bzip2.zip": (zipped(("wengert.py", CODE), compression=zipfile.ZIP_BZIP2), "rare method"),
    "link.tar": (tarred(("wengert.py", LINK)), "'wengert.py' is a link"),
    "hard link.tar": (tarred(("a.py", CODE), ("wengert.py", HARD)), "is a link"),
    "fifo.tar": (tarred(("wengert.py", FIFO)), "is a fifo"),
    "device.tar": (tarred(("wengert.py", DEVICE)), "is a device"),
    "link.zip": (zipped((special("wengert.py", stat.S_IFLNK | 0o777), b"/etc/passwd")), "is a link"),
    "device.zip": (zipped((special("wengert.py", stat.S_IFBLK), b"")), "is a device"),
    "fifo.zip": (zipped((special("wengert.py", stat.S_IFIFO), b"")), "is a fifo"),
    "absolute.zip": (zipped(("/etc/wengert.py", CODE)), "leads out"),
    "absolute.tar": (tarred(("/etc/wengert.py", CODE)), "leads out"),
    "slip.zip": (zipped(("a/../../wengert.py", CODE)), "leads out"),
    "slip.tar": (tarred(("../wengert.py", CODE)), "leads out"),
    "hidden slip.tar": (tarred((".x/../../wengert.py", CODE)), "leads out"),
    "drive.zip": (zipped(("C:wengert.py", CODE)), "Windows"),
    "twice.tar": (tarred(("wengert.py", CODE), ("wengert.py", b"1")), "is there twice"),
    "twice.zip": (zipped(("a.py", CODE), ("b.py", b"1")).replace(b"b.py", b"a.py"), "is there twice"),
    "twice by case.zip": (zipped(("wengert.py", CODE), ("Wengert.PY", b"1")), "the other time as 'wengert.py'"),
    "twice by form.zip": (zipped(("caf\u00e9.py", CODE), ("cafe\u0301.py", b"1")), "is there twice"),
    "folder twice by case.zip": (zipped(("lib/a.py", CODE), ("LIB/b.py", b"1")), "is there twice"),
    "file and folder.zip": (zipped(("a.py", CODE), ("a.py/b.py", CODE)), "a file and a folder"),
    "folder and file.tar": (tarred(("a.py", {"type": tarfile.DIRTYPE}), ("a.py", CODE)), "a file and a folder"),
    "control.tar": (tarred(("a\n\x1b[2J.py", CODE)), r"'a\n\x1b[2J.py' has control characters"),
    "zero.zip": (zipped(("wengertX.py", CODE)).replace(b"wengertX", b"wengert\0"), "has control characters"),
    "bidi.zip": (zipped(("a\u202eyp.txt", CODE)), r"'a\u202eyp.txt' has control characters"),
    "bytes.tar": (tarred((b"\xff.py".decode(errors="surrogateescape"), CODE)), r"'\udcff.py' has control characters"),
    "long.tar": (tarred(("x" * 300 + ".py", CODE)), "longer than 255 bytes"),
    "deep.tar": (tarred(("x/" * 200 + "wengert.py", CODE)), "longer than 255 bytes"),
    "very long.tar": (tarred(("x" * 40_000 + ".py", CODE)), "a size that no name needs"),
    "many.zip": (zipped(*((f"{k}.py", b"") for k in range(201))), "more than 200 files"),
    "many.tgz": (tarred(*((f"{k}.py", b"") for k in range(201))), "more than 200 files"),
    "many folders.zip": (zipped(*((f"{k}/", b"") for k in range(5001))), "more than 5000 entries"),
    "large.py": (b"#" * (5 * MIB + 1), "larger than 5 MiB"),
    "large file.zip": (zipped(("a.py", bytes(5 * MIB + 1)), compression=zipfile.ZIP_STORED), "'a.py' is larger than 5 MiB"),
    "large in all": ({f"{k}.py": bytes(4 * MIB + MIB // 2) for k in range(5)}, "larger than 20 MiB together"),
    "larger in all.zip": (bytes(20 * MIB + 1), "larger than 20 MiB"),
    "bomb.zip": (zipped(("wengert.py", bytes(4 * MIB))), "more than 100 times"),
    "bomb.tgz": (tarred(("wengert.py", bytes(4 * MIB))), "more than 100 times"),
    "bomb.xz": (tarred(("wengert.py", bytes(4 * MIB)), mode="w:xz"), "more than 100 times"),
    "cut.zip": (zipped(("wengert.py", CODE))[:-30], "broken or cut off"),
    "cut.tgz": (tarred(("wengert.py", os.urandom(9000)))[:-3000], "broken or cut off"),
    "cut.tar": (tarred(("wengert.py", CODE), mode="w")[:1024], "broken or cut off"),
    "cut in the file.tar": (tarred(("wengert.py", bytes(9000)), mode="w")[:1024], "broken or cut off"),
    "cut in a header.tar": (tarred(("wengert.py", CODE), ("b.py", CODE), mode="w")[:1300], "broken or cut off"),
    "garbage in the middle.tar": (tarred(("wengert.py", CODE), mode="w")[:1024] + b"x" * 512 + bytes(1024), "broken or cut off"),
    "wrong checksum.zip": (STORED.replace(b"return", b"import"), "broken or cut off"),
    "other name inside.zip": (zipped(("wengert.py", CODE)).replace(b"wengert.py", b"hidden_.py", 1), "broken or cut off"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_it_is_refused_in_a_sentence(put, name):
    data, sentence = REFUSED[name]
    assert sentence in refusal(put(name, data))


def test_a_zip_whose_sizes_lie_is_refused_and_its_bytes_are_counted_as_they_come(put):
    data = bytearray(zipped(("wengert.py", bytes(50 * MIB))))
    entry, local = data.index(b"PK\1\2"), 0
    for place in (entry + 24, local + 22):  # the size unpacked
        data[place:place + 4] = (100).to_bytes(4, "little")
    assert "broken or cut off" in refusal(put("lies.zip", bytes(data)))


def test_members_that_share_their_bytes_are_refused(put):
    data = bytearray(zipped(("wengert.py", CODE), ("b.py", CODE)))
    second = data.index(b"PK\1\2", data.index(b"PK\1\2") + 1)
    data[second + 42:second + 46] = bytes(4)  # it starts where the first does
    assert "overlap" in refusal(put("shared.zip", bytes(data)))


def test_a_zip64_that_claims_an_exabyte_is_refused(put):
    info = zipfile.ZipInfo("wengert.py")
    data = bytearray(zipped((info, CODE)))
    entry = data.index(b"PK\1\2")
    data[entry + 20:entry + 28] = b"\xff" * 8
    extra = b"\1\0\x10\0" + (1 << 60).to_bytes(8, "little") * 2
    data[entry + 30:entry + 32] = len(extra).to_bytes(2, "little")
    end = data.index(b"PK\5\6")
    data[end + 12:end + 16] = (end - entry + len(extra)).to_bytes(4, "little")
    data[entry + 56:entry + 56] = extra
    assert "broken or cut off" in refusal(put("exabyte.zip", bytes(data)))


def test_a_tar_whose_header_claims_more_than_there_is_is_refused(put):
    data = bytearray(tarred(("wengert.py", CODE), mode="w"))
    for size in ("00077777777", "00000001777"):
        data[124:136] = size.encode() + b"\0"
        data[148:156] = b" " * 8
        data[148:156] = f"{sum(data[:512]):06o}\0 ".encode()
        assert "broken or cut off" in refusal(put("claims.tar", bytes(data[:1024])))


def test_a_tar_with_a_negative_size_ends(put):
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w", format=tarfile.PAX_FORMAT, pax_headers={}) as archive:
        for name in (".a", "wengert.py"):
            info = tarfile.TarInfo(name)
            info.pax_headers = {"size": "-512"}
            archive.addfile(info)
    assert refusal(put("negative.tar", file.getvalue()))


def test_ten_thousand_nested_headers_are_refused_and_not_followed(put):
    header = tarfile.TarInfo("x")
    header.type, header.size = tarfile.XGLTYPE, 0
    assert refusal(put("nested.tar", header.tobuf(tarfile.USTAR_FORMAT) * 10_000 + bytes(1024)))


def test_a_sparse_file_is_refused(put):
    header = tarfile.TarInfo("wengert.py")
    header.type, header.size = tarfile.GNUTYPE_SPARSE, 0
    assert refusal(put("sparse.tar", header.tobuf(tarfile.GNU_FORMAT) + bytes(1024)))


def bind(path):
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(os.path.relpath(path))  # the name of a socket is short


def test_links_fifos_and_sockets_in_a_folder_are_refused_and_not_opened(put, tmp_path):
    makers = {"link": lambda path: path.symlink_to("/etc/passwd"), "link to a folder": lambda path: path.symlink_to("/etc"),
              "fifo": os.mkfifo, "socket": bind}
    for kind, make in makers.items():
        folder = put(kind.replace(" ", ""), {"lib/a.py": CODE})
        make(folder / "lib" / "b.py")
        assert f"'lib/b.py' is a {kind.split()[0]}" in refusal(folder)


@pytest.mark.parametrize("make", [lambda path: path.symlink_to("/etc"), lambda path: path.symlink_to("/etc/passwd"), os.mkfifo])
def test_a_link_or_a_fifo_in_the_place_of_a_submission_is_refused(tmp_path, make):
    (tmp_path / "class").mkdir()
    make(tmp_path / "class" / "alice.zip")
    submission, = find([tmp_path / "class"], "wengert")
    assert len(submission.digest()) == 64
    with pytest.raises(XManError, match="not a regular file"):
        submission.program("wengert")


def test_a_file_that_becomes_a_link_or_a_fifo_while_it_is_read_is_not_followed(put, monkeypatch):
    path = put("alice.py", CODE)
    checked = os.lstat(path)
    for make in (lambda: path.symlink_to("/etc/passwd"), lambda: os.mkfifo(path)):
        path.unlink()
        make()
        with monkeypatch.context() as patch:
            patch.setattr(os, "lstat", lambda path, **options: checked)
            with pytest.raises(XManError, match="was not opened"):
                limits.bytes_or_files(path)


def test_what_may_not_be_read_is_refused_in_a_sentence(put, monkeypatch):
    def refused(*arguments, **options):
        raise PermissionError(13, "Permission denied", "wengert.py")
    path, folder = put("alice.py", CODE), put("bob", {"wengert.py": CODE})
    monkeypatch.setattr(os, "open", refused)
    for place in (path, folder):
        assert "Permission denied" in refusal(place)


def test_bombs_are_refused_in_seconds_and_little_memory(put):
    member, entry, end = re.fullmatch(b"(PK\3\4.*)(PK\1\2.*)(PK\5\6.*)", zipped(("x", b"")), re.DOTALL).groups()
    long = tarfile.TarInfo("x")
    long.type, long.size = tarfile.XHDTYPE, 10_000
    bombs = {"42.zip": zipped(("wengert.py", bytes(200 * MIB))),
             "many streams.tgz": gzip.compress(b"") * 1_000_000,
             "long headers.tar": (long.tobuf(tarfile.USTAR_FORMAT) + b"1" * 10240) * 1000 + bytes(1024),
             "many entries.zip": member + entry * 100_000 + end}
    paths = [put(name, data) for name, data in bombs.items()]
    code = ("import resource, sys; from xman.grade.submissions import one\n"
            "resource.setrlimit(resource.RLIMIT_DATA, (400 << 20, 400 << 20))\n"
            "for path in sys.argv[1:]:\n"
            "    try:\n"
            "        print('taken', len(one(path).program('wengert')))\n"
            "    except ValueError as error: print('refused', error)\n")
    start = time.monotonic()
    said = subprocess.run([sys.executable, "-c", code, *map(str, paths)], capture_output=True, text=True, check=True).stdout
    assert said.count("refused") == len(bombs) and time.monotonic() - start < 30, said


# what is found


def test_a_folder_of_submissions_has_each_entry_as_one(put, tmp_path):
    put("class/alice.zip", zipped(("wengert.py", CODE)))
    put("class/bob/wengert.py", CODE)
    put("class/carol.tar.gz", tarred(("wengert.py", CODE)))
    put("class/dora.v2.py", CODE)
    put("class/.DS_Store", b"1")
    put("class/README.txt", b"from the platform")  # no student is called so: it would have 0 points
    put("class/__MACOSX/x", b"1")
    found = find([tmp_path / "class"], "wengert")
    assert [submission.name for submission in found] == ["alice", "bob", "carol", "dora.v2"]


def test_a_folder_with_the_module_at_its_top_is_one_submission(put):
    submission, = find([put("alice", {"wengert.py": CODE, "a.zip": b"1", "lib/b.py": b"1"})], "wengert")
    assert submission.name == "alice"


def test_what_is_named_twice_is_found_once_and_a_typed_link_is_followed(put, tmp_path):
    path = put("alice.py", CODE)
    (tmp_path / "link").symlink_to(path)
    assert len(find([path, tmp_path / "link", str(path)], "wengert")) == 1


def test_nothing_to_be_found_is_said(put, tmp_path):
    for path in (tmp_path / "missing", put("empty", {".hidden": b"1"})):
        with pytest.raises(XManError, match=path.name):
            find([path], "wengert")


def test_every_submission_has_a_name_and_a_slug_of_its_own(put, tmp_path):
    names = ["alice.zip", "alice.tar.gz", "ALICE.py", "alice", "José García.py", "Jose\u0301 García.zip", "李雷.zip",
             "a b.py", "a-b.py", "-.zip", "x" * 200 + ".zip", "x" * 200 + ".tar", "\x1b[31mred.py", "a\nb.py", "\u202egpj.py"]
    found = find([put(f"class/{name}", CODE).parent for name in names], "wengert")
    slugs = [submission.slug for submission in found]
    assert len(found) == len(names) == len({slug.casefold() for slug in slugs})
    assert len({submission.name for submission in found}) == len(names) and "".join(s.name for s in found).isprintable()
    for slug in slugs:
        (tmp_path / f"{slug}.html").write_text("")
    assert {"ALICE", "alice", "José-García", "李雷", "submission", "x" * 40} <= {slug.rpartition("-")[0] for slug in slugs}
    assert not any(slug.startswith((".", "-")) or "/" in slug for slug in slugs)


def test_the_digest_is_of_the_bytes(put):
    files = {"wengert.py": CODE, "lib/a.py": b"1"}
    folder, archive = put("a", files), put("a.zip", zipped(*files.items()))
    first = one(folder).digest(), one(archive).digest()
    assert one(put("other", dict(reversed(files.items())))).digest() == first[0]
    (folder / "lib" / "a.py").write_bytes(b"2")
    archive.write_bytes(archive.read_bytes() + b"2")
    assert len({*first, one(folder).digest(), one(archive).digest()}) == 4


def test_a_digest_is_there_for_everything(put, tmp_path):
    (folder := put("linked", {"wengert.py": CODE})).joinpath("b.py").symlink_to("/etc/passwd")
    paths = [folder, put("large.zip", bytes(21 * MIB)), tmp_path / "missing"]
    assert len({one(path).digest() for path in paths}) == 3


# text


def test_harmless_shows_what_a_terminal_or_a_browser_would_act_on():
    assert harmless("a\tb\n\x1b[2J\x07\r\x00\x9b1m\u202eabc\u2066\ud800\u2028\ufeff") == (
        "a\tb\n" r"\x1b[2J\x07\r\x00\x9b1m\u202eabc\u2066\ud800\u2028\ufeff")


def test_harmless_leaves_ordinary_text_as_it_is():
    text = "Dörte: ∂f/∂x = −3 · 李雷\n\t✓ ½"
    assert harmless(text) == text


def test_harmless_cuts_and_says_so():
    assert harmless("ab" * 3000) == "ab" * 2000 + "… [cut: 6,000 characters in all]"
    assert harmless("\x1b" * 10, 10) == r"\x1b\x1b\x" + "… [cut: 10 characters in all]"
    assert harmless("x" * 4000) == "x" * 4000


@given(st.text(st.characters(codec=None), max_size=50))
@settings(max_examples=100, deadline=None)
def test_harmless_text_is_printable_and_can_be_written_as_utf_8(text):
    shown = harmless(text)
    assert "".join(c for c in shown if c not in KEPT).isprintable() and shown.encode() is not None


# anything


LETTERS = st.sampled_from("aA./\\:é\u0301\x00\x1b\u202e~ ") | st.characters(exclude_categories=["Cs"])
NAMES = st.text(LETTERS, min_size=1, max_size=12)
quickly = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@given(st.lists(st.tuples(NAMES, st.binary(max_size=20)), max_size=4), st.booleans())
@quickly
def test_whatever_the_names_in_an_archive_a_program_comes_out_or_a_sentence_and_nothing_is_written(tmp_path, members, as_zip):
    path = tmp_path / "any"
    try:
        path.write_bytes((zipped if as_zip else tarred)(*members))
    except (ValueError, IndexError, UserWarning):  # such an archive cannot be made
        return
    before = sorted(tmp_path.rglob("*"))
    try:
        assert program(path).strip()
    except XManError as error:
        assert str(error).isprintable()
    assert sorted(tmp_path.rglob("*")) == before


@given(st.sampled_from(["alice.zip", "alice.tar", "alice.tar.gz", "alice.tar.xz", "alice.tar.bz2"]), st.data())
@quickly
def test_broken_archives_give_files_or_a_sentence(tmp_path, name, data):
    broken = bytearray(PACKINGS[name])
    for place in data.draw(st.lists(st.integers(0, len(broken) - 1), min_size=1, max_size=8)):
        broken[place] = data.draw(st.integers(0, 255))
    path = tmp_path / "any"
    path.write_bytes(bytes(broken[:data.draw(st.integers(1, len(broken)))]))
    try:
        assert program(path)
    except XManError as error:
        assert str(error).isprintable()


def test_a_thousand_of_one_name_get_their_slugs_soon(tmp_path):
    start = time.monotonic()
    assert len({submission.slug for submission in with_slugs([tmp_path / f"{k}" / "alice.zip" for k in range(1000)])}) == 1000
    assert time.monotonic() - start < 5
