"""The report in a real browser: it opens from disk, follows mouse and keyboard, runs no spec's text."""

import re
from pathlib import Path

import numpy as np
import pytest

import kerncast
from kerncast.codegen.build import compilers
from kerncast.lab.report import gather_page, write_report
from kerncast.lab.sweep import make_settings, run_sweep
from kerncast.sim.data import load_dataset
from kerncast.sim.model import open_model
from kerncast.sim.planner import make_plan
from kerncast.sim.spec import Spec

ECG = (Path(kerncast.__file__).parent / "examples" / "ecg.toml").read_text().replace("n = 256", "n = 64")
HOSTILE = "</script><img src=x onerror=\"document.title=1\"><script>document.title = 1</script>"
DRAWN = "{}.js-plotly-plot .main-svg"
_WAIT = 120_000  # ms: a machine may be busy; nothing waits so long where all is well


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sweep")
    grid = ["numbers.word=16,24", "refine=0,1", "sigma=2..4/2"]
    settings = make_settings(Spec.from_text(ECG), folder, grid=grid)
    return gather_page(run_sweep(settings, folder / "run").folder)


class Opened:
    """A page opened from disk, what its console told, and what it asked of others."""

    def __init__(self, chromium, page, folder):
        write_report(page, folder / "report.html")
        self.told, self.asked = [], []
        self.tab = chromium.new_page(viewport={"width": 1280, "height": 1000})
        self.tab.set_default_timeout(_WAIT)
        self.tab.on("console", lambda message: self.told.append(message.text))
        self.tab.on("pageerror", lambda error: self.told.append(str(error)))
        self.tab.on("request", lambda request: self.asked.append(request.url))
        self.tab.goto((folder / "report.html").as_uri())

    def check(self):
        assert self.told == []
        assert {url.partition(":")[0] for url in self.asked} <= {"file", "data", "blob"}


@pytest.fixture(scope="module")
def shared(chromium, page, tmp_path_factory):
    opened = Opened(chromium, page, tmp_path_factory.mktemp("page"))
    yield opened
    opened.tab.close()


@pytest.fixture
def tab(shared):
    """The sweep's page; whatever is done to it, no error is told, and nothing is asked of anybody else."""
    yield shared.tab
    shared.check()


@pytest.fixture
def opened(chromium, tmp_path):
    """Opens another page, with the same promise."""
    pages = []

    def open_page(page):
        pages.append(Opened(chromium, page, tmp_path))
        return pages[-1].tab

    yield open_page
    for one in pages:
        one.tab.close()
        one.check()


def see_all(tab):
    for place in tab.query_selector_all(".plot"):
        place.scroll_into_view_if_needed()
        tab.wait_for_function("place => place.classList.contains('js-plotly-plot') || "
                              "document.getElementById(place.id + '-says').textContent", arg=place)


def test_it_opens_from_disk_with_every_picture_drawn_and_described(tab):
    see_all(tab)
    ids = [place.get_attribute("id") for place in tab.query_selector_all(".plot")]
    assert ids == ["front", "bits", "words", "budget", "curve", "xi", "run"]
    for name in ids[:-1]:
        tab.wait_for_selector(DRAWN.format(f"#{name}"))
        assert tab.get_attribute(f"#{name}", "role") == "img"
        assert f"{name}-says" in tab.get_attribute(f"#{name}", "aria-labelledby")
        assert re.search(r"\d", tab.text_content(f"#{name}-says"))
    for name in ids[1:-1]:
        tab.click(f"#{name}-table summary")
        tab.wait_for_selector(f"#{name}-table tbody tr", state="attached")  # filled once it is opened


def test_a_click_on_a_point_chooses_it(tab, page):
    tab.locator("#front").scroll_into_view_if_needed()
    tab.wait_for_selector(DRAWN.format("#front"))
    before = tab.text_content("#plan-hash")
    others = tab.locator("#front .scatterlayer .trace").nth(1).locator(".points path")
    spots = [others.nth(i).bounding_box() for i in range(others.count())]
    for spot in spots:  # the first may be the one that is chosen already
        tab.mouse.move(spot["x"] + spot["width"] / 2, spot["y"] + spot["height"] / 2)
        tab.wait_for_selector("#front .hoverlayer .hovertext", state="attached")
        tab.mouse.click(spot["x"] + spot["width"] / 2, spot["y"] + spot["height"] / 2)
        if tab.text_content("#plan-hash") != before:
            break
    after = tab.text_content("#plan-hash")
    assert after != before
    assert f"kerncast gen {page['name']}-{after[:12]}.toml" in tab.text_content("#command")


