"""A file is never trusted: each lie in it is refused by name, before memory is spent on it."""

import copy
import hashlib
import io
import json
import resource
import struct
import subprocess
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest

import lbg_recsys
from lbg_recsys.errors import ModelFileError
from lbg_recsys.persistence.container import FORMAT, read_container, write_container

FROZEN = Path(__file__).parent / "frozen"


def sealed(text: bytes, arrays: bytes = b"", *, version: int = 1, length: int | None = None) -> bytes:
    """A file of raw parts with a right checksum, whatever the parts say."""
    length = len(text) if length is None else length
    data = b"\x89LBG\r\n\x1a\n" + struct.pack("<IQ", version, length) + text + arrays
    return data + hashlib.sha256(data).digest()


@pytest.fixture
def whole(tiny_model, tmp_path):
    return read_container(lbg_recsys.save(tiny_model, tmp_path / "whole.lbg", titles={7: "Seven"}))


def _load(data, folder):
    path = folder / "forged.lbg"
    path.write_bytes(data)
    return lbg_recsys.load(path)


def _forge(header, arrays):
    stream = io.BytesIO()
    write_container(stream, header, arrays)
    return stream.getvalue()


def test_the_forger_forges_what_loads(whole, tmp_path, tiny_model):
    again = _load(_forge(*whole), tmp_path)
    assert (again.predict_distribution([("ann", 9)]) == tiny_model.predict_distribution([("ann", 9)])).all()


def _set(*keys_and_value):
    *keys, last, value = keys_and_value

    def change(header, arrays):
        place = header
        for key in keys:
            place = place[key]
        place[last] = value

    return change


def _array(name, value):
    def change(header, arrays):
        arrays[name] = value(arrays[name]) if callable(value) else value

    return change


def _entry(name, value, *place):
    def change(header, arrays):
        arrays[name][place or (0,) * arrays[name].ndim] = value

    return change


def test_a_parameter_that_came_later_has_its_default(whole, tmp_path):
    header, arrays = copy.deepcopy(whole)
    del header["parameters"]["indicator_weight"]
    assert _load(_forge(header, arrays), tmp_path).indicator_weight == 1.0


