"""The site in a real browser: opened, sorted, clicked and read, with no network to reach."""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from site_material import HOSTILE, NAME, ROWS, hostile_site

from tests.shared import not_checked

pytestmark = pytest.mark.slow
BROWSER = shutil.which("chromium") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND",
)  # fmt: skip
PHONE, DESK = (390, 800), (1280, 900)


def _refuse_absent_browser() -> None:
    """Say what was not checked; in CI that is a failure."""
    needs = {
        "selenium (pip)": importlib.util.find_spec("selenium"),
        "chromium (apt)": BROWSER,
        "chromium-driver (apt)": DRIVER,
    }
    missing = [name for name, found in needs.items() if not found]
    if missing:
        not_checked(f"the site in a browser not checked: {', '.join(missing)} not here")


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    _refuse_absent_browser()
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    options.binary_location = BROWSER or ""
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    found = webdriver.Chrome(options=options, service=Service(DRIVER))
    yield found
    found.quit()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    hostile_site(folder)
    return folder / "site"


class Reader:
    """A person with the site before them."""

    def __init__(self, driver: Any, folder: Path) -> None:
        self.driver, self.folder = driver, folder

    def open(self, page: str = f"tables/{NAME}.html", size: tuple[int, int] = DESK) -> None:
        self.screen(*size)
        from selenium.webdriver.support.ui import WebDriverWait

        self.driver.get(f"file://{self.folder}/{quote(page)}")
        is_there = "return document.readyState === 'complete' && document.body !== null"
        WebDriverWait(self.driver, 20).until(lambda _: self.js(is_there))

    def screen(self, width: int, height: int) -> None:
        screen = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)

    def media(self, scheme: str = "light", kind: str = "") -> None:
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        told = {"media": kind, "features": features}
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", told)

    def js(self, script: str, *given: Any) -> Any:
        return self.driver.execute_script(script, *given)

    def all(self, selector: str) -> list[Any]:
        return list(self.driver.find_elements("css selector", selector))

    def visible(self, selector: str) -> list[Any]:
        """Those that are drawn, wherever the page is scrolled to."""
        script = (
            "return [...document.querySelectorAll(arguments[0])]"
            ".filter(e => e.getClientRects().length)"
        )
        return list(self.js(script, selector))

    def one(self, selector: str) -> Any:
        return self.driver.find_element("css selector", selector)

    def wait(self, selector: str) -> list[Any]:
        """Those that are shown, once there are any."""
        from selenium.webdriver.support.ui import WebDriverWait

        return list(WebDriverWait(self.driver, 20).until(lambda _: self.visible(selector)))

    def head(self, table: str, name: str) -> Any:
        heads = self.all(f"#{table} thead th")
        return next(head for head in heads if head.text.strip(" ↕↑↓") == name)

    def column(self, table: str, name: str) -> list[str]:
        place = self.all(f"#{table} thead th").index(self.head(table, name)) + 1
        return [cell.text for cell in self.all(f"#{table} tbody tr > :nth-child({place})")]

    def luminance(self) -> float:
        colour = self.js("return getComputedStyle(document.body).backgroundColor")
        return sum(map(float, re.findall(r"[\d.]+", colour)[:3])) / 765


@pytest.fixture
def reader(driver: Any, folder: Path) -> Iterator[Reader]:
    driver.get_log("browser")
    found = Reader(driver, folder)
    found.media()
    found.open("index.html")
    found.js("localStorage.clear()")
    yield found
    assert driver.get_log("browser") == []


def test_from_the_index_to_a_table_and_back(reader: Reader) -> None:
    reader.one("section:has(> #tables) tbody a").click()
    assert reader.one("h1").text == "<b>Small</b> & 'simple'"
    assert reader.driver.title == NAME
    reader.one(".top a").click()
    assert reader.driver.title == "Results"


