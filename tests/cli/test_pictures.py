"""What pictures show: the same axes for what is compared, labels on every axis, and no more than one can take in."""

import pytest

pytest.importorskip("matplotlib", reason="the extra plot is not installed: pip install '.[plot]'")
from lbg_recsys import LBGModel
from lbg_recsys.cli import pictures
from lbg_recsys.evaluation.compare import Comparison


@pytest.fixture
def drawn(monkeypatch):
    """The figures that are saved, instead of their files."""
    found = []
    monkeypatch.setattr(pictures, "save_figure", lambda figure, path: found.append(figure))
    return found


def test_topics_share_their_axes_and_the_largest_are_shown(sample, drawn):
    model = LBGModel(n_topics=9, max_iter=5, random_state=0).fit(sample.ratings)
    pictures.draw_topics(model.topics(3), {}, "x.png")
    (figure,) = drawn
    assert len(figure.axes) == 2 * 6
    for column in (figure.axes[::2], figure.axes[1::2]):
        assert len({axis.get_xlim() for axis in column}) == 1
        assert all(axis.get_xlabel() and axis.get_ylabel() for axis in column)
    assert figure.get_suptitle().startswith("The 6 largest of 9 topics")
    figure.draw_without_rendering()
    (legend,) = (one.get_window_extent() for one in figure.legends)
    assert not any(legend.overlaps(axis.get_window_extent()) for axis in figure.axes)  # it hides no bar


def test_algorithms_are_compared_in_one_row(drawn):
    results = [
        Comparison("lbg:n_topics=3", 0.9, 0.7, -1.2, 0.95, fit_seconds=0.5),
        Comparison("svd", 0.95, 0.75, fit_seconds=0.1),
        Comparison("popularity"),
    ]
    pictures.draw_comparison(results, "x.png")
    (figure,) = drawn
    assert len(figure.axes) == 5  # nobody has lists
    assert all(axis.get_xlabel() for axis in figure.axes) and figure.axes[0].get_ylabel() == "algorithm"
    assert {axis.get_ylim() for axis in figure.axes} == {(2.5, -0.8)}
    names = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert names == ["lbg:n_topics=3", "svd", "popularity"]
    assert [len(axis.texts) for axis in figure.axes] == [2, 2, 1, 1, 3]  # a dot only where there is a value
