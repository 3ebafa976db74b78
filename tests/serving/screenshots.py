"""The pictures of the page and of a report in the documentation, of a real model.

    python -m tests.serving.screenshots model.lbg report.html docs/images

``model.lbg`` is what ``lbg-recsys fit ml-100k`` writes, ``report.html`` its report.
"""

import sys
from io import BytesIO
from pathlib import Path

from PIL import Image

from tests.browser import screen, started
from tests.serving.test_browser import Page, served

RATED = (("Star Wars", 5), ("Alien", 4), ("Fargo", 5), ("Sound of Music", 1))
# name -> width, height, dark, and what is scrolled to the top
SCREENS = {
    "page": (1180, 900, False, None),
    "page-dark": (1180, 900, True, None),
    "page-phone": (390, 800, False, "#list-title"),
}


def keep(driver, path):
    """A screenshot in 64 colours: a third of the bytes."""
    picture = Image.open(BytesIO(driver.get_screenshot_as_png())).convert("RGB")
    picture.quantize(64, dither=Image.Dither.NONE).save(path, optimize=True)


def main(model, report, folder):
    """Draw all pictures."""
    driver = started()
    with served(model) as address:
        for name, (width, height, dark, top) in SCREENS.items():
            page = Page(driver, address, width, height, dark)
            page.until(lambda page=page: len(page.titles()) == 10)
            for title, level in RATED:
                page.rate(title, level)
            page.one("#list button", "Why?").click()
            page.one(".why h4", "Similar titles")
            page.one("#profile", "Topics: groups of users like you")
            place = "arguments[0] ? document.querySelector(arguments[0]).offsetTop - 30 : 0"
            driver.execute_script(f"document.activeElement.blur(); window.scrollTo(0, {place})", top)
            keep(driver, Path(folder, f"{name}.png"))
    screen(driver, 1100, 900)
    driver.get(Path(report).resolve().as_uri())
    keep(driver, Path(folder, "report.png"))
    driver.quit()


if __name__ == "__main__":
    main(*sys.argv[1:])