def test_the_first_page_answers_which_numbers_stand_and_what_the_words_mean(
    reader: Reader,
) -> None:
    answer = reader.one(".answer")
    assert answer.is_displayed()
    assert re.match(r"The papers print \d+ numbers in these tables", answer.text)
    assert answer.location["y"] < 800  # on the first screen of a desk
    reader.one("a[href='#verdicts']").click()
    assert reader.driver.current_url.endswith("#verdicts")
    assert reader.one("#verdicts").is_displayed()


def test_nothing_is_loaded_from_elsewhere(reader: Reader) -> None:
    reader.driver.get_log("performance")
    for page in PAGES:
        reader.open(page)
    reader.one("#search input").send_keys("FOGD")
    reader.wait("#search li a")
    told = [json.loads(line["message"])["message"] for line in reader.driver.get_log("performance")]
    asked = [
        one["params"]["request"]["url"]
        for one in told
        if one["method"] == "Network.requestWillBeSent"
    ]
    assert {url.rpartition("/")[2] for url in asked} >= {"site.css", "site.js", "search.js"}
    assert {url.partition(":")[0] for url in asked} <= {"file", "data"}


def test_the_link_to_the_outcomes_leads_to_them(reader: Reader) -> None:
    reader.open()
    path = reader.js("return decodeURIComponent(new URL(arguments[0].href).pathname)",
                     reader.one("#measured ~ ul a"))  # fmt: skip
    first = Path(path).read_text(encoding="utf-8").splitlines()[0]
    assert json.loads(first)["okbench"] == "results"


def test_hostile_names_are_text_and_nothing_runs(reader: Reader) -> None:
    reader.open()
    assert reader.js("return document.scripts.length") == 1
    assert reader.all("main img, main b > i") == []
    assert [one.text for one in reader.all("#learners li")] == ["Perceptron", HOSTILE, "FOGD"]
    assert ROWS in [one.text.removesuffix("\nEnlarge") for one in reader.all("figcaption")]


@pytest.mark.parametrize("page", ["index.html", f"tables/{NAME}.html"], ids=["index", "table"])
def test_markup_that_was_smuggled_into_a_page_neither_runs_nor_loads(
    reader: Reader, folder: Path, page: str
) -> None:
    whole = (folder / page).read_text(encoding="utf-8")
    smuggled = (
        "<script>window.ran = 1</script><img src=x onerror='window.ran = 2'>"
        "<svg onload='window.ran = 3'></svg><style>body { background: red }</style>"
        "<script src='data:text/javascript,window.ran = 4'></script>"
        "<iframe src='data:text/html,x'></iframe><b style='color: red'>x</b>"
        "<base href='https://example.org/'><script src='http://127.0.0.1:9/x.js'></script>"
    )
    copy = folder / f"{page.rpartition('/')[0]}/smuggled.html".lstrip("/")
    for text in (smuggled, ""):  # without it the copy is the page, which shows that nothing else is
        copy.write_text(whole.replace("<main", f"{text}<main"), encoding="utf-8")
        reader.open(str(copy.relative_to(folder)))
        assert reader.js("return window.ran") is None
        assert reader.js("return document.baseURI").startswith("file:")
        background = reader.js("return getComputedStyle(document.body).backgroundColor")
        assert background == "rgb(255, 255, 255)"
        assert reader.one("#theme").is_displayed()  # the page's own script runs
        logged = [line["message"] for line in reader.driver.get_log("browser")]
        assert all("Content Security Policy" in line for line in logged)
        assert len(logged) >= 7 if text else logged == []
    copy.unlink()


def numbers(cells: list[str]) -> list[float]:
    return [float(cell.split()[0]) for cell in cells if cell != "—"]