LIES = {
    "class": (_set("class", "os.system"), "known are LBGModel"),
    "class of another type": (_set("class", 7), "class is 7, not str"),
    "one key more": (_set("extra", 1), "where 'class', 'facts'"),
    "no parameters": (_set("parameters", None), "parameters is None"),
    "another parameter": (_set("parameters", "__class__", 1), "where 'baseline'"),
    "parameter of another type": (_set("parameters", "temperature", "hot"), "temperature is 'hot', not float"),
    "parameter too large": (_set("parameters", "tol", 10**400), "a very large number"),
    "parameter out of range": (_set("parameters", "temperature", -1.0), "at least 1e-09"),
    "unknown point": (_set("parameters", "point", "maximum"), "choose one of"),
    "baseline without biases": (_set("parameters", "baseline", True), "the biases do not agree"),
    "topics that are not there": (_set("parameters", "n_topics", 10**9), r"lam has the shape \(2,\)"),
    "fact of another type": (_set("facts", "history", ["x"]), "history is \\['x'\\], not list of float"),
    "fact missing": (lambda h, a: h["facts"].pop("n_iter"), "are needed"),
    "id twice": (_set("ratings", "users", ["ann", "ann"]), "occurs twice"),
    "id true": (_set("ratings", "users", ["ann", True]), "users is"),
    "id fraction": (_set("ratings", "users", ["ann", 1.5]), "users is"),
    "one user fewer": (_set("ratings", "users", ["ann"]), "indptr has the shape"),
    "one item fewer": (
        lambda header, arrays: header["ratings"].update(items=[7, 8], titles=None),
        "item that does not exist|has the shape",
    ),
    "one title fewer": (_set("ratings", "titles", ["Seven"]), "titles for 3 items"),
    "no array": (lambda h, a: a.pop("p"), "the arrays are"),
    "no rating array": (lambda h, a: a.pop("values"), "the arrays are"),
    "one array more": (_array("evil", np.zeros(3)), "the arrays are"),
    "half precision": (_array("p", lambda p: p.astype(np.float32)), "2-dimensional float32"),
    "flat": (_array("p", lambda p: p.ravel()), "1-dimensional"),
    "turned": (_array("p", lambda p: p.T), "has the shape"),
    "a NaN": (_entry("c", np.nan), "array c has values"),
    "an infinity": (_entry("first", np.inf), "array first has values"),
    "probability 0": (_entry("p", 0.0), "array p has values"),
    "probability 1": (_entry("p", 1.0), "array p has values"),
    "negative variance": (_entry("var", -1.0), "array var has values"),
    "a mean out of sight": (_entry("c", 1e308), "array c has values up to 1e\\+308, and ratings reach 5"),
    "a variance out of sight": (_entry("var", 1e308), "array var has values"),
    "no variance": (_entry("var", 1e-290), "array var has values"),
    "sums out of sight": (_entry("first", 1e308), "not sums of as many ratings"),
    "squares out of sight": (_entry("second", -1e308), "not sums of as many ratings"),
    "a count of ratings out of sight": (_entry("count", 1e308), "count more than their 2 users"),
    "a count of users out of sight": (_entry("mass", 3.0), "count more than their 2 users"),
    "fewer users than none": (_set("facts", "n_rows", -1), "of -1 users"),
    "a level out of sight": (_entry("levels", 1e200, 4), "array levels has values"),
    "levels on top of each other": (_array("levels", np.array([0.0, 1e-200])), "too little"),
    "weights of 3": (_entry("lam", 3.0), "does not sum to one"),
    "posterior of 3": (_entry("mu", 3.0), "does not sum to one"),
    "levels that fall": (_array("levels", lambda x: x[::-1]), "do not ascend"),
    "no levels": (_array("levels", np.empty(0)), "do not ascend"),
    "no ratings": (lambda h, a: a.update(values=a["values"][:0], items_of=a["items_of"][:0]), "do not add up"),
    "a rating off the scale": (_entry("values", 7.0), "off the scale"),
    "an item out of range": (_entry("items_of", 3, 2), "does not exist"),
    "a negative item": (_entry("items_of", -1), "array items_of has values"),
    "items out of order": (_entry("items_of", 1, 0), "not in order"),
    "users that overlap": (_array("indptr", np.array([0, 4, 3])), "do not add up"),
    "a user from the middle": (_array("indptr", np.array([1, 2, 3])), "do not add up"),
}


@pytest.mark.parametrize("name", LIES)
def test_a_lie_with_a_right_checksum_is_refused(name, whole, tmp_path):
    change, message = LIES[name]
    header, arrays = copy.deepcopy(whole)
    change(header, arrays)
    with pytest.raises(ModelFileError, match=message) as caught:
        _load(_forge(header, arrays), tmp_path)
    assert "forged.lbg" in str(caught.value)


# What a terminal would obey: it renames the window, rings, clears the screen and turns the writing around.
_EVIL = "Alien\x1b]0;owned\x07\x9b2J\u202edne"

EVIL_NAMES = {
    "a key of the header": _set(_EVIL, 1),
    "a parameter": _set("parameters", _EVIL, 1),
    "a value of a parameter": _set("parameters", "point", _EVIL),
    "a fact": _set("facts", _EVIL, 1),
    "a class": _set("class", _EVIL),
    "a class in a list": _set("class", [_EVIL]),
    "a library": _set("versions", {_EVIL: 1}),
    "an id": _set("ratings", "users", [_EVIL, _EVIL]),
    "very many parameters": lambda header, arrays: header["parameters"].update(dict.fromkeys(map(str, range(9999)))),
    "a very long parameter": _set("parameters", "n" * 10_000, 1),
    "an array": _array(_EVIL, np.zeros(1)),
    "a very long array": _array("n" * 10_000, np.zeros(1)),
}


