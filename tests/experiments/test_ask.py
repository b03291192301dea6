"""Questions asked of the user's own files."""

import dataclasses
import io
import sys
from dataclasses import dataclass

import pytest

from experiments import ask
from experiments.ask import Desk, split_arguments
from experiments.complaints import CONF
from experiments.compose import run_from
from experiments.configuration import composed
from psi.agent.chat import ChatPolicy
from psi.agent.loop import Agent
from psi.agent.policy import Decision
from psi.component import Component
from psi.errors import ConfigError, InputError
from tests.agent.scripted import ScriptedChat

SEARCH = f"hydra.searchpath=[file://{CONF.parent / 'tests' / 'conf'}]"
FILES = {
    "bridge.md": "# Old Bridge\n\nHayruddin built the Old Bridge in 1566.",
    "sinan.txt": "Sinan was the master of Hayruddin and built mosques.",
    "edirne.txt": "Edirne is a city with a mosque.",
    "fish.txt": "Fish live in the sea.",
}


@pytest.fixture
def settings(tmp_path):
    folder = tmp_path / "docs"
    folder.mkdir()
    for name, text in FILES.items():
        (folder / name).write_text(text)
    return [
        "dataset=files", f"dataset.corpus={folder}", f"store={tmp_path / 'store'}", SEARCH, "embedder=fragile",
        "embedder.broken=/nowhere", "reader=toy", f"reader.calls={tmp_path / 'calls'}", "abstracts=extractive",
        "context=2",
    ]  # fmt: skip


def run_main(capsys, *arguments):
    code = ask.main(arguments)
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def typed(monkeypatch, text):
    monkeypatch.setattr(sys, "stdin", io.StringIO(text))


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["who is it?"], ("who is it?", [])),
        (["k=3", "who", "is", "it?", "method=bm25"], ("who is it?", ["k=3", "method=bm25"])),
        (["is x = 3 or y=4 true?"], ("is x = 3 or y=4 true?", [])),
        (["+a.b=1", "++c/d@e.f=2", "~reader", "~hydra.x=1"], ("", ["+a.b=1", "++c/d@e.f=2", "~reader", "~hydra.x=1"])),
        (["  "], ("", [])),
    ],
)
def test_settings_and_question_are_told_apart(arguments, expected):
    assert split_arguments(arguments) == expected


def test_a_question_is_answered_with_its_sources_and_their_place_in_the_tree(settings, capsys):
    code, out, _ = run_main(capsys, *settings, "Who built the Old Bridge?")
    assert code == 0
    lines = out.splitlines()
    assert lines[0] == "Answer: #"  # the toy reader's: the first word of the first passage
    assert lines[3].startswith("  1. Old Bridge  [bridge.md#0000]  0.0")
    assert "Hayruddin built the Old Bridge in 1566." in lines[4]
    assert sum(line.startswith(("  1.", "  2.", "  3.")) for line in lines) == 2  # context
    above = [line.strip() for line in lines[5:] if "└" in line]
    assert above[0].startswith("└ height 1, ") and ", all: " in "".join(above)


def test_an_index_is_built_once(settings, capsys, tmp_path):
    run_main(capsys, *settings, "Who built the Old Bridge?")
    made = {path: path.stat().st_mtime_ns for path in (tmp_path / "store" / "stages").rglob("manifest.json")}
    run_main(capsys, *settings, "Where is the mosque?")
    again = {path: path.stat().st_mtime_ns for path in (tmp_path / "store" / "stages").rglob("manifest.json")}
    assert again == made


def test_methods_without_a_tree_show_no_path_and_no_match_is_said(settings, capsys):
    code, out, _ = run_main(capsys, *settings, "method=bm25", "Where is Edirne?")
    assert code == 0 and "└" not in out and "[edirne.txt#0000]" in out
    code, out, _ = run_main(capsys, *settings, "method=bm25", "Zebras?")
    assert code == 0 and "No passage was found." in out


@dataclass(frozen=True, kw_only=True)
class OneMore(Component):
    """Retrieves once more and leaves the answer to the reader."""

    @property
    def self_answering(self):
        return False

    def decide(self, situations):
        return [Decision("retrieve" if len(s.steps) == 1 else "stop", "fish in the sea") for s in situations]