def test_a_click_on_a_heading_sorts_up_down_and_back(reader: Reader) -> None:
    reader.open()
    before = reader.column("cell-table", "okbench")
    head = reader.head("cell-table", "okbench")
    button = head.find_element("css selector", "button")
    button.click()
    assert head.get_attribute("aria-sort") == "ascending"
    up = reader.column("cell-table", "okbench")
    assert numbers(up) == sorted(numbers(before))
    assert up[4:] == ["—", "—"]
    button.click()
    assert head.get_attribute("aria-sort") == "descending"
    down = reader.column("cell-table", "okbench")
    assert numbers(down) == sorted(numbers(before), reverse=True)
    assert down[4:] == ["—", "—"]
    button.click()
    assert head.get_attribute("aria-sort") is None
    assert reader.column("cell-table", "okbench") == before


def test_one_column_at_a_time_is_sorted_and_names_by_alphabet(reader: Reader) -> None:
    reader.open()
    for name in ("outcome", "learner"):
        reader.head("cell-table", name).find_element("css selector", "button").click()
    assert len(reader.all("#cell-table [aria-sort]")) == 1
    names = reader.column("cell-table", "learner")
    assert names == [HOSTILE, HOSTILE, "FOGD", "FOGD", "Perceptron", "Perceptron"]


def test_a_table_is_sorted_by_the_keyboard_alone(reader: Reader) -> None:
    from selenium.webdriver.common.keys import Keys

    reader.open()
    frame = reader.js("const f = document.querySelector('#cell-table').parentElement;"
                      "f.focus(); return f")  # fmt: skip
    frame.send_keys(Keys.TAB)
    focused = reader.driver.switch_to.active_element
    assert focused.tag_name == "button"
    focused.send_keys(Keys.ENTER)
    assert reader.head("cell-table", "dataset").get_attribute("aria-sort") == "ascending"
    reader.driver.switch_to.active_element.send_keys(Keys.SPACE)
    assert reader.head("cell-table", "dataset").get_attribute("aria-sort") == "descending"


def test_a_learner_is_hidden_everywhere_and_comes_back(reader: Reader) -> None:
    reader.open()

    def shown() -> tuple[int, int]:
        rows, lines = reader.visible("#cell-table tbody tr"), reader.visible(".chart path.line")
        return len(rows), len(lines)

    before = shown()
    button = reader.all("#learners button")[0]
    button.click()
    assert button.get_attribute("aria-pressed") == "false"
    rows, lines = shown()
    assert (rows, lines) == (before[0] - 2, before[1] - 2)
    first = reader.visible("#cell-table tbody tr")[0]
    assert "first" in (first.get_attribute("class") or "")  # so that its dataset can be read
    button.click()
    assert shown() == before


def test_the_theme_follows_the_reader_and_the_switch_is_remembered(reader: Reader) -> None:
    reader.media("dark")
    reader.open()
    assert reader.luminance() < 0.2
    reader.one("#theme").click()
    assert reader.one("#theme").text == "Theme: light"
    assert reader.luminance() > 0.8
    reader.open("index.html")
    assert reader.luminance() > 0.8
    reader.media("light")
    reader.one("#theme").click()
    assert reader.one("#theme").text == "Theme: dark"
    assert reader.luminance() < 0.2


PAGES = (
    "index.html", f"tables/{NAME}.html", f"trials/{NAME}.1.html", "learners.html", "datasets.html",
    "claims.html", "ranks.html", "memory.html", "learners/FOGD.html", "datasets/one.html",
)  # fmt: skip


@pytest.mark.parametrize("page", PAGES)
def test_on_a_telephone_tables_scroll_and_the_page_does_not(reader: Reader, page: str) -> None:
    reader.open(page, PHONE)
    assert reader.js("return document.documentElement.scrollWidth") <= PHONE[0]
    for inner, outer in reader.js(
        "return [...document.querySelectorAll('.frame')].map(f => [f.scrollWidth, f.clientWidth])"
    ):
        assert outer <= PHONE[0]
        assert inner >= outer


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("page", PAGES)
def test_every_page_has_the_colours_of_the_reader(reader: Reader, page: str, scheme: str) -> None:
    reader.media(scheme)
    reader.open(page)
    assert (reader.luminance() > 0.5) == (scheme == "light")


