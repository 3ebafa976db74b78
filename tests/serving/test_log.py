"""What the server logs, in a process of its own: logging is set up once per process."""

import subprocess
import sys

import pytest

pytest.importorskip("uvicorn")

# as models do: whoever catches warnings makes Python forget which ones were shown
CODE = """
import warnings
from lbg_recsys.serving.server import Log
for _ in range(2):
    Log(as_json={as_json}).start()
    for _ in range(3):
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            warnings.warn("the same")
    warnings.warn("another")
"""


@pytest.mark.parametrize("as_json", [False, True])
def test_a_warning_is_logged_once(as_json):
    code = CODE.format(as_json=as_json)
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stderr
    assert said.count("the same") == 1 and said.count("another") == 1 and "Traceback" not in said