def test_the_keyboard_chooses_from_the_list_and_all_views_follow(tab, page):
    tab.select_option("#list-of", "all")
    assert tab.locator("#list tbody tr").count() == page["points"]["count"]
    tab.focus("#list input:checked")
    before = tab.text_content("#plan-hash"), tab.text_content("#plan"), tab.text_content("#said")
    last = tab.evaluate("document.querySelector('#list tbody tr:last-child').className")
    tab.keyboard.press("ArrowUp" if last else "ArrowDown")
    after = tab.text_content("#plan-hash"), tab.text_content("#plan"), tab.text_content("#said")
    assert all(a != b for a, b in zip(after, before, strict=True))
    assert tab.evaluate("document.activeElement === document.querySelector('#list input:checked')")


def test_the_spec_of_the_chosen_design_is_saved_as_the_command_names_it(tab, tmp_path):
    with tab.expect_download() as waiting:
        tab.click("#chosen button >> text=Save")
    waiting.value.save_as(tmp_path / "saved.toml")
    assert waiting.value.suggested_filename in tab.text_content("#command")
    assert Spec.load(tmp_path / "saved.toml").toeplitz.n == 64


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_the_contrast_of_wcag_aa(tab, scheme):
    tab.emulate_media(color_scheme=scheme)
    names = ["card", "back", "text", "quiet", "link", "good", "warn", "bad", "model", "front", "other"]
    colours = tab.evaluate("""names => { const style = getComputedStyle(document.documentElement);
        return Object.fromEntries(names.map(n => [n, style.getPropertyValue('--' + n).trim()])); }""", names)

    def luminance(colour):
        parts = [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    def contrast(one, other):
        dark, light = sorted([luminance(colours[one]), luminance(colours[other])])
        return (light + 0.05) / (dark + 0.05)

    for ground in ("card", "back"):
        assert min(contrast(name, ground) for name in ("text", "quiet", "link", "good", "warn", "bad")) >= 4.5
        assert min(contrast(name, ground) for name in ("model", "front", "other")) >= 3


def test_appearance_follows_the_system_and_the_switch(tab):
    tab.emulate_media(color_scheme="dark")
    ground = "getComputedStyle(document.body).backgroundColor"
    dark = tab.evaluate(ground)
    tab.select_option("#theme", "light")
    assert tab.evaluate(ground) != dark
    tab.select_option("#theme", "")
    assert tab.evaluate(ground) == dark


def test_a_hostile_text_does_nothing(opened, page):
    first, *others = page["axes"]
    inputs = page["points"]["inputs"]
    points = {**page["points"], "inputs": {HOSTILE: inputs[first], **{key: inputs[key] for key in others}}}
    tab = opened({**page, "name": HOSTILE, "summary": HOSTILE, "spec": HOSTILE, "axes": [HOSTILE, *others],
                  "points": points})
    see_all(tab)
    assert tab.text_content("h1") == HOSTILE
    assert tab.title().startswith(HOSTILE)
    assert tab.query_selector("img") is None


def test_the_embedded_design_runs_in_the_page_with_the_model_s_values(tab, page, tmp_path):
    (best,) = page["programs"]
    tab.select_option("#list-of", "all")
    while best not in tab.text_content("#plan-hash"):  # from another, the page leads to it
        tab.click("#run-columns button")
    tab.click("#run-samples")
    with tab.expect_download() as waiting:
        tab.click("#run-save")
    waiting.value.save_as(tmp_path / "answers.csv")
    spec = Spec.from_text(tab.text_content("#spec"))
    data = load_dataset(spec)
    plan = make_plan(spec, data.x_raw, data.y_raw)
    assert plan.hash == best
    model = open_model(plan)
    model.train(None, data.y_raw)
    expected = model.predict(data.x_raw)
    found = np.loadtxt(tmp_path / "answers.csv", delimiter=",", skiprows=1)
    np.testing.assert_array_equal(found[:, :2], np.column_stack([expected["status"], expected["f"]]))


def test_one_design_has_a_page_too(opened, tmp_path):
    (tmp_path / "ecg.toml").write_text(ECG)
    with pytest.MonkeyPatch.context() as patch:  # a machine without zig says how to get it
        patch.setattr(compilers.importlib.util, "find_spec", lambda name: None)
        page = gather_page(tmp_path / "ecg.toml")
    tab = opened(page)
    see_all(tab)
    assert "python -m pip install ziglang" in tab.text_content("#run-problems")
    assert tab.query_selector("#front") is None
    assert "kerncast gen ecg.toml" in tab.text_content("#command")
