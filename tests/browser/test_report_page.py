"""Reports as a reader has them: opened from a file in Chromium, clicked, filtered, zoomed, saved."""

import pytest

import runs

WIDTHS = [(1280, 900), (390, 844)]


def selected(opened):
    return opened.page.evaluate("scopeProfiler.model.names[scopeProfiler.model.selected]")


# ---- One run --------------------------------------------------------------------------------------


def test_headline_and_findings(open_page, sample):
    opened = open_page(sample)
    page = opened.page
    assert page.title() == "tuned · scope-profiler report"
    figures = dict(page.eval_on_selector_all("#overview .figure", "all => all.map(f => [f.querySelector('dt').textContent, f.querySelector('dd').firstChild.textContent])"))
    assert figures["Wall time"] == "10.0 s" and figures["Ranks"] == "2" and figures["Calls"] == "8"
    assert figures["Inside regions"] == "80.0\u202f%"
    assert figures["Losses"] == "none"
    # own time: work 5 s on rank 0 and 6 s on rank 1, leaf 3 s and 2 s
    cards = page.eval_on_selector_all(".finding", "all => all.map(f => [f.querySelector('.kind').textContent, f.querySelector('.what')?.textContent, f.querySelector('.amount').textContent])")
    assert ["Hotspot", "work", "68.8\u202f%"] in cards and ["Hotspot", "leaf", "31.3\u202f%"] in cards
    assert ["Imbalance", "work", "500 ms"] in cards and ["Imbalance", "leaf", "500 ms"] in cards


def test_a_click_marks_everywhere(open_page, sample):
    opened = open_page(sample)
    page = opened.page
    assert selected(opened) == "work"  # the hottest
    page.click('#statistics tr[data-region] >> text="leaf"')
    assert selected(opened) == "leaf"
    assert page.inner_text(".mark") == "leaf"
    assert page.inner_text("#region h3") == "leaf"
    assert page.eval_on_selector_all("tr.marked bdi", "all => all.map(e => e.textContent)") == ["leaf"]
    assert page.eval_on_selector_all(".finding.marked .what", "all => all.map(e => e.textContent)") == ["leaf", "leaf"]
    page.keyboard.press("Escape")
    assert page.evaluate("scopeProfiler.model.selected") == -1
    assert not page.is_visible(".mark")


def test_a_click_in_a_chart_marks(open_page, sample):
    opened = open_page(sample)
    box = opened.chart("call-paths").bounding_box()
    # the icicle: session, in it work, in it leaf; rows of 20 pixels, from the left
    opened.page.mouse.click(box["x"] + 40, box["y"] + 4 + 2.5 * 20)
    assert selected(opened) == "leaf"


def test_filter(open_page, sample):
    opened = open_page(sample)
    assert opened.rows() == [runs.SESSION, "work", "leaf"]
    for text, rows in [("lea", [runs.SESSION, "work", "leaf"]), ("wor", [runs.SESSION, "work"]), ("-leaf", [runs.SESSION, "work"]),
                       ("~essio", [runs.SESSION]), ("calls>3", [runs.SESSION, "work", "leaf"]), ("total>15s -scope", [runs.SESSION, "work"]), ("eaf", [])]:
        opened.filter(text)
        assert opened.rows() == rows, text
    opened.filter("rank:1")
    figures = dict(opened.page.eval_on_selector_all("#region .figure", "all => all.map(f => [f.children[0].textContent, f.children[1].textContent])"))
    assert figures["own"] == "6.00 s" and figures["ranks"] == "1"


def test_a_bad_filter_says_so(open_page, sample):
    opened = open_page(sample)
    opened.filter("(")
    assert "no regular expression" in opened.page.inner_text(".trouble")
    opened.filter("rank:x")
    assert "no list of ranks" in opened.page.inner_text(".trouble")
    opened.filter("")
    assert opened.page.inner_text(".trouble") == ""