def test_on_a_telephone_our_number_and_its_outcome_are_on_the_screen(reader: Reader) -> None:
    """Without scrolling to the side, and with the dataset above the name of the learner."""
    reader.open(size=PHONE)
    heads = [head.text.strip(" ↕↑↓") for head in reader.visible("#cell-table thead th")]
    assert heads[:3] == ["learner", "okbench", "outcome"]
    right = reader.js(
        "return document.querySelector('#cell-table td .chip').getBoundingClientRect().right"
    )
    assert right <= PHONE[0]
    above = reader.js(
        "return getComputedStyle(document.querySelector('#cell-table tbody th [data-above]'),"
        " '::before').content"
    )
    assert above == '"one"'


def test_heads_and_first_columns_stay_in_sight(reader: Reader) -> None:
    reader.open(size=(390, 200))
    corner = reader.js("""
        const frame = document.querySelector("#cell-table").parentElement;
        frame.scrollTo(200, 150);
        const head = frame.querySelector("thead th:nth-child(3)").getBoundingClientRect();
        const name = frame.querySelector("tbody tr:last-child th").getBoundingClientRect();
        const outer = frame.getBoundingClientRect();
        return [frame.scrollLeft, frame.scrollTop, head.top - outer.top, name.left - outer.left];
    """)
    assert corner[0] > 0
    assert corner[1] > 0
    assert corner[2] == pytest.approx(0, abs=1)
    assert corner[3] == pytest.approx(0, abs=1)


def test_a_learner_and_a_dataset_are_found_by_name(reader: Reader) -> None:
    from selenium.webdriver.common.keys import Keys

    reader.open()
    assert reader.js("return window.okbenchList") is None  # the list is loaded at first use
    field = reader.one("#search input")
    field.send_keys("fogd")
    found = reader.wait("#search li a")
    assert found[0].text.splitlines() == ["FOGD", "learner"]
    field.send_keys(" one")
    assert reader.wait("#search li a")[0].text.splitlines()[0] == "FOGD on one"
    field.clear()
    field.send_keys("<img src=x")
    assert reader.wait("#search li a")[0].text.splitlines() == [ROWS, "dataset"]
    field.clear()
    field.send_keys("nobody")
    assert reader.wait("#search .none")[0].is_displayed()
    field.clear()
    field.send_keys("fogd")
    reader.wait("#search li a")
    field.send_keys(Keys.ENTER)
    assert reader.one("h1").text == "FOGD"
    reader.one("#search input").send_keys("one")
    reader.wait("#search li a")
    reader.one("#search input").send_keys(Keys.ARROW_DOWN)
    reader.driver.switch_to.active_element.send_keys(Keys.ENTER)
    assert reader.one("h1").text == "one"


def test_a_number_leads_to_its_trials_and_their_command(reader: Reader) -> None:
    reader.open()
    reader.one("#glance-table a.trials").click()
    place = reader.driver.current_url.rpartition("#")[2]
    section = reader.one(f"section:has(> #{place})")
    assert section.find_element("css selector", "h2").text == "Perceptron on one"
    assert len(section.find_elements("css selector", "tbody tr")) == 6


def test_a_point_tells_its_numbers_to_the_pointer(reader: Reader) -> None:
    from selenium.webdriver.common.action_chains import ActionChains

    reader.open()
    mark = reader.visible("[aria-labelledby^=frontier0] .point .mark")[0]
    reader.js("arguments[0].scrollIntoView({block: 'center'})", mark)
    ActionChains(reader.driver).move_to_element(mark).perform()
    tip = reader.one("#tip")
    assert tip.is_displayed()
    assert re.fullmatch(r"Perceptron: [\d.]+ ± [\d.]+, [\d.]+ s", tip.text)
    ActionChains(reader.driver).move_to_element(reader.one("h1")).perform()
    assert not tip.is_displayed()


