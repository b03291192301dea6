"""The report in a real browser: nothing is loaded, nothing breaks out of its place, every control works by keyboard."""

import shutil
from pathlib import Path

import pytest

from analysis.cells import CellScores
from analysis.report.page import report_page
from analysis.report.records import Outcome, Report, ReportDataset, ReportFigure, ReportRun, ReportTree, Visit
from psi.corpus.records import Passage, Question
from psi.metrics import summarise

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip
EVIL = '</script><img src=x onerror="window.broken=1"> <!--DATA--> \u2028 \ud800 & Ψ'
# one pixel, grey
PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108000000003a7e9b550000000a49444154789c6368000000820081"
    "77cd72b60000000049454e44ae426082"
)


def dataset(name, count):
    passages = [Passage(f"p{at}", f"Title {at}" if at else EVIL, f"Text {at} {EVIL}") for at in range(8)]
    questions = [
        Question(
            f"q{at}",
            f"Question {at} of {name} {EVIL if at == 0 else ''}",
            (f"answer {at}",),
            (f"p{at % 8}", "lost"),
            1 + at % 2,
        )
        for at in range(count)
    ]
    return ReportDataset(name, 8, questions, passages)


def run(data, method, right, **more):
    outcomes = {}
    for at, question in enumerate(data.questions):
        good = float(at < right)
        bucket = "correct" if good else "reader_miss"
        ranking = [(f"p{at % 8}", 0.9), (f"p{(at + 1) % 8}", 0.5)]
        outcomes[question.id] = Outcome(
            ranking,
            f"answer {at}" if good else EVIL,
            "ok",
            None,
            bucket,
            {"recall@5": good / 2, "em": good},
            f"trace {EVIL}",
        )
    means = {name: summarise([each.metrics[name] for each in outcomes.values()]) for name in ("recall@5", "em")}
    scores = CellScores(dataset=data.name, method=method, summaries=means, n_questions=len(outcomes))
    stages = [
        {
            "stage": "rankings",
            "digest": "ab",
            "seconds": 1.0,
            "commit": None,
            "device": "cpu",
            "packages": {"numpy": "2"},
        }
    ]
    return ReportRun(
        scores, outcomes, f"python -m experiments.run method={method}", "runs", "0123", {"k": 10}, stages, **more
    )


def report():
    one, two = dataset("alpha", 130), dataset("beta", 3)
    # leaves 0-7; 8: 0-2, 9: 3-5, 10: 6-7; 11: the root
    tree = ReportTree(
        "alpha, second", [8, 8, 8, 9, 9, 9, 10, 10, 11, 11, 11, -1],
        [*(f"Title {at}" for at in range(8)), EVIL, "nine", "ten", "all"],
        True, [f"p{at}" for at in range(8)],
    )  # fmt: skip
    visits = [Visit(1, 3, [(8, 0.7), (9, 0.6)]), Visit(0, 6, [(0, 0.9), (3, 0.8)])]
    descents = {"q0": visits, "q7": visits}
    failed = ReportRun(
        CellScores(dataset="beta", method="third", status="failed", error="InputError"), {}, "", "runs", "77", {}, []
    )
    runs = [
        run(one, "first", 40),
        run(one, "second", 65, tree=0, beam=2, descents=descents),
        run(two, "first", 1),
        failed,
    ]
    figures = [ReportFigure(f"A figure {EVIL}", PNG, "grey")]
    return Report(f"Report {EVIL}", [one, two], runs, [tree], figures, ["A note."])


def test_equal_reports_are_equal_text():
    assert report_page(report()) == report_page(report())


@pytest.fixture(scope="module")
def browser():
    play = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("no Chromium on this machine")
    with play.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(report_page(report()), encoding="utf-8")
    return path.as_uri()