def test_sort_and_collapse(open_page, make):
    opened = open_page(make("wide", runs.ranks64))
    assert opened.rows() == [runs.SESSION, "step", "kernel", "inner loop", "exchange"]
    opened.page.click('[data-sort="name"]')
    assert opened.rows() == [runs.SESSION, "step", "exchange", "kernel", "inner loop"]
    opened.page.click('[data-sort="total"]')
    assert opened.rows() == [runs.SESSION, "step", "kernel", "inner loop", "exchange"]
    opened.page.click('[data-sort="total"]')
    assert opened.rows() == [runs.SESSION, "step", "exchange", "kernel", "inner loop"]
    opened.page.click('#statistics .twist[aria-label="Levels inside kernel"]')
    assert opened.rows() == [runs.SESSION, "step", "exchange", "kernel"]
    opened.page.click("#statistics >> text=Collapse")
    assert opened.rows() == [runs.SESSION]


def test_rows_of_ranks_and_source(open_page, sample):
    opened = open_page(sample)
    opened.page.click('#statistics tr[data-region="1"] button.ranks')
    ranks = opened.page.eval_on_selector_all("tr.rank-row th", "all => all.map(e => e.textContent)")
    assert ranks == ["rank 0", "rank 1"]
    opened.page.click("#region summary >> text=Source")
    assert opened.page.inner_text("pre.source >> nth=0") == "def work():\n    leaf()\n"
    assert "solver.py:12" in opened.page.inner_text("#region")


def test_limits(open_page, sample):
    opened = open_page(sample)
    opened.page.select_option('select[aria-label="Depth"]', "2")
    assert opened.rows() == [runs.SESSION, "work"]


def test_zoom(open_page, sample):
    opened = open_page(sample)
    box = opened.chart("timeline").bounding_box()
    assert opened.page.evaluate("scopeProfiler.timeline.zoomed()") == 1
    opened.page.keyboard.press("w")
    opened.settle()
    assert opened.page.evaluate("scopeProfiler.timeline.zoomed()") == pytest.approx(0.5, abs=0.01)
    opened.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 30)
    opened.page.keyboard.down("Control")
    opened.page.mouse.wheel(0, -300)
    opened.page.keyboard.up("Control")
    opened.settle()
    assert opened.page.evaluate("scopeProfiler.timeline.zoomed()") < 0.49
    opened.page.keyboard.press("0")
    opened.settle()
    assert opened.page.evaluate("scopeProfiler.timeline.zoomed()") == 1


def test_keys(open_page, make):
    opened = open_page(make("wide", runs.ranks64))
    opened.page.keyboard.press("j")
    assert selected(opened) == runs.SESSION
    opened.page.keyboard.press("j")
    opened.page.keyboard.press("j")
    assert selected(opened) == "kernel"
    opened.page.keyboard.press("h")
    assert "inner loop" not in opened.rows()
    opened.page.keyboard.press("/")
    assert opened.page.evaluate("document.activeElement.id") == "filter"
    opened.page.keyboard.press("Escape")
    opened.page.keyboard.press("?")
    assert opened.page.is_visible("#help")


# ---- Looks ----------------------------------------------------------------------------------------

