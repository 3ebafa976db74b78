"""The page in a real browser: rate, read the list, open the reasons, errors, a narrow screen, the dark."""

import re
import socket
import threading
import time
from contextlib import contextmanager
from importlib import resources
from itertools import pairwise

import pytest

selenium = pytest.importorskip("selenium", reason="selenium is not installed: pip install '.[dev]'")
import uvicorn  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402
from selenium.webdriver.support.ui import Select, WebDriverWait  # noqa: E402

import lbg_recsys  # noqa: E402
from lbg_recsys.serving.answers import Limits  # noqa: E402
from lbg_recsys.serving.app import Options, create_app  # noqa: E402
from tests.browser import screen  # noqa: E402

pytestmark = pytest.mark.slow


@contextmanager
def served(path, **options):
    """The address of a server in a thread of this process."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        config = uvicorn.Config(create_app(str(path), Options(**options)), log_level="warning")
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [sock]}, daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.02)
        yield f"http://127.0.0.1:{sock.getsockname()[1]}/"
        server.should_exit = True
        thread.join(20)


@pytest.fixture(scope="module")
def url(model_files):
    with served(model_files["bayesian"]) as address:
        yield address


class Page:
    """What a visitor does and sees."""

    def __init__(self, driver, url, width=1280, height=860, dark=False):
        self.driver = driver
        screen(driver, width, height, dark)
        driver.get(url)

    def all(self, selector):
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def one(self, selector, text=""):
        """The first shown element that contains a text, as soon as there is one."""

        def shown(_):
            return next((one for one in self.all(selector) if one.is_displayed() and text in one.text), None)

        return WebDriverWait(self.driver, 30, 0.1, ignored_exceptions=[Exception]).until(
            shown, f"no {selector} {text!r}"
        )

    def until(self, condition):
        WebDriverWait(self.driver, 30, 0.1, ignored_exceptions=[Exception]).until(lambda _: condition())

    def titles(self):
        return [one.text for one in self.all("#list h3")]

    def type(self, *keys):
        self.driver.switch_to.active_element.send_keys(*keys)

    def rate(self, title, level):
        """By the keyboard alone: search, Enter, then the arrow keys to the level."""
        self.one("#search").send_keys(title)
        self.one("#options li[aria-selected=true]", title)
        self.one("#search").send_keys(Keys.ENTER)
        self.until(lambda: self.all(f'#rated li:first-child input[aria-label="{level} of 5"]'))  # drawn by its label
        self.type(*([Keys.SPACE] if level == 1 else [Keys.ARROW_RIGHT] * (level - 1)))
        self.until(lambda: self.all(f'#rated li:first-child input[value="{level}"]:checked'))
        self.until(lambda: self.titles() and not self.all("#list.wait"))

    def is_wider_than_screen(self):
        return self.driver.execute_script("return document.documentElement.scrollWidth > window.innerWidth")

    def complaints(self):
        return [one["message"] for one in self.driver.get_log("browser") if one["level"] == "SEVERE"]


def test_rate_three_titles_by_keyboard_and_read_list_and_reasons(chromium, url, sample):
    page = Page(chromium, url)
    page.one("h2", "What most people take")
    page.until(lambda: len(page.titles()) == 10)
    popular, seen = page.titles(), []
    for title, level in (
        (sample.items.loc[1, "title"], 5),
        (sample.items.loc[2, "title"], 4),
        (sample.items.loc[40, "title"], 1),
    ):
        page.rate(title, level)
        seen.append(title)
    page.one("#list-title", "For you")
    page.until(lambda: page.titles() != popular and not set(page.titles()) & set(seen))
    assert len(page.titles()) == 10
    pictures = page.all("#list svg")
    assert len(pictures) == 10 and "Probability of each rating. 1: " in pictures[0].get_attribute("aria-label")
    assert re.search(r"\d\.\d\s+likely \d", page.one("#list .expected").text)
    assert "10 recommendations" in page.driver.execute_script("return document.getElementById('status').textContent")
    why = page.one("#list button", "Why?")
    why.send_keys(Keys.ENTER)
    page.one(".why h4", "Why it is in the list")
    assert why.get_attribute("aria-expanded") == "true"
    headings = [one.text for one in page.all(".why h4")]
    assert headings[1:] == [
        "What the expected rating is made of",
        "What speaks for a higher rating, and what against",
        "Similar titles",
    ]
    assert any(title in page.one(".why").text for title in seen)
    page.one("#profile", "Topics: groups of users like you")
    assert "3 ratings" in page.one("#profile").text and page.all("#profile svg")
    why.send_keys(Keys.ENTER)
    page.until(lambda: not page.all(".why"))
    for button in page.all("#rated button"):
        assert button.get_attribute("aria-label").startswith("Remove ")
    page.one("#clear").click()
    page.until(lambda: page.titles() == popular)
    assert page.complaints() == []


def test_a_pasted_list_counts_and_names_what_is_unknown(chromium, url, sample):
    page = Page(chromium, url)
    page.one("#list h3")
    page.one("summary", "Paste a list").click()
    page.one("#pasted").send_keys(f'title,rating\n"{sample.items.loc[1, "title"]}",5\n2;3\nNo Such Film,4\n')
    page.one("#use").click()
    page.one("#notes", "'No Such Film'")
    page.until(lambda: len(page.all("#rated li")) == 2)
    assert [one.get_attribute("value") for one in page.all("#rated input:checked")] == ["3", "5"]
    page.one("#clear").click()
    page.one("#pasted").clear()
    page.one("#pasted").send_keys("user,rating,item,timestamp\n7,2,1,881250949\n7,4,2,881250950\n")
    page.one("#use").click()
    page.until(lambda: [one.get_attribute("value") for one in page.all("#rated input:checked")] == ["2", "4"])
    page.one("#pasted").clear()
    page.one("#pasted").send_keys("a line without a number")
    page.one("#use").click()
    page.one("#error", "has no title and rating")


def test_a_known_user_is_looked_up_and_an_unknown_one_is_an_error(chromium, url):
    page = Page(chromium, url)
    page.one("#list h3")
    page.one("#tab-new").send_keys(Keys.ARROW_RIGHT)
    page.one("#list", "Enter the id of a user")
    page.one("#user").send_keys("3", Keys.ENTER)
    page.one("#list-title", "For user 3")
    page.until(lambda: len(page.titles()) == 10)
    page.one("#profile", "Highest ratings")
    page.one("#user").clear()
    page.one("#user").send_keys("nobody", Keys.ENTER)
    page.one("#error", "the model knows no user 'nobody' (it knows 200 users); describe a new one by")
    assert page.titles() == [] and not page.all("#legend")[0].is_displayed()  # no bars, and nothing about them


def test_a_list_that_is_ranked_by_ratings_has_reasons_for_ratings(chromium, url):
    page = Page(chromium, url)
    page.one("#list-title", "What most people take")
    Select(page.one("#by")).select_by_value("rating")
    page.one("#list-title", "What most people like")
    page.until(lambda: page.titles() and not page.all("#list.wait"))
    page.one("#list button", "Why?").click()
    page.one(".why h4", "What the expected rating is made of")
    assert "Why it is in the list" not in page.one(".why").text  # what people take has no part in it


def test_a_narrow_screen_and_the_dark(chromium, url, sample):
    page = Page(chromium, url, width=360, height=740, dark=True)
    page.one("#list h3")
    page.rate(sample.items.loc[1, "title"], 5)
    page.one("#list button", "Why?").click()
    page.one(".why h4", "Similar titles")
    assert not page.is_wider_than_screen()
    colour = page.driver.execute_script("return getComputedStyle(document.body).backgroundColor")
    assert sum(map(int, re.findall(r"\d+", colour))) < 100
    hint = "return getComputedStyle(document.getElementById('search'), '::placeholder').color"
    assert page.driver.execute_script(hint) == "rgb(164, 172, 172)"  # --soft, and not the browser's own grey
    level, cross = (page.one(name).rect for name in ("#rated .levels label", "#rated .quiet"))
    assert level["y"] < cross["y"] + cross["height"] / 2 < level["y"] + level["height"]  # in one row
    top, bottom = (page.one(name).rect["y"] for name in ("#list", "#profile"))
    assert top < bottom  # the list comes before what the model thinks
    small = [
        one for one in page.all("button, select, .levels label") if one.is_displayed() and one.rect["height"] < 24
    ]
    assert not small  # large enough for a finger


@pytest.fixture(scope="module", params=["halves", "continuous"])
def other_scale(request, sample, fitted, tmp_path_factory):
    """A model of ratings from 0.5 to 5 in halves, or from -10 to 10 in any fractions."""
    value = sample.ratings["rating"] - 0.5 * (sample.ratings["user"] % 2)
    if request.param == "continuous":
        value = 5 * (value - 3) - 0.001 * sample.ratings["item"]
    ratings = sample.ratings.assign(rating=value)
    path = tmp_path_factory.mktemp("scales") / f"{request.param}.lbg"
    return lbg_recsys.save(fitted("bayesian", ratings), path, titles=sample.items["title"].to_dict())


def test_pictures_of_other_scales_go_from_low_to_high_and_can_be_read(chromium, other_scale):
    with served(other_scale) as address:
        for width in (1280, 360):
            page = Page(chromium, address, width=width)
            page.one("#chips button").click()
            page.one("#rated li :is(label, input)").click()
            page.one("#profile svg")
            page.until(lambda page=page: not page.all("#list.wait"))
            for picture in page.all("svg"):
                labels = sorted(picture.find_elements(By.TAG_NAME, "text"), key=lambda one: one.rect["x"])
                levels = [float(one.text) for one in labels]
                assert levels == sorted(levels) and len(levels) > 2
                assert all(one.rect["x"] + one.rect["width"] < other.rect["x"] for one, other in pairwise(labels))
            title, cross = (page.one(name).rect for name in ("#rated .row > span", "#rated .quiet"))
            assert cross["y"] < title["y"] + title["height"]  # in one row
            assert not page.is_wider_than_screen()


def test_every_control_has_a_name(chromium, url, sample):
    page = Page(chromium, url)
    page.one("#list h3")
    page.rate(sample.items.loc[1, "title"], 3)
    found = page.all("button, input, select, textarea, svg, [role=listbox], [role=tabpanel]")
    assert len(found) > 20
    assert [
        one.get_attribute("outerHTML")[:80] for one in found if one.is_displayed() and not one.accessible_name
    ] == []


def test_a_server_that_stopped_and_one_with_a_token(chromium, model_files):
    with served(model_files["lbg"], token="sesame") as address:
        page = Page(chromium, address)
        page.one("#token").send_keys("wrong", Keys.ENTER)
        page.until(lambda: page.one("#token").get_attribute("value") == "")
        page.one("#token").send_keys("sesame", Keys.ENTER)
        page.until(lambda: len(page.titles()) == 10)
    page.one("#chips button").click()
    page.one("#error", "The server does not answer")


def test_a_server_with_short_lists(chromium, model_files):
    with served(model_files["bayesian"], limits=Limits(n=2)) as address:
        page = Page(chromium, address)
        page.until(lambda: len(page.titles()) == 2)  # what loads moves what is below it
        page.one("summary", "Paste a list").click()
        page.one("#pasted").send_keys("1,5\n2,4\n3,3\n")
        page.one("#use").click()
        page.one("#notes", "Of 3 ratings, the highest 2 are used")
        page.one("#list button", "Why?").click()
        page.one(".why h4", "Similar titles")
        page.one("#profile", "Topic")
        assert len(page.titles()) == len(page.all("#rated li")) == 2 and page.all("#error")[0].text == ""


def test_a_model_of_clicks_asks_for_no_ratings(chromium, model_files):
    with served(model_files["clicks"]) as address:
        page = Page(chromium, address)
        page.one("#chips button").click()
        page.one("#list-title", "For you")
        page.until(lambda: page.titles() and len(page.all("#rated li")) == 1)
        assert not page.all("#rated input") and not page.all("#list svg")
        page.one("#list button", "Why?").click()
        page.one(".why h4", "Why it is in the list")


def luminance(colour):
    channels = (int(colour[place : place + 2], 16) / 255 for place in (0, 2, 4))
    linear = [one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("name", ["page.html", "docs.html"])
def test_colours_have_contrast(name):
    """WCAG AA: 4.5 for every colour of text on every surface it stands on, in light and dark."""
    text = resources.files("lbg_recsys.serving").joinpath(name).read_text(encoding="utf-8")
    schemes = [dict(re.findall(r"--([a-z-]+): #([0-9a-f]{3,6});", part)) for part in text.split(":root {")[1:3]]
    assert len(schemes) == 2
    for colours in schemes:
        full = {
            one: code if len(code) == 6 else "".join(2 * letter for letter in code) for one, code in colours.items()
        }
        pairs = [
            (front, back) for front in ("text", "soft", "accent", "against") for back in ("page", "card", "sunk")
        ]
        pairs += [("on-accent", "accent"), ("warn-text", "warn"), ("text", "tint"), ("text", "raised")]
        for front, back in pairs:
            if front in full and back in full:
                dark, light = sorted(luminance(full[one]) for one in (front, back))
                assert (light + 0.05) / (dark + 0.05) >= 4.5, (front, back)
