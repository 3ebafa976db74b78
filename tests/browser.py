"""The browser that the fixture `chromium` is, and its screens."""

import shutil

# without a window, and without the requests that a browser makes for itself
_OPTIONS = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run"),
)


def installed():
    """Whether there is a chromium that can be driven."""
    return bool(_browser() and shutil.which("chromedriver"))


def started():
    """A chromium without a window, driven by selenium."""
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = _browser()
    for one in _OPTIONS:
        options.add_argument(one)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    return webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))


def _browser():
    return shutil.which("chromium") or shutil.which("google-chrome")


def screen(driver, width=1280, height=860, dark=False):
    """Give the browser a screen of this size, in light or dark."""
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