@pytest.mark.parametrize("name", EVIL_NAMES)
def test_an_error_has_no_control_characters_and_is_short(name, whole, tmp_path):
    header, arrays = copy.deepcopy(whole)
    EVIL_NAMES[name](header, arrays)
    message = _message(_forge(header, arrays), tmp_path)
    assert message.isprintable() and len(message) < 600 + len(str(tmp_path))


def test_a_directory_of_arrays_has_no_control_characters(tmp_path):
    for entry in (_EVIL, [_EVIL, "<f8", [0]], {_EVIL: 1}):
        text = json.dumps({"arrays": [entry]}).encode()
        message = _message(sealed(text), tmp_path)
        assert "lists the array" in message and message.isprintable()


def _without(*names):
    return lambda header, arrays: [arrays.pop(name) for name in names]


@pytest.mark.parametrize("name", ["user_bias", "item_bias"])
def test_a_bias_out_of_sight_is_refused(name, tmp_path):
    header, arrays = read_container(FROZEN / "v3-lbg-baseline.lbg")
    for value in (-1e308, 1e5):
        _entry(name, value)(header, arrays)
        assert f"the array {name} has values up to" in _message(_forge(header, arrays), tmp_path)
    header, arrays = read_container(FROZEN / "v3-lbg-baseline.lbg")
    header["facts"]["overall"] = 1e300
    assert "overall" in _message(_forge(header, arrays), tmp_path)


@pytest.mark.parametrize("name", ["_statistics.first", "_statistics.second", "_statistics.count", "_totals.second"])
def test_sums_of_a_text_model_out_of_sight_are_refused(name, tmp_path):
    header, arrays = read_container(FROZEN / "text-v3-mixture.lbg")
    _entry(name, 1e308)(header, arrays)
    assert "count" in _message(_forge(header, arrays), tmp_path)


LIES_OF_SWEEPS = {
    "a class too many": (_entry("users_z", 3), "a class is 3 where there are 3"),
    "common cut points that fall": (_array("items_cuts", lambda x: x[:, ::-1]), "do not ascend"),
    "somebody's cut points that fall": (_array("users_own_cuts", lambda x: x[:, :, ::-1]), "do not ascend"),
    "a cut point too few": (
        lambda header, arrays: arrays.update(
            {name: array[..., 1:] for name, array in arrays.items() if name.endswith(("own_cuts", "cut_tau"))}
        ),
        "3 cut points of their own, not 4",
    ),
    "cut points of fewer users": (_array("items_own_cuts", lambda x: x[:, 1:]), "array items_own_cuts has the shape"),
    "a noise without precision": (_entry("items_row_weight", 0.0), "array items_row_weight has values"),
    "cut points that differ infinitely": (_entry("users_cut_tau", 0.0), "array users_cut_tau has values"),
    "class means out of sight": (_entry("users_c_step", 3e38), "array users_c_step has values"),
    "cut points out of sight": (_entry("items_cuts", -3e38), "array items_cuts has values"),
    "a precision beyond all": (_entry("users_tau", 3e38), "array users_tau has values"),
    "cut points of one side only": (_without("items_own_cuts"), "arrays of kept sweeps"),
}


@pytest.mark.parametrize("name", LIES_OF_SWEEPS)
def test_a_lie_about_kept_sweeps_is_refused(name, tmp_path):
    change, message = LIES_OF_SWEEPS[name]
    header, arrays = read_container(FROZEN / "v2-bayesian.lbg")
    arrays = {name: array.copy() for name, array in arrays.items()}
    change(header, arrays)
    with pytest.raises(ModelFileError, match=message):
        _load(_forge(header, arrays), tmp_path)


