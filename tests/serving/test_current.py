"""The model that is being served, without a server."""

from lbg_recsys.serving.answers import Service
from lbg_recsys.serving.current import Current


def test_a_model_that_cannot_answer_is_refused_whatever_its_error(model_files, monkeypatch, caplog):
    current = Current(model_files["lbg"], Service)
    before = current.service
    monkeypatch.setattr(Service, "warm_up", lambda self: [][1])
    assert not current.reload() and current.service is before
    assert current.refused == "IndexError: list index out of range" and caplog.records[-1].exc_info
