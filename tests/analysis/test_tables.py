"""Results tables: what is best, what failed, and the four ways to show them."""

import csv
import io
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from omegaconf import OmegaConf
from rich.console import Console

from analysis.cells import CellScores
from analysis.published import Published, PublishedRow, read_published
from analysis.renderers import to_console, to_csv, to_html, to_latex, to_markdown
from analysis.tables import Comparison, Table, interval_text, results_table, rows_table
from psi.errors import ConfigError, InputError
from psi.metrics import Summary


def cell(method: str, mean: float | None = None, *, n: int = 10, **more: Any) -> CellScores:
    summaries = {} if mean is None else {"recall@5": Summary(mean, mean - 0.02, mean + 0.02, n, 1, 2)}
    return CellScores(**{"dataset": "toy", "method": method, "n_questions": 13, "summaries": summaries, **more})


def column(table: Table, label: str) -> list[tuple[str, str]]:
    at = [each.label for each in table.columns].index(label)
    return [(row[at].text, row[at].mark) for row in table.rows]


def csv_rows(table: Table) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(to_csv(table))))


def console_text(table: Table, width: int = 200) -> str:
    console = Console(width=width, file=io.StringIO(), record=True)
    console.print(to_console(table))
    return console.export_text()


def test_best_and_second_share_ties_as_displayed() -> None:
    table = results_table([cell("a", 0.5001), cell("b", 0.4999), cell("c", 0.4), cell("d", 0.3)], ["recall@5"])
    assert [mark for _, mark in column(table, "Recall@5")] == ["best", "best", "second", ""]


def test_only_equal_numbers_of_questions_compete() -> None:
    table = results_table([cell("a", 0.9, n=3), cell("b", 0.5), cell("c", 0.4)], ["recall@5"])
    assert [mark for _, mark in column(table, "Recall@5")] == ["", "best", "second"]


def test_unfinished_runs_do_not_compete() -> None:
    table = results_table([cell("a", 0.9, status="partial"), cell("b", 0.5), cell("c", 0.4)], ["recall@5"])
    assert [mark for _, mark in column(table, "Recall@5")] == ["", "best", "second"]
    assert column(table, "Status")[0] == ("partial", "failed")


def test_one_row_has_no_rival_and_datasets_do_not_compete() -> None:
    table = results_table([cell("a", 0.9), cell("a", 0.5, dataset="other")], ["recall@5"])
    assert [mark for _, mark in column(table, "Recall@5")] == ["", ""]


def test_failed_and_missing_runs_are_named_everywhere() -> None:
    cells = [cell("a", 0.5), cell("b", status="failed", error="ModelError"), cell("c", status="missing")]
    table = results_table(cells, ["recall@5"])
    assert [text for text, _ in column(table, "Recall@5")] == ["50.0 ±2.0", "failed", "missing"]
    assert [text for text, _ in column(table, "Rankings n/f/x")] == ["10/1/2", "0 of 13", "0 of 13"]
    for text in (console_text(table), to_markdown(table), to_latex(table), to_csv(table)):
        assert "failed: ModelError" in text
    assert csv_rows(table)[1]["recall@5"] == ""


def test_scores_of_a_failed_run_are_not_shown() -> None:
    table = results_table([cell("a", 0.9, status="failed", error="OSError")], ["recall@5"])
    assert column(table, "Recall@5") == [("failed", "failed")]


def test_a_metric_that_was_not_computed_is_a_dash_not_zero() -> None:
    table = results_table([cell("a", 0.5)], ["recall@5", "em"])
    assert column(table, "EM") == [("–", "")]
    assert interval_text(Summary(None, None, None, 0, 3)) == "–"
    assert interval_text(Summary(0.5, None, None, 1)) == "50.0"


def test_csv_has_everything_in_full_precision() -> None:
    row = csv_rows(results_table([cell("a", 1 / 3, costs={"index_seconds": 0.1234567})], ["recall@5"]))[0]
    assert float(row["recall@5"]) == 1 / 3
    assert float(row["recall@5_low"]) == 1 / 3 - 0.02
    assert (row["recall@5_n"], row["recall@5_n_failed"], row["recall@5_n_excluded"]) == ("10", "1", "2")
    assert (row["n_questions"], row["status"], row["index_seconds"]) == ("13", "ok", "0.1234567")


