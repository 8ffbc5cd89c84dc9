"""The HTML report in a real browser: accessible in light and dark, and no wider than a phone.

Needs a Chromium on this machine and the packages of the dependency group `browser`; skipped, with
the reason, where either is missing.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from worker_conformance.judge.verdicts import CheckResult, RunResult, Verdict
from worker_conformance.report import html

HOW = "is missing: the group 'browser' of pyproject.toml has it"
sync_api = pytest.importorskip("playwright.sync_api", reason=f"playwright {HOW}")
axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason=f"axe-core {HOW}")

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
FOUND = os.environ.get("WORKER_CONFORMANCE_CHROMIUM") or next(
    filter(None, map(shutil.which, NAMES)), ""
)

pytestmark = pytest.mark.skipif(
    not FOUND, reason="no Chromium found; WORKER_CONFORMANCE_CHROMIUM names one"
)

PHONE = {"width": 390, "height": 844}
DESKTOP = {"width": 1280, "height": 900}
RUNS = ["failing", "partial", "passing", "drawn"]
GRAVE = {"serious", "critical"}

Page = Any  # playwright is not a dependency of the suite, so nothing here can name its types
Opens = Callable[..., Page]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with sync_api.sync_playwright() as playwright:
        # A browser in a container has no sandbox of its own; what it opens is our own file.
        opened = playwright.chromium.launch(executable_path=FOUND, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture
def opens(browser: Any, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Opens]:
    """Opens the report of a run, by the fixture's name, and every check in it."""
    contexts = []

    def open_report(name: str, *, every_check: bool = True, **settings: object) -> Page:
        result: RunResult = request.getfixturevalue(name)
        html.write(result, tmp_path / "report.html")
        context = browser.new_context(**settings)
        contexts.append(context)
        page = context.new_page()
        page.troubles = []
        page.on("console", lambda message: page.troubles.append(message.text))
        page.on("pageerror", lambda error: page.troubles.append(str(error)))
        page.goto((tmp_path / "report.html").as_uri())
        if every_check:
            page.eval_on_selector_all("details", "all => all.forEach(one => { one.open = true })")
        return page

    yield open_report
    for context in contexts:
        context.close()


@pytest.mark.parametrize("name", RUNS)
def test_axe_finds_nothing_grave_in_light_and_dark(opens: Opens, name: str) -> None:
    page = opens(name, viewport=DESKTOP)
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        found = axe.Axe().run(page).response["violations"]
        grave = [
            (one["id"], one["help"], [node["html"] for node in one["nodes"][:3]])
            for one in found
            if one["impact"] in GRAVE
        ]
        assert grave == []


@pytest.mark.parametrize("name", RUNS)
def test_nothing_scrolls_sideways_on_a_phone(opens: Opens, name: str) -> None:
    page = opens(name, viewport=PHONE, device_scale_factor=2)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


@pytest.mark.parametrize("name", RUNS)
def test_the_browser_has_nothing_to_complain_about(opens: Opens, name: str) -> None:
    assert opens(name, viewport=DESKTOP).troubles == []


def test_everything_can_be_read_without_scripts(opens: Opens) -> None:
    page = opens("drawn", every_check=False, java_script_enabled=False)
    assert page.locator("#REPLAY-0007 pre.again").first.is_visible()
    assert page.locator("#REPLAY-0007 .timeline").is_visible()
    assert page.locator(".filters").is_hidden()
    assert page.locator("button").first.is_hidden()


def test_the_keyboard_reaches_the_checks_first_and_shows_where_it_is(opens: Opens) -> None:
    page = opens("failing", every_check=False, viewport=DESKTOP)
    page.keyboard.press("Tab")
    skip = page.locator(".skip")
    assert skip.evaluate("link => link === document.activeElement")
    assert skip.bounding_box()["x"] >= 0
    assert skip.evaluate("link => getComputedStyle(link).outlineStyle") == "solid"
    page.keyboard.press("Enter")
    assert page.evaluate("location.hash") == "#checks"


def test_the_command_is_copied_with_a_click(opens: Opens) -> None:
    page = opens("drawn", every_check=False, permissions=["clipboard-read", "clipboard-write"])
    page.locator("#REPLAY-0007 .copy").first.click()
    page.get_by_text("Copied").wait_for()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied == page.locator("#REPLAY-0007 pre.again").first.inner_text()


def test_words_and_verdicts_filter_the_checks(opens: Opens) -> None:
    page = opens("failing", every_check=False)
    page.fill("#filter-text", "cursor gap")
    assert page.locator(".check:visible").count() == 1
    assert page.locator("#shown").inner_text().startswith("1 of ")
    page.fill("#filter-text", "")
    page.uncheck('.filter-verdict[value="fail"]')
    assert page.locator("#REPLAY-0007").is_hidden()


def test_a_link_to_a_check_opens_it(opens: Opens) -> None:
    page = opens("passing", every_check=False)
    page.evaluate("location.hash = 'SCHEDULING-0002'")
    page.locator("#SCHEDULING-0002 pre.again").wait_for()


@pytest.mark.parametrize("scripts", [True, False])
def test_a_long_timeline_is_shown_from_its_end(opens: Opens, *, scripts: bool) -> None:
    page = opens("drawn", every_check=False, viewport=PHONE, java_script_enabled=scripts)
    lane = page.locator("#REPLAY-0007 .timeline .scroll").bounding_box()
    end = page.locator("#REPLAY-0007 .lines .violation").bounding_box()
    assert lane["x"] < end["x"] <= lane["x"] + lane["width"]


def test_paper_is_white_and_shows_what_is_folded_in_open_checks(opens: Opens) -> None:
    page = opens("drawn", every_check=False, color_scheme="dark")
    page.emulate_media(media="print")
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert background == "rgb(255, 255, 255)"
    assert page.locator("#REPLAY-0007 .vector").is_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.fixture
def many(a_check: Callable[..., CheckResult], a_run: Callable[..., RunResult]) -> RunResult:
    return a_run(*(a_check("replay", number, Verdict.FAIL) for number in range(1, 21)))


def test_paper_names_all_that_failed_however_many(opens: Opens) -> None:
    page = opens("many", every_check=False)
    assert not page.locator(".jumps").is_visible()
    page.emulate_media(media="print")
    assert page.locator(".jumps").is_visible()