def test_a_chosen_part_of_a_chart_fills_it_and_all_of_it_comes_back(reader: Reader) -> None:
    from selenium.webdriver.common.action_chains import ActionChains

    reader.open()
    figure = reader.one("#convergence ~ .charts figure")
    plot = figure.find_element("css selector", ".plot .surface")
    reader.js("arguments[0].scrollIntoView({block: 'center'})", plot)
    line = figure.find_element("css selector", ".line")
    before = line.get_attribute("d")
    names = "return [...arguments[0].querySelectorAll('.x-tick')]" \
            ".filter(t => t.getClientRects().length).map(t => t.textContent)"  # fmt: skip
    ticks = reader.js(names, figure)
    ActionChains(reader.driver).move_to_element_with_offset(plot, -40, -30).click_and_hold() \
        .move_by_offset(80, 60).release().perform()  # fmt: skip
    assert "zoomed" in (figure.get_attribute("class") or "")
    assert line.get_attribute("d") != before
    nearer = reader.js(names, figure)
    assert len(nearer) >= 2
    assert nearer != ticks
    figure.find_element("css selector", ".whole").click()
    assert line.get_attribute("d") == before
    assert reader.js(names, figure) == ticks
    figure.find_element("css selector", ".larger").click()
    assert figure.rect["width"] > 900


def test_a_learner_has_one_colour_on_all_pages(reader: Reader) -> None:
    colours = set()
    for page in PAGES[1:2] + PAGES[3:4] + PAGES[8:]:
        reader.open(page)
        script = "return [...document.querySelectorAll('.sample')].filter(s =>" \
                 " s.parentElement.textContent.trim() === 'FOGD' ||" \
                 " s.closest('tr')?.cells[0].textContent.trim() === 'FOGD')" \
                 ".map(s => getComputedStyle(s.querySelector('.line')).stroke)"  # fmt: skip
        found = reader.js(script)
        assert found, page
        colours |= set(found)
    assert len(colours) == 1


def test_paper_is_white_and_has_no_switches(reader: Reader) -> None:
    reader.open()
    reader.js("localStorage.setItem('okbench-theme', 'dark')")
    reader.open()
    reader.media(kind="print")
    assert reader.luminance() == 1
    assert not reader.one("#theme").is_displayed()
    assert reader.one("#cell-table .chip").text in ("= as printed", "≈ within")
    assert reader.driver.execute_cdp_cmd("Page.printToPDF", {})["data"]


CONTRAST = """
const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
function channels(colour, under) {
  canvas.fillStyle = under; canvas.fillRect(0, 0, 1, 1);
  canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
  return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3).map((value) => value / 255);
}
function light(colour, under) {
  const [r, g, b] = channels(colour, under).map((v) =>
    v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
const paper = getComputedStyle(document.body).backgroundColor;
return [...document.querySelectorAll(arguments[0])].map((one) => {
  const style = getComputedStyle(one);
  const ink = light(one.matches("text") ? style.fill : style.color, paper);
  const under = light(getComputedStyle(one.parentElement).backgroundColor, paper);
  return [one.textContent, (Math.max(ink, under) + 0.05) / (Math.min(ink, under) + 0.05)];
});
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_words_and_signs_stand_out_from_the_paper(reader: Reader, scheme: str) -> None:
    reader.media(scheme)
    reader.open()
    told = reader.js(CONTRAST, "p, h1, a, caption span, .notes li, .sign, .why, summary, text")
    assert len(told) > 50
    assert {words: ratio for words, ratio in told if ratio < 4.5} == {}


def test_without_javascript_all_can_be_read(reader: Reader) -> None:
    reader.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        reader.open()
        page = reader.driver.execute_cdp_cmd("Page.captureSnapshot", {})["data"]
        buttons = reader.all("thead button, #learners button")
        switch = reader.one("#theme").get_attribute("hidden")
    finally:
        reader.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
    assert "as printed" in page
    assert buttons == []
    assert switch is not None