def test_several_seeds_become_one_row() -> None:
    table = results_table([cell("a", 0.6, seed=2), cell("a", 0.4, seed=0), cell("b", 0.3)], ["recall@5"])
    assert [text for text, _ in column(table, "Seeds")] == ["0, 2", "0"]
    row = csv_rows(table)[0]
    assert float(row["recall@5"]) == pytest.approx(0.5)
    assert (float(row["recall@5_low"]), float(row["recall@5_high"])) == pytest.approx((0.38, 0.62))
    assert (row["recall@5_n"], row["n_questions"]) == ("20", "26")
    assert any("Several seeds" in note for note in table.notes)


def test_a_seed_that_failed_is_named() -> None:
    cells = [cell("a", 0.6, seed=0), cell("a", seed=1, status="failed", error="ModelError")]
    table = results_table(cells, ["recall@5"])
    assert column(table, "Recall@5") == [("60.0 ±2.0", "")]
    assert column(table, "Status") == [("seed 1 failed: ModelError", "failed")]


def test_notes_and_missing_questions_are_told() -> None:
    summaries = {"recall@5": Summary(0.5, 0.4, 0.6, 10, n_missing=3)}
    table = results_table([cell("a", summaries=summaries, note="Made with a small model.")], ["recall@5"])
    assert table.notes[-2:] == ("toy, a: 3 questions missing from the run count as 0.", "Made with a small model.")
    assert "Made with a small model." in console_text(table)


def test_columns_that_do_not_fit_go_below() -> None:
    summaries = {f"recall@{k}": Summary(0.5, 0.4, 0.6, 10) for k in range(1, 30)}
    table = results_table([cell("a", summaries=summaries)], list(summaries))
    text = console_text(table, width=60)
    assert all(f"Recall@{k} " in text for k in range(1, 30))
    assert text.count("50.0 ±10.0") == 29


def test_markdown() -> None:
    text = to_markdown(results_table([cell("a_b|c", 0.5), cell("d", 0.4)], ["recall@5"]))
    assert text.startswith(
        "| Dataset | Method | Recall@5 | Rankings n/f/x |\n"
        "| --- | --- | ---: | ---: |\n"
        "| toy | a\\_b\\|c | **50.0** ±2.0 | 10/1/2 |\n"
        "| toy | d | <ins>40.0</ins> ±2.0 | 10/1/2 |\n\n- ±: half"
    )


def test_latex_is_escaped() -> None:
    cells = [cell("a_b & 5%", 0.5), cell("d\\e", 0.4), cell("f", 0.3, dataset="other")]
    text = to_latex(results_table(cells, ["recall@5"]))
    assert r"toy & a\_b \& 5\% & \textbf{50.0} $\pm$2.0 & 10/1/2 \\" in text
    assert r"toy & d\textbackslash{}e & \underline{40.0} $\pm$2.0" in text
    assert text.count(r"\midrule") == 2
    assert text.count("{") == text.count("}")


def test_square_brackets_are_text() -> None:
    assert "[red]a" in console_text(results_table([cell("[red]a", 0.5, costs={"[b]x": 1.0})], ["recall@5"]))


def test_nothing_to_show_and_doubles_are_refused() -> None:
    with pytest.raises(InputError, match="no results"):
        results_table([], ["recall@5"])
    with pytest.raises(InputError, match="two results for dataset 'toy', method 'a', seed 0"):
        results_table([cell("a", 0.5), cell("a", 0.6)], ["recall@5"])
    with pytest.raises(ConfigError, match="unknown metric"):
        results_table([cell("a", 0.5)], ["recal@5"])


PAPER = Published("Doe 2026", "0000.00000", "table 1", "a large model", (
    PublishedRow("toy", "theirs", {"recall@5": 99.0}, {"index_seconds": 7.0}),
    PublishedRow("other", "theirs", {"recall@5": 9.0}, {}),
))  # fmt: skip


def test_published_rows_stand_apart_and_do_not_compete() -> None:
    table = results_table([cell("a", 0.5), cell("b", 0.4)], ["recall@5"], published=[PAPER.of(["toy"])])
    assert column(table, "Recall@5") == [("50.0 ±2.0", "best"), ("40.0 ±2.0", "second")]
    for text in (console_text(table), to_markdown(table), to_latex(table), to_html(table)):
        before, _, after = text.partition("Doe 2026 (arXiv 0000.00000), table 1")
        assert "theirs" in after and "theirs" not in before and "99.0" in after and "a large model" in after
    rows = csv_rows(table)
    assert [row["published"] for row in rows] == ["", "", "arXiv 0000.00000, table 1"]
    assert (rows[2]["recall@5"], rows[2]["index_seconds"], rows[2]["status"]) == ("0.99", "7.0", "published")