@pytest.fixture
def page(browser, address):
    context = browser.new_context(viewport={"width": 1300, "height": 900}, accept_downloads=True)
    page = context.new_page()
    trouble = []
    page.on("console", lambda message: trouble.append(message.text) if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: trouble.append(str(error)))
    page.on(
        "request",
        lambda request: (
            trouble.append(request.url) if not request.url.startswith(("file:", "data:", "blob:")) else None
        ),
    )
    page.goto(address)
    page.wait_for_selector("html[data-ready]")
    yield page
    assert trouble == []
    assert page.evaluate("window.broken") is None
    context.close()


def cells(page, view, column):
    return page.eval_on_selector_all(
        f"#view-{view} table:first-of-type tbody tr", f"rows => rows.map(row => row.children[{column}].textContent)"
    )


def focused(page):
    return page.evaluate("document.activeElement.textContent")


def tab_to(page, text):
    for _ in range(80):
        page.keyboard.press("Tab")
        if text in focused(page):
            return
    raise AssertionError(f"the keyboard does not reach {text!r}")


def test_results_are_sorted_and_filtered_by_keyboard(page):
    assert cells(page, "results", 1) == ["first", "second", "first", "third"]
    assert [row.partition(" ")[0] for row in cells(page, "results", 2)] == ["15.4", "25.0", "16.7", "–"]
    tab_to(page, "EM")
    page.keyboard.press("Enter")
    assert [row.partition(" ")[0] for row in cells(page, "results", 3)] == ["50.0", "33.3", "30.8", "–"]
    assert page.get_attribute("#view-results th[aria-sort=descending]", "aria-sort") == "descending"
    page.get_by_label("Name contains").fill("beta")
    page.wait_for_selector("text=2 of 4 runs")
    assert "failed: InputError" in page.inner_text("#view-results tbody")
    with page.expect_download() as saved:
        page.click("text=Save as CSV")
    assert Path(saved.value.path()).read_text().startswith("Dataset,Method,")


def test_tabs_follow_the_arrow_keys_and_have_addresses(page):
    page.focus("#tab-results")
    page.keyboard.press("ArrowRight")
    page.wait_for_selector("#view-questions table")
    assert page.get_attribute("#tab-questions", "aria-selected") == "true"
    assert page.url.endswith("#questions")
    page.keyboard.press("End")
    page.wait_for_selector("#view-reproduce h2")
    page.go_back()
    page.wait_for_selector("#view-questions:not([hidden])")


def test_a_question_shows_what_was_retrieved_and_answered_as_text(page):
    page.click("#tab-questions")
    page.wait_for_selector("#view-questions table")
    assert "1–100 of 130" in page.inner_text("#view-questions")
    page.click("#view-questions >> text=Next 100")
    assert "101–130 of 130" in page.inner_text("#view-questions")
    page.click("#view-questions >> text=Previous 100")
    page.click("#view-questions tbody button >> nth=0")
    detail = page.inner_text("#view-questions .detail")
    assert "<img src=x" in detail and "answer 0" in detail and "Gold that is no passage" in detail
    assert page.locator("#view-questions .detail details.gold").count() == 1
    assert page.evaluate("document.activeElement.className") == "detail"
    page.get_by_label("What became of it").select_option("reader_miss")
    assert "90 of 130 questions" in page.inner_text("#view-questions")


def test_two_runs_are_compared_question_by_question(page):
    page.click("#tab-compare")
    page.wait_for_selector("#view-compare table")
    page.get_by_label("Metric", exact=True).select_option("em")
    page.wait_for_selector("text=EM: B is better on 25")
    assert "A on 0, equal on 105 of 130 questions; B − A = +19.23 points" in page.inner_text("#view-compare")
    assert set(cells(page, "compare", 3)[:25]) == {"+100"} and cells(page, "compare", 3)[25] == "0"
    page.click("#view-compare tbody button >> nth=0")
    assert page.locator("#view-compare .pair > div").count() == 2
    page.click("text=Swap A and B")
    page.wait_for_selector("text=EM: B is better on 0, A on 25")


def test_a_number_of_failures_leads_to_its_questions(page):
    page.click("#tab-failures")
    page.wait_for_selector("#view-failures table")
    page.click("#view-failures button:text-is('65') >> nth=1")
    page.wait_for_selector("#view-questions:not([hidden])")
    assert "65 of 130 questions of alpha: second" in page.inner_text("#view-questions")