def test_an_agent_shows_its_trace_and_answers(settings, tmp_path):
    run = run_from(composed(settings))
    agent = Agent(policy=ChatPolicy(llm=ScriptedChat(calls=str(tmp_path / "asked"))))
    desk = Desk(dataclasses.replace(run, agent=agent))
    found = desk.ask("Who built the Old Bridge?")
    text = "\n".join(desk.told(found, 100))
    assert found.answer.status == "ok" and found.answer.text
    assert text.startswith("Question asked: Who built the Old Bridge?")
    assert "Step 2" in text and f"Answer: {found.answer.text}" in text and "Sources:" in text
    assert not (tmp_path / "calls").exists()  # the reader was not needed


def test_an_agent_that_only_retrieves_leaves_the_answer_to_the_reader(settings, tmp_path):
    run = dataclasses.replace(
        run_from(composed([*settings, "context=1", "method=bm25"])), agent=Agent(policy=OneMore())
    )
    found = Desk(run).ask("Who built the Old Bridge?")
    assert [step.query for step in found.trace.steps] == ["Who built the Old Bridge?", "fish in the sea"]
    assert found.sources.ids == found.trace.ranking.ids[:1]
    assert (tmp_path / "calls").read_text() == "asked\n"


def test_long_lines_are_cut_to_the_width(settings, tmp_path):
    (tmp_path / "docs" / "long.txt").write_text("Bridges " * 80)
    desk = Desk(run_from(composed(settings)))
    lines = list(desk.told(desk.ask("bridges"), 60))
    assert max(map(len, lines)) <= 60
    assert any(line.endswith("…") for line in lines)


def test_many_questions_are_answered_until_the_input_ends(settings, capsys, monkeypatch):
    typed(monkeypatch, "Where is Edirne?\n\n  \nWho built the Old Bridge?")
    code, out, _ = run_main(capsys, *settings)
    assert code == 0
    assert out.count("Sources:") == 2


def test_a_question_that_fails_does_not_end_the_conversation(settings, capsys, monkeypatch):
    asked = Desk.ask

    def fragile(self, text):
        if "boom" in text:
            raise InputError("this one is refused.")
        return asked(self, text)

    monkeypatch.setattr(Desk, "ask", fragile)
    typed(monkeypatch, "boom\nWhere is Edirne?\n")
    code, out, err = run_main(capsys, *settings)
    assert code == 1
    assert "this one is refused." in err and out.count("Sources:") == 1


def test_an_interrupt_ends_it_without_a_traceback(settings, capsys, monkeypatch):
    monkeypatch.setattr("builtins.input", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    code, _, err = run_main(capsys, *settings)
    assert code == 130
    assert "Traceback" not in err


def test_a_failed_call_is_said_and_is_the_exit_code(settings, capsys, tmp_path, monkeypatch):
    (tmp_path / "failing").touch()
    monkeypatch.setattr("tests.toys.zlib.crc32", lambda _: 0)
    code, out, _ = run_main(capsys, *settings, f"reader.failing={tmp_path / 'failing'}", "method=bm25", "Edirne?")
    assert code == 1
    assert "No answer, the call failed (http_500): server error" in out and "[edirne.txt#0000]" in out


@pytest.mark.parametrize(
    ("argument", "said"),
    [
        ("method=pzi", "unknown method 'pzi'"),
        ("topk=3", "unknown setting 'topk'"),
        ("k=0", "k=0"),
        ("dataset.corpus=/not/there", "/not/there"),
        ("method=oracle", "Take a method that searches"),
    ],
)
def test_mistakes_end_in_one_sentence_and_exit_code_2(settings, capsys, argument, said):
    code, out, err = run_main(capsys, *settings, argument, "Where?")
    assert code == 2
    assert said in err and "Traceback" not in err and out == ""


def test_a_ranker_from_gold_is_refused(settings):
    with pytest.raises(ConfigError, match="method=oracle"):
        Desk(run_from(composed([*settings, "method=oracle"])))