def test_sweeps_in_which_all_share_the_cut_points_load(tmp_path):
    """As files of the first format have them."""
    header, arrays = read_container(FROZEN / "v2-bayesian.lbg")
    for side in ("users", "items"):
        _without(f"{side}_own_cuts", f"{side}_cut_tau")(header, arrays)
    model = _load(_forge(header, arrays), tmp_path)
    np.testing.assert_allclose(model.predict_distribution([(1, 8)]).sum(), 1.0)
    assert model.fold_in({1: 5.0}).predict(8) > 0


RAW = {
    "empty": (b"", "it is empty"),
    "text": (b"user,item,rating\n1,2,3\n", "make one with lbg-recsys fit RATINGS -o FILE"),
    "a zip": (b"PK\x03\x04" + bytes(100), "not a model file"),
    "the magic alone": (b"\x89LBG\r\n\x1a\n", "cut short"),
    "line ends changed": (b"\x89LBG\n\x1a\n" + bytes(100), "not a model file"),
    "version 0": (sealed(b"{}", version=0), "damaged"),
    "a newer version": (sealed(b"{}", version=FORMAT + 1), "install a newer version"),
    "a header beyond the end": (sealed(b"{}", length=2**63), "does not fit"),
    "no JSON": (sealed(b"{nonsense}"), "not JSON"),
    "JSON that is not ASCII": (sealed(b'{"a": "\xff"}'), "not JSON"),
    "a list": (sealed(b"[]"), "not a JSON object"),
    "deep nesting": (sealed(b"[" * 200_000), "not JSON"),
    "NaN": (sealed(b'{"a": NaN}'), "NaN is not a number"),
    "a key twice": (sealed(b'{"a": 1, "a": 2}'), "a key occurs twice"),
    "a number of a million digits": (sealed(b'{"a": ' + b"9" * 1_000_000 + b"}"), "not JSON"),
    "arrays missing": (sealed(b"{}"), "lists the array"),
    "an object array": (sealed(b'{"arrays": [["a", "|O", [1]]]}', bytes(8)), "lists the array"),
    "a negative size": (sealed(b'{"arrays": [["a", "<f8", [-1]]]}'), "lists the array"),
    "a size of true": (sealed(b'{"arrays": [["a", "<f8", [true]]]}', bytes(8)), "lists the array"),
    "a huge array": (sealed(b'{"arrays": [["a", "<f8", [1000000000000]]]}'), "are listed"),
    "sizes that overflow": (sealed(b'{"arrays": [["a", "<f8", [4294967296, 4294967296]]]}'), "are listed"),
    "an array twice": (sealed(b'{"arrays": [["a", "<f8", [0]], ["a", "<f8", [0]]]}'), "lists the array"),
    "bytes left over": (sealed(b'{"arrays": []}', b"left over"), "are listed"),
}


@pytest.mark.parametrize("name", RAW)
def test_bytes_that_are_no_model_file(name, tmp_path):
    data, message = RAW[name]
    with pytest.raises(ModelFileError, match=message):
        _load(data, tmp_path)


def _directory(arrays):
    return [[name, array.dtype.str, list(array.shape), array.nbytes] for name, array in arrays.items()]


def _with_stored(header, arrays, name, shape, stored):
    """A file with these stored bytes of one array of this shape, and the others as they are."""
    others = {one: array for one, array in arrays.items() if one != name}
    directory = [*_directory(others), [name, arrays[name].dtype.str, shape, len(stored)]]
    text = json.dumps({**header, "arrays": directory}).encode()
    data = b""
    for part in (*(array.tobytes() for array in others.values()), stored):
        data += bytes(-(20 + len(text) + len(data)) % 64) + part
    return sealed(text, data, version=3)


def test_the_forger_compresses_as_the_package_does(whole, tmp_path, tiny_model):
    header, arrays = whole
    stored = zlib.compress(arrays["p"].tobytes(), 9)
    again = _load(_with_stored(header, arrays, "p", list(arrays["p"].shape), stored), tmp_path)
    assert (again.predict_distribution([("ann", 9)]) == tiny_model.predict_distribution([("ann", 9)])).all()


