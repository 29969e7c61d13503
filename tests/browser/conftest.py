"""Fixtures of the tests in a browser: Chromium as the system has it, driven by Playwright; pages are
opened from files. A page that says anything on the console or asks for anything fails its test."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "cli"))

import runs  # noqa: E402

playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")

BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def pytest_collection_modifyitems(items):
    for item in items:
        if Path(item.path).parent == Path(__file__).parent:
            item.add_marker(pytest.mark.browser)


def find_browser():
    chosen = os.environ.get("SCOPE_PROFILER_BROWSER")
    for name in [chosen] if chosen else BROWSERS:
        if shutil.which(name):
            return shutil.which(name)
    pytest.skip("no Chromium on PATH", allow_module_level=True)


@pytest.fixture(scope="session")
def browser():
    with playwright.sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=find_browser(), args=["--no-sandbox", "--disable-gpu"])
        yield started
        started.close()


@pytest.fixture(scope="session")
def command():
    chosen = os.environ.get("SCOPE_PROFILER_COMMAND")
    beside = Path(sys.executable).parent / "scope-profiler"
    return Path(chosen).resolve() if chosen else beside


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("reports")


@pytest.fixture(scope="session")
def make(command, folder):
    """make(name, maker, *options): the page of what the maker writes, made once."""
    made = {}

    def make_page(name, maker, *options):
        if name not in made:
            files = maker(folder / name)
            page = folder / f"{name}.html"
            words = [command, "report", *files, "-o", page, "-q", *options]
            done = subprocess.run(list(map(str, words)), capture_output=True, text=True, timeout=60)
            assert done.returncode == 0, done.stderr
            made[name] = page
        return made[name]

    return make_page


class Opened:
    """A page that is watched."""

    def __init__(self, browser, path, **context):
        settings = {"viewport": {"width": 1280, "height": 900}, "accept_downloads": True, **context}
        self.context = browser.new_context(**settings)
        self.page = self.context.new_page()
        self.troubles = []
        self.page.on("console", lambda message: self.troubles.append(f"{message.type}: {message.text}"))
        self.page.on("pageerror", lambda error: self.troubles.append(str(error)))
        self.page.on("dialog", lambda dialog: self.troubles.append(f"dialog: {dialog.message}"))
        self.page.on("request", self.request)
        self.page.goto(path.as_uri())
        self.page.wait_for_selector("main")

    def request(self, request):
        if not request.url.startswith(("file:", "data:", "blob:")):
            self.troubles.append(f"request: {request.url}")

    def settle(self):
        """Until the page has drawn what it was told."""
        self.page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 30))))")

    def filter(self, text):
        self.page.fill("#filter", text)
        self.page.wait_for_timeout(200)

    def rows(self):
        """Names in the statistics table, as they stand."""
        return self.page.eval_on_selector_all("#statistics tr[data-region] bdi", "all => all.map(e => e.textContent)")

    def chart(self, name):
        """A chart, drawn, in view."""
        box = self.page.locator(f'[data-chart="{name}"]')
        box.scroll_into_view_if_needed()
        box.locator("canvas").first.wait_for()
        self.settle()
        return box

    def ink(self, name):
        """How many different colours a chart shows: an empty one has very few."""
        self.chart(name)
        return self.page.eval_on_selector(
            f'[data-chart="{name}"] canvas',
            """c => { const copy = new OffscreenCanvas(c.width, c.height).getContext('2d', {willReadFrequently: true});
                      copy.drawImage(c, 0, 0);
                      const d = copy.getImageData(0, 0, c.width, c.height).data, s = new Set();
                      for (let i = 0; i < d.length; i += 4) if (d[i + 3] > 200) s.add(d[i] << 16 | d[i + 1] << 8 | d[i + 2]);
                      return s.size; }""")


@pytest.fixture
def open_page(browser):
    opened = []

    def open_one(path, **context):
        opened.append(Opened(browser, path, **context))
        return opened[-1]

    yield open_one
    troubles = [trouble for one in opened for trouble in one.troubles]
    for one in opened:
        one.context.close()
    assert troubles == []


@pytest.fixture(scope="session")
def sample(make):
    return make("sample", runs.sample)
