"""A report in a real browser, from file://: it loads nothing, runs nothing, and fits a phone and the dark."""

import re
from importlib import resources

import pytest

pytest.importorskip("selenium", reason="selenium is not installed: pip install '.[dev]'")
from lbg_recsys.report import report_html
from tests.browser import screen
from tests.report.conftest import HOSTILE

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


@pytest.fixture(scope="module")
def page(models, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(report_html(models["bayesian"], title=f"Report on {HOSTILE}"), encoding="utf-8")
    return path.as_uri()


def test_it_shows_all_and_loads_nothing(chromium, page):
    screen(chromium)
    chromium.get(page)
    assert chromium.title.startswith("Report on <script>")  # and not "hacked"
    assert chromium.execute_script("return performance.getEntriesByType('resource').length") == 0
    assert chromium.execute_script("return document.scripts.length + document.images.length") == 0
    assert [one["message"] for one in chromium.get_log("browser") if one["level"] == "SEVERE"] == []
    text = chromium.find_element("tag name", "main").text
    assert "<img src=x onerror=" in text and "\\u001b" in text and "\x1b" not in text
    for link in chromium.find_elements("css selector", "nav a"):
        target = link.get_attribute("href").rpartition("#")[2]
        assert chromium.find_element("id", target).is_displayed()
    pictures = chromium.find_elements("css selector", "svg")
    assert len(pictures) > 20 and all(one.accessible_name for one in pictures)
    summary = chromium.find_element("css selector", "summary")
    summary.click()
    assert "n_sweeps" in chromium.find_element("css selector", "details").text


@pytest.mark.parametrize("dark", [False, True])
def test_a_phone_in_light_and_dark(chromium, page, dark):
    screen(chromium, 360, 740, dark=dark)
    chromium.get(page)
    assert not chromium.execute_script("return document.documentElement.scrollWidth > window.innerWidth")
    colour = chromium.execute_script("return getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, re.findall(r"\d+", colour))) < 100) == dark
    widest = max(one.size["width"] for one in chromium.find_elements("css selector", "svg.picture"))
    assert 250 < widest <= 360


@pytest.mark.parametrize("width", [360, 1280])
def test_no_label_of_a_picture_lies_on_another(chromium, page, width):
    screen(chromium, width, 900)
    chromium.get(page)
    overlaps = chromium.execute_script(
        """return [...document.querySelectorAll('svg.picture')].flatMap(picture => {
          const boxes = [...picture.querySelectorAll('text')]
            .map(one => [one.textContent, one.getBoundingClientRect()]);
          return boxes.flatMap(([name, a], place) => boxes.slice(place + 1).filter(([_, b]) =>
            a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 2 && b.top < a.bottom - 2
          ).map(([other]) => name + ' / ' + other));
        })"""
    )
    assert overlaps == []


def test_the_frame_has_the_colours_of_the_page():
    """Their contrast is tested there."""
    frame, served = (
        resources.files(f"lbg_recsys.{room}").joinpath(name).read_text(encoding="utf-8")
        for room, name in (("report", "frame.html"), ("serving", "page.html"))
    )
    own, others = (re.findall(r"--([a-z-]+): (#[0-9a-f]{3,6});", text) for text in (frame, served))
    assert len(own) > 10 and set(own) <= set(others)