def test_columns_that_are_empty_in_all_rows_are_hidden_but_kept_in_the_csv() -> None:
    costs = {"index_calls": 0, "index_prompt_tokens": 1_700_000, "index_completion_tokens": 2_000}
    table = results_table([cell("a", 0.5, costs=costs), cell("b", 0.4, costs={"index_calls": 0})], ["recall@5", "em"])
    shown = [each.label for each in table.columns if each.shown]
    assert shown == ["Dataset", "Method", "Recall@5", "Rankings n/f/x", "Answers n/f/x", "Index tokens in/out"]
    assert column(table, "Index tokens in/out") == [("1.7M / 2k", ""), ("–", "")]
    assert csv_rows(table)[0]["index_calls"] == "0.0"


def test_differences_that_are_significant_are_marked() -> None:
    comparison = Comparison("b", 0.05, {("toy", "a"): {"recall@5": 0.01}, ("toy", "c"): {"recall@5": 0.2}}, "differs.")
    table = results_table([cell("a", 0.5), cell("b", 0.4), cell("c", 0.3)], ["recall@5"], comparison=comparison)
    assert [text for text, _ in column(table, "Recall@5")] == ["50.0 ±2.0†", "40.0 ±2.0", "30.0 ±2.0"]
    assert "†: differs." in table.notes
    assert [row["recall@5_p"] for row in csv_rows(table)] == ["0.01", "", "0.2"]
    assert r"\textbf{50.0} $\pm$2.0$^{\dagger}$" in to_latex(table)


def test_html_needs_nothing_else_and_names_its_cells() -> None:
    cells = [cell("<script>", 0.5), cell("b", status="failed", error="ModelError")]
    text = to_html(results_table(cells, ["recall@5"], title="Toys & more", published=[PAPER.of(["toy"])]))
    assert '<caption id="caption">Toys &amp; more</caption>' in text and "&lt;script&gt;" in text
    assert "<script" not in text and "http" not in text
    tree = ElementTree.fromstring(text.partition("\n")[2].replace('<meta charset="utf-8">', "").replace(
        '<meta name="viewport" content="width=device-width, initial-scale=1">', ""))  # fmt: skip
    table = tree.find(".//table")
    assert table is not None
    heads = table.findall("./thead/tr/th")
    assert all(head.get("scope") == "col" for head in heads)
    for body in table.findall("./tbody"):
        for row in body.findall("./tr"):
            spans = sum(int(each.get("colspan", "1")) for each in row)
            assert spans == len(heads) and row.find("./th") is not None


def test_published_files_are_whole() -> None:
    folder = Path(__file__).resolve().parents[2] / "conf" / "published"
    for path in folder.glob("*.yaml"):
        for name in OmegaConf.load(path).tables:
            found = read_published(folder, f"{path.stem}.{name}")
            assert found.rows and found.source
            assert all(0 <= value <= 100 for row in found.rows for value in row.metrics.values())
    with pytest.raises(ConfigError, match="Did you mean 'hipporag2'"):
        read_published(folder, "hiporag2.qa")
    with pytest.raises(ConfigError, match="no table 'qas'"):
        read_published(folder, "hipporag2.qas")


def test_published_rows_of_another_length_are_refused(tmp_path: Path) -> None:
    (tmp_path / "p.yaml").write_text(
        "citation: c\narxiv: '1'\ntables: {t: {source: s, datasets: [a, b], metrics: [em], rows: {m: [[1.0]]}}}"
    )
    with pytest.raises(ConfigError, match=r"tables.t.rows.m: one list for each"):
        read_published(tmp_path, "p.t")
    (tmp_path / "p.yaml").write_text("citation: c\narxiv: '1'\ntables: {t: {sauce: s}}")
    with pytest.raises(ConfigError, match=r"tables.t.sauce: Extra inputs"):
        read_published(tmp_path, "p.t")


def test_a_table_without_rows_is_shown_by_its_headings():
    table = rows_table([], {"corpus": ("Corpus", None), "n": ("n", "d")}, title="Nothing")
    console = Console(width=60, record=True)
    console.print(to_console(table))
    assert "Nothing" in console.export_text()
    assert "| Corpus | n |" in to_markdown(table) and to_csv(table).strip() == ""