LIES_OF_COMPRESSION = {
    "no compressed bytes": (lambda raw: b"nonsense", "cannot be decompressed"),
    "fewer bytes than the array has": (lambda raw: zlib.compress(raw[:-1]), "array p is not 48 bytes"),
    "more bytes than the array has": (lambda raw: zlib.compress(raw + b"0"), "array p is not 48 bytes"),
    "a million times as many": (lambda raw: zlib.compress(bytes(48_000_000), 1), "array p is not 48 bytes"),
    "a stream without its end": (lambda raw: zlib.compress(raw)[:-1], "array p is not 48 bytes"),
    "bytes after the stream": (lambda raw: zlib.compress(raw) + b"0", "array p is not 48 bytes"),
    "a wrong checksum of the stream": (lambda raw: zlib.compress(raw)[:-1] + b"0", "cannot be decompressed"),
    "nothing": (lambda raw: b"", "array p is not 48 bytes"),
}


@pytest.mark.parametrize("name", LIES_OF_COMPRESSION)
def test_a_lie_about_compressed_bytes_is_refused(name, whole, tmp_path):
    header, arrays = whole
    change, message = LIES_OF_COMPRESSION[name]
    stored = change(arrays["p"].tobytes())
    assert message in _message(_with_stored(header, arrays, "p", list(arrays["p"].shape), stored), tmp_path)


def test_an_array_of_zeros_is_written_so_that_it_loads(tmp_path):
    """Compressed it would be a thousandth, which a reader refuses."""
    zeros = np.zeros(80 << 20, np.int8)
    path = tmp_path / "zeros.lbg"
    for size in (zeros.nbytes, 1000):
        path.write_bytes(_forge({}, {"zeros": zeros[:size]}))
        assert len(read_container(path)[1]["zeros"]) == size
    assert path.stat().st_size < 300


def test_bytes_between_the_arrays_are_refused(whole, tmp_path):
    data = bytearray(_forge(*whole)[:-32])
    header_end = 20 + struct.unpack_from("<Q", data, 12)[0]
    assert header_end % 64
    data[header_end] = 1
    assert "something between" in _message(bytes(data) + hashlib.sha256(data).digest(), tmp_path)


def _message(data, folder):
    with pytest.raises(ModelFileError) as caught:
        _load(data, folder)
    return str(caught.value)


def test_every_cut_and_every_flipped_bit_is_noticed(tiny_model, tmp_path):
    data = lbg_recsys.save(tiny_model, tmp_path / "model.lbg").read_bytes()
    for place in range(0, len(data), 37):
        _message(data[:place], tmp_path)
        changed = bytearray(data)
        changed[place] ^= 1 << place % 8
        _message(bytes(changed), tmp_path)


def test_a_folder_a_device_and_nothing(tmp_path):
    with pytest.raises(ModelFileError, match="is a folder: name a model file in it"):
        lbg_recsys.load(tmp_path)
    with pytest.raises(FileNotFoundError):
        lbg_recsys.load(tmp_path / "nothing.lbg")
    with pytest.raises(ModelFileError, match="regular file"):
        lbg_recsys.load("/dev/zero")


_LIMITED = """
import resource, sys
import lbg_recsys, lbg_recsys.persistence, lbg_recsys.ratings, lbg_recsys.ratings.lbg
from lbg_recsys.errors import ModelFileError
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 64 * 2**20,) * 2)  # 64 MB more than what is there already
for path in sys.argv[1:]:
    try:
        lbg_recsys.load(path)
    except ModelFileError:
        continue
    sys.exit(f"{path} was taken")
"""