def test_the_tree_is_walked_by_keyboard(page):
    page.click("#tab-trees")
    page.wait_for_selector("#view-trees canvas")
    page.focus(".tree")
    for key in ("ArrowDown", "ArrowRight", "ArrowDown", "Enter"):
        page.keyboard.press(key)
    assert page.inner_text("#view-trees .detail h3 >> nth=0") == "Title 0"
    item = page.locator(f"#{page.get_attribute('.tree', 'aria-activedescendant')}")
    assert item.get_attribute("aria-level") == "3" and item.get_attribute("aria-posinset") == "1"
    page.keyboard.press("ArrowLeft")
    item = page.locator(f"#{page.get_attribute('.tree', 'aria-activedescendant')}")
    assert item.get_attribute("aria-expanded") == "true"
    page.keyboard.press("ArrowLeft")
    assert item.get_attribute("aria-expanded") == "false"
    page.get_by_label("Nodes whose text contains").fill("NINE")
    page.wait_for_selector("text=1 nodes, higher ones first")
    page.click("#view-trees button:has-text('height 1: nine')")
    assert "Abstract: nine" in page.inner_text("#view-trees .detail")


def test_a_search_is_replayed_down_to_where_the_gold_was_lost(page):
    page.click("#tab-questions")
    page.wait_for_selector("#view-questions table")
    page.get_by_label("Run", exact=True).select_option(label="alpha: second")
    page.wait_for_selector("text=questions of alpha: second")
    page.click("#view-questions tbody button:has-text('Question 7 of') >> nth=0")
    page.click("text=Replay the descent in the tree")
    page.wait_for_selector("text=Height 1: 3 nodes compared, 2 kept.")
    assert "left the beam at height 1" in page.inner_text("#view-trees")
    page.click("text=Layer below")
    page.wait_for_selector("text=Height 0: 6 nodes compared, 2 kept.")
    page.get_by_label("Question", exact=True).select_option(index=0)
    page.wait_for_selector("text=was reached")
    page.click("text=End the replay")
    assert page.locator(".flag.kept").count() == 0


def test_commands_and_settings_are_there(page):
    page.click("#tab-reproduce")
    text = page.inner_text("#view-reproduce")
    assert "python -m experiments.run method=first store=runs" in text and "numpy 2" in text and '"k": 10' in text


def test_it_prints_results_and_figures_in_light(page):
    page.click("#theme")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.emulate_media(media="print")
    assert page.is_visible("#view-results table") and page.is_visible("#view-figures img")
    assert not page.is_visible("#tabs") and not page.is_visible("#theme")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)" != dark


@pytest.mark.parametrize(
    "place",
    ["questions?run=99&q=9999", "questions?run=x&bucket=none", "compare?a=-1&b=1.5&metric=none", "compare?a=2&b=2",
     "trees?tree=7&node=-3&q=x&run=-1", "reproduce?run=-4", "nothing?x=%E0%A4%A"],
)  # fmt: skip
def test_an_address_that_means_nothing_shows_something(page, place):
    page.evaluate("place => { location.hash = place }", place)
    page.wait_for_timeout(150)
    assert page.locator("[role=tabpanel]:not([hidden]) h2").count() == 1


def test_every_control_has_a_name(page):
    for view in ("results", "questions", "compare", "failures", "trees", "figures", "reproduce"):
        page.click(f"#tab-{view}")
        page.wait_for_timeout(100)
        nameless = page.evaluate(
            """view => [...document.querySelectorAll(`#view-${view} :is(button, input, select, canvas, img, [role=tree])`)]
              .filter(each => !(each.textContent.trim() || each.labels?.length || each.ariaLabel || each.alt))
              .map(each => each.outerHTML)""",
            view,
        )
        assert nameless == []


def test_a_reader_without_a_program_sees_the_figures():
    text = report_page(report())
    assert "<noscript>" in text and 'alt="grey"' in text
    assert "<img src=x" not in text
