"""Commands to be killed: ``python -m tests.killed ARGUMENTS`` says ``ready`` when all is imported, and then runs one.

There is a data set ``tiny``, which comes from a server that is slow.
"""

import hashlib
import io
import sys
import time
import zipfile
from contextlib import contextmanager
from unittest import mock

from lbg_recsys.datasets import DATASETS, download
from lbg_recsys.datasets.info import DatasetInfo, Home, KnownFile, Member, Source

_DATA = b"1\t2\t3\n" * 20_000
_FILE = KnownFile("tiny.data", len(_DATA), hashlib.sha256(_DATA).hexdigest())
_TINY = DatasetInfo(
    name="tiny",
    title="Tiny",
    summary="many equal lines",
    origin="https://example.org/tiny",
    licence="none",
    citation="none",
    main=_FILE,
    homes=(Home("TINY_HOME", ("a",)),),
    sources=(
        Source(
            label="first",
            file_name="tiny.zip",
            max_bytes=1_000_000,
            members=(Member("in/tiny.data", _FILE),),
            url="https://example.org/tiny.zip",
        ),
    ),
)


class _SlowPage(io.BytesIO):
    headers: dict[str, str] = {}  # noqa: RUF012 - of a response

    def read(self, size=-1):
        time.sleep(0.1)
        return super().read(size)


class _Opener:
    def open(self, request, timeout):
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w") as opened:
            opened.writestr("in/tiny.data", _DATA)
        return _SlowPage(stream.getvalue())


@contextmanager
def tiny_data():
    """The data set ``tiny`` exists."""
    found = mock.patch.object(download.urllib.request, "build_opener", lambda *handlers: _Opener())
    with found, mock.patch.dict(DATASETS, {"tiny": _TINY}):
        yield


def _main():
    import lbg_recsys.persistence
    import lbg_recsys.ratings
    import lbg_recsys.readers.ratings
    import lbg_recsys.report  # noqa: F401
    from lbg_recsys.cli import main

    print("ready", flush=True)
    with tiny_data():
        main(sys.argv[1:])


if __name__ == "__main__":
    _main()