def _with_a_hole(path, name, shape, header, arrays):
    """A file of some kilobytes that announces one array of this shape, all zeros, which were never written."""
    directory = _directory({one: array for one, array in arrays.items() if one != name})
    item = arrays[name].dtype
    text = json.dumps({**header, "arrays": [*directory, [name, item.str, shape, item.itemsize * shape[0]]]}).encode()
    with open(path, "wb") as stream:
        stream.write(b"\x89LBG\r\n\x1a\n" + struct.pack("<IQ", FORMAT, len(text)) + text)
        for one, array in arrays.items():
            if one != name:
                stream.write(bytes(-stream.tell() % 64) + array.tobytes())
        stream.truncate(stream.tell() + -stream.tell() % 64 + item.itemsize * shape[0] + 32)


def _size(path):
    return path.stat().st_size


def _with_topics(path, n_topics, header, arrays):
    """A file with zeros for ``n_topics`` topics: compressed ones, and a hole that makes the file large."""
    header = copy.deepcopy(header)
    header["parameters"]["n_topics"] = n_topics
    directory, parts = [], []
    for name, array in arrays.items():
        stored, hole, shape = array.tobytes(), 0, array.shape
        if name not in ("levels", "indptr", "items_of", "values"):
            shape = (*array.shape[:-1], n_topics)
            size = 8 * int(np.prod(shape))
            stored, hole = (b"", size) if name == "lam" else (zlib.compress(bytes(size), 9), 0)
        directory.append([name, array.dtype.str, list(shape), len(stored) + hole])
        parts.append((stored, hole))
    text = json.dumps({**header, "arrays": directory}).encode()
    with open(path, "wb") as stream:
        stream.write(b"\x89LBG\r\n\x1a\n" + struct.pack("<IQ", FORMAT, len(text)) + text)
        for stored, hole in parts:
            stream.seek(-stream.tell() % 64, 1)
            stream.write(stored)
            stream.seek(hole, 1)
        stream.write(bytes(32))


@pytest.mark.skipif(not hasattr(resource, "RLIMIT_AS") or sys.platform != "linux", reason="needs Linux's limits")
def test_lies_about_sizes_cost_no_memory(whole, tmp_path):
    header, arrays = whole
    header["parameters"]["n_topics"] = 10**9
    files = {
        "topics": _forge(header, arrays),
        "array": RAW["a huge array"][0],
        "overflow": RAW["sizes that overflow"][0],
        "header": RAW["a header beyond the end"][0],
        "nested": RAW["deep nesting"][0],
        "zeros": _with_stored(header, arrays, "values", [30_000_000], zlib.compress(bytes(240_000_000), 9)),
    }
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    holes = {"ratings": ("items_of", [30_000_000]), "levels": ("levels", [8_000_000]), "all": ("lam", [10**9])}
    for name, lie in holes.items():
        _with_a_hole(tmp_path / name, *lie, header, arrays)
        assert (tmp_path / name).stat().st_blocks * 512 <= 8192
        files[name] = b""
    # the hole makes a file of 8 MB, which as data would justify 800 MB of arrays
    _with_topics(tmp_path / "zero topics", 1_000_000, header, arrays)
    assert (tmp_path / "zero topics").stat().st_blocks * 512 < 400_000 < 8_000_000 < _size(tmp_path / "zero topics")
    files["zero topics"] = b""
    command = [sys.executable, "-c", _LIMITED, *(str(tmp_path / name) for name in files)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    with pytest.raises(ModelFileError, match=r"its [\d,]+ bytes of data cannot be [\d,]+ bytes of arrays"):
        lbg_recsys.load(tmp_path / "zero topics")


def test_a_header_is_not_in_a_hole(tmp_path):
    path = tmp_path / "hole.lbg"
    with open(path, "wb") as stream:
        stream.write(b"\x89LBG\r\n\x1a\n" + struct.pack("<IQ", FORMAT, 60 << 20))
        stream.truncate((60 << 20) + 52)
    with pytest.raises(ModelFileError, match="its header does not fit into it"):
        lbg_recsys.load(path)
