"""Pictures of reports for the documentation, taken in the browser in which reports are tested.

Usage: python tests/browser/screenshots.py [FOLDER]   (default: docs/images)
Runs examples/heat three times with the `scope-profiler` beside this Python and takes pictures of the
reports. $HEAT_BUILD names the folder with the built kernels, as for the example itself.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# Name, page, sections that are on it from the first to the last, width of the window.
VIEWS = [
    ("report-overview", "one", ("overview", "timeline"), 1280),
    ("report-statistics", "one", ("statistics", "region"), 1280),
    ("report-charts", "one", ("flame", "charts"), 1280),
    ("report-comparison", "several", ("runs", "durations"), 1280),
    ("report-narrow", "one", ("overview", "timeline"), 390),
]


def take(browser, pages, folder, views=VIEWS, scheme="light"):
    """Takes the pictures of `views`; returns their paths."""
    taken = []
    for name, page_name, (first, last), width in views:
        page = browser.new_page(viewport={"width": width, "height": 1400}, color_scheme=scheme)
        page.goto(pages[page_name].as_uri())
        page.wait_for_selector("main")
        for section in page.query_selector_all("section"):
            section.scroll_into_view_if_needed()
            page.wait_for_timeout(100)
        page.evaluate("document.querySelector('.top-bar').style.position = 'static'; document.querySelector('.contents').style.position = 'static'; scrollTo(0, 0)")
        page.wait_for_timeout(200)
        top = 0 if first == page.query_selector("section").get_attribute("id") else page.locator(f"#{first}").bounding_box()["y"] - 8
        left = 0 if top == 0 or width < 1000 else page.locator("main").bounding_box()["x"] + 8
        box = page.locator(f"#{last}").bounding_box()
        path = folder / f"{name}.png"
        page.screenshot(path=path, full_page=True, clip={"x": left, "y": top, "width": box["x"] + box["width"] + 10 - left, "height": box["y"] + box["height"] + 8 - top})
        page.close()
        taken.append(path)
    return taken


def heat_pages(folder):
    """Reports of the example: with one thread, and compared with two."""
    command = Path(sys.executable).parent / "scope-profiler"
    files = []
    for label, words in (("one thread", []), ("two threads", ["--threads", "2"]), ("finer output", ["--every", "10"])):
        files.append(folder / f"{label}.h5")
        subprocess.run([command, "run", "-q", "-o", files[-1], "--label", f"heat, {label}", ROOT / "examples/heat/heat.py", *words], check=True, stdout=subprocess.DEVNULL, env={**os.environ, "OMP_WAIT_POLICY": "passive"})
    subprocess.run([command, "report", "-q", files[1], "-o", folder / "one.html"], check=True)
    subprocess.run([command, "report", "-q", *files, "-o", folder / "several.html"], check=True)
    return {"one": folder / "one.html", "several": folder / "several.html"}


def main():
    from conftest import find_browser
    from playwright.sync_api import sync_playwright

    target = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "images"
    with tempfile.TemporaryDirectory() as name, sync_playwright() as driver:
        os.environ.setdefault("HEAT_BUILD", str(Path(name) / "kernels"))
        pages = heat_pages(Path(name))
        browser = driver.chromium.launch(executable_path=find_browser(), args=["--no-sandbox", "--disable-gpu"])
        for path in take(browser, pages, target):
            print(path)
        browser.close()


if __name__ == "__main__":
    main()