CONTRAST = """([selector]) => {
  const parse = c => { const m = c.match(/[\\d.]+/g).map(Number); return {rgb: m.slice(0, 3), a: m[3] ?? 1}; };
  const light = rgb => { const [r, g, b] = rgb.map(v => { v /= 255; return v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4; }); return .2126 * r + .7152 * g + .0722 * b; };
  const out = [];
  for (const e of document.querySelectorAll(selector)) {
    if (![...e.childNodes].some(n => n.nodeType === 3 && n.data.trim()) || !e.getClientRects().length) continue;
    let back = null;
    for (let p = e; p && !back; p = p.parentElement) { const b = parse(getComputedStyle(p).backgroundColor); if (b.a === 1) back = b.rgb; }
    const a = light(parse(getComputedStyle(e).color).rgb), b = light(back ?? [255, 255, 255]);
    const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
    if (ratio < 4.5) out.push([e.tagName, e.className, e.textContent.slice(0, 40), ratio]);
  }
  return out;
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_stand_out(open_page, make, sample, scheme):
    for path in (sample, make("repeated", runs.repeated, "--no-individual-reports")):
        opened = open_page(path, color_scheme=scheme)
        assert opened.page.evaluate(CONTRAST, ["body *"]) == []


def test_theme_switch(open_page, sample):
    opened = open_page(sample)
    back = "getComputedStyle(document.documentElement).backgroundColor"
    light = opened.page.evaluate(back)
    opened.page.click("#theme")
    assert opened.page.evaluate("document.documentElement.dataset.theme") == "dark"
    assert opened.page.evaluate(back) != light
    opened.page.keyboard.press("t")
    assert opened.page.evaluate(back) == light


@pytest.mark.parametrize("size", WIDTHS)
def test_nothing_sticks_out(open_page, make, size):
    pages = [make("sample", runs.sample), make("scaling", runs.scaling), make("hostile", runs.hostile), make("wide", runs.ranks64)]
    for path in pages:
        opened = open_page(path, viewport={"width": size[0], "height": size[1]})
        assert opened.page.evaluate("document.documentElement.scrollWidth") <= size[0], path.name


def test_printing(open_page, sample):
    opened = open_page(sample)
    opened.page.emulate_media(media="print")
    for selector in (".contents", "#filter", ".save >> nth=0", ".switches"):
        assert not opened.page.is_visible(selector)
    assert opened.page.is_visible("#statistics table")
    opened.page.evaluate("dispatchEvent(new Event('beforeprint'))")
    opened.settle()
    drawn = opened.page.eval_on_selector_all(".chart", "all => all.filter(c => !c.querySelector('canvas')).map(c => c.dataset.chart)")
    assert drawn == []


def test_regions_differ_in_hue(open_page, sample, make):
    opened = open_page(make("wide", runs.ranks64))
    colours = opened.page.evaluate("scopeProfiler.model.colours")
    assert len(set(colours)) == 5
    # the same region on another page of the same regions
    again = open_page(make("million", runs.million)).page.evaluate("scopeProfiler.model.colours")
    assert again == colours


# ---- Charts ---------------------------------------------------------------------------------------

RUN_CHARTS = ["timeline", "distribution", "drift", "call-paths", "durations", "load-balance", "rank-heatmap"]


@pytest.mark.parametrize("name", RUN_CHARTS)
def test_charts_show_something(open_page, sample, name):
    assert open_page(sample).ink(name) >= 5


@pytest.mark.parametrize("name", ["timeline", "call-paths", "rank-heatmap", "durations"])
def test_save_chart(open_page, sample, tmp_path, name):
    opened = open_page(sample)
    opened.chart(name)
    found = opened.page.locator(f'section:has([data-chart="{name}"])')
    index = {"rank-heatmap": 1}.get(name, 0)
    for kind, start in (("svg", b"<svg"), ("png", b"\x89PNG\r\n")):
        with opened.page.expect_download() as download:
            found.locator(f'[data-save="{kind}"]').nth(index).click()
        assert download.value.suggested_filename == f"{name}.{kind}"
        download.value.save_as(tmp_path / f"x.{kind}")
        content = (tmp_path / f"x.{kind}").read_bytes()
        assert content.startswith(start) and len(content) > 2000
    assert b"work" in (tmp_path / "x.svg").read_bytes()


# ---- Many calls, many ranks, none -----------------------------------------------------------------


def test_million_calls(open_page, make):
    path = make("million", runs.million)
    assert path.stat().st_size < 2_500_000
    opened = open_page(path)
    text = opened.page.inner_text("#timeline .reduced")
    assert "are carried one by one" in text and "as density" in text
    assert opened.ink("timeline") >= 5
    opened.page.keyboard.press("w")
    opened.settle()
    assert opened.ink("timeline") >= 5


def test_million_calls_paint_soon(open_page, make, folder):
    """Against a page of the same size without anything in it; the best of three each. The content takes
    longer than the first paint, because a bare page has no script to read."""
    path = make("million", runs.million)
    bare = folder / "bare.html"
    bare.write_text("<!doctype html><title>bare</title><main>bare</main><script type='application/json'>" + "0" * path.stat().st_size + "</script>")
    paint = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime"
    loaded = "performance.getEntriesByType('navigation')[0].loadEventEnd"

    def best(page):
        times = []
        for _ in range(3):
            opened = open_page(page)
            opened.page.wait_for_function(f"{paint} > 0 && {loaded} > 0")
            times.append((opened.page.evaluate(paint), opened.page.evaluate(loaded)))
        return [min(column) for column in zip(*times)]

    ours, theirs = best(path), best(bare)
    assert ours[0] < 5 * theirs[0]
    assert ours[1] < 12 * theirs[1]


def test_64_ranks(open_page, make):
    opened = open_page(make("wide", runs.ranks64))
    page = opened.page
    assert page.get_attribute('#timeline [data-value="innermost"]', "aria-pressed") == "true"  # too many rows otherwise
    assert opened.ink("timeline") >= 5
    assert opened.ink("rank-heatmap") >= 20
    opened.filter("rank:0-3")
    page.click('#timeline [data-value="all"]')
    assert opened.ink("timeline") >= 5


def test_totals_only(open_page, make):
    opened = open_page(make("aggregated", runs.aggregated))
    assert opened.rows() == ["work", "leaf"] or opened.rows() == ["leaf", "work"]
    assert "the run kept totals" in opened.page.inner_text("#statistics")
    assert opened.page.query_selector("#timeline") is None
    assert opened.ink("durations") >= 5


def test_counters_and_lines(open_page, make):
    page = open_page(make("counted", runs.counted)).page
    assert page.inner_text("#counters th >> nth=0") == "work › FLOPS_DP › DP MFLOP/s"
    assert page.inner_text("#counters td >> nth=0") == "1250.50  1249.50"
    assert "a.py" in page.inner_text("#lines")


def test_communication(open_page, make):
    opened = open_page(make("ring", runs.communicating))
    rows = opened.page.eval_on_selector_all("#communication tbody tr", "all => all.map(r => [...r.children].map(c => c.textContent))")
    assert rows[0] == ["MPI_Send", "4", "10.0 KiB", "200 ns", "0 s"]
    assert rows[1] == ["0", "1", "50 ns", "0 s", "0 s"]
    assert opened.ink("communication") >= 8


def test_nothing_recorded(open_page, make):
    opened = open_page(make("empty", runs.empty))
    assert "Nothing was recorded" in opened.page.inner_text("#findings")
    assert "No regions were recorded" in opened.page.inner_text("#statistics")
    assert opened.page.query_selector(".chart") is None


def test_hostile_names_are_texts(open_page, make):
    opened = open_page(make("hostile", runs.hostile))
    page = opened.page
    rows = opened.rows()
    assert rows[0] == runs.HOSTILE[0] and rows[2] == runs.HOSTILE[2]
    assert len(rows[4]) < 100 and "…" in rows[4]
    assert "\u202e" not in "".join(rows)
    assert page.query_selector("#page img") is None and page.query_selector("#page script") is None
    assert page.inner_text("h1") == runs.HOSTILE[0]
    for i in range(len(rows)):
        page.click(f'#statistics tr[data-region="{i}"] bdi')
        opened.settle()
    for name in ("timeline", "call-paths", "durations"):
        box = opened.chart(name).bounding_box()
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 20)
        opened.settle()
    assert page.evaluate("[...document.querySelectorAll('img,iframe,object')].length") == 0


def test_newer_data_is_refused(open_page, sample, browser, tmp_path):
    text = sample.read_text(encoding="utf-8").replace('"format_version":1', '"format_version":2', 1)
    (tmp_path / "newer.html").write_text(text, encoding="utf-8")
    page = browser.new_page()
    page.goto((tmp_path / "newer.html").as_uri())
    assert "The data has version 2; this page reads up to 1." in page.inner_text("[role=alert]")
    page.close()


def test_without_charts(open_page, make):
    opened = open_page(make("plain", runs.sample, "--no-charts"))
    assert opened.page.query_selector(".chart") is None
    assert opened.rows() == [runs.SESSION, "work", "leaf"]


# ---- Several runs ---------------------------------------------------------------------------------


def test_comparison_and_links(open_page, make):
    opened = open_page(make("scaling", runs.scaling))
    page = opened.page
    assert page.title() == "scope-profiler comparison"
    row = page.eval_on_selector_all('#changes tr[data-name="work"] td', "all => all.map(e => e.textContent)")
    assert row[:4] == ["8.00 s", "5.00 s", "−3.00 s", "−37.5\u202f%"]
    assert opened.ink("durations") >= 4
    page.select_option('#changes select', "1")
    row = page.eval_on_selector_all('#changes tr[data-name="work"] td', "all => all.map(e => e.textContent)")
    assert row[1] == "3.00 s"
    page.click("a.report-link >> nth=1")
    page.wait_for_selector("#statistics")
    assert page.title() == "2 ranks · scope-profiler report"


def test_scaling(open_page, make):
    """Whole runs of 9, 6, 4 s on 1, 2, 4 ranks: speedup 1.5 and 2.25, serial fraction by Karp and
    Flatt (1/1.5 - 1/2) / (1 - 1/2) = 1/3 and (1/2.25 - 1/4) / (1 - 1/4) = 0.259."""
    opened = open_page(make("scaling", runs.scaling))
    rows = opened.page.eval_on_selector_all("#scaling tbody tr", "all => all.map(r => [...r.children].map(c => c.textContent))")
    assert rows == [["1", "9.00 s", "1.00 ×", "100.0 %", "–"], ["2", "6.00 s", "1.50 ×", "75.0 %", "0.333"], ["4", "4.00 s", "2.25 ×", "56.3 %", "0.259"]]
    assert opened.ink("scaling") >= 5
    opened.page.click('#scaling [data-value="weak"]')
    rows = opened.page.eval_on_selector_all("#scaling tbody tr", "all => all.map(r => [...r.children].map(c => c.textContent))")
    assert rows[1] == ["2", "6.00 s", "3.00 ×", "150.0 %", "–"]
    for value in ("efficiency", "serial", "time"):
        opened.page.click(f'#scaling [data-value="{value}"]')
        assert opened.ink("scaling") >= 5


def test_repeated_runs_have_intervals(open_page, make):
    opened = open_page(make("repeated", runs.repeated, "--no-individual-reports"))
    heads = opened.page.eval_on_selector_all("#changes thead th", "all => all.map(e => e.textContent)")
    assert heads[-2:] == ["interval", "slower by chance"]
    work = opened.page.eval_on_selector_all('#changes tr[data-name="work"] td', "all => all.map(e => e.textContent)")
    assert work[3] == "+10.0\u202f%" and "…" in work[5]
    fixed = opened.page.get_attribute('#changes tr[data-name="fixed"]', "class")
    assert fixed == "unsure"
    opened.filter("wor")
    assert opened.page.query_selector('#changes tr[data-name="fixed"]') is None


def test_pictures_can_be_taken(browser, make, sample, tmp_path):
    """What makes the pictures of the documentation works on any report."""
    import screenshots

    pages = {"one": sample, "several": make("scaling", runs.scaling)}
    taken = screenshots.take(browser, pages, tmp_path, scheme="dark")
    assert [path.name for path in taken] == [f"{view[0]}.png" for view in screenshots.VIEWS]
    assert all(path.stat().st_size > 10_000 for path in taken)
