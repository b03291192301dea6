import dataclasses
import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from baselines.external.pageindex import PageIndex, numbers_of, placed_passages, read_tree
from baselines.hipporag.errors import FailedSearchError
from psi.component import Component, runtime
from psi.corpus.records import Passage, Passages
from psi.errors import ConfigError, InputError, ModelError
from psi.models.protocols import Reply, Usage
from psi.store import Store

# written by md_to_tree of pageindex 0.4.7 from a Markdown file of ours, with if_add_node_text="yes"; summaries were added
TREE = {
    "doc_name": "meeting",
    "line_count": 9,
    "structure": [
        {
            "title": "Meeting", "node_id": "0000", "line_num": 1, "prefix_summary": "A meeting of the board.",
            "text": "# Meeting\nOpening words by the chair.",
            "nodes": [
                {
                    "title": "Budget", "node_id": "0001", "line_num": 3, "prefix_summary": "What\nthings cost.",
                    "text": "## Budget\nThe budget is 3 million. It was approved.",
                    "nodes": [
                        {
                            "title": "Travel", "node_id": "0002", "line_num": 5, "summary": "",
                            "text": "### Travel\nTravel costs rose to 40,000.",
                        }
                    ],
                },
                {"title": "Staff", "node_id": "0003", "line_num": 7, "text": "## Staff\nTwo engineers join in May."},
            ],
        }
    ],
}  # fmt: skip
PASSAGES = Passages([
    Passage("m0", "Meeting", "Opening words by the chair.", "meeting"),
    Passage("m1", "Meeting", "The budget is\n3 million.", "meeting"),
    Passage("m2", "Meeting", "It was approved.", "meeting"),
    Passage("m3", "Meeting", "Travel costs rose sharply to 40,000.", "meeting"),
    Passage("m4", "Meeting", "Two engineers join in May.", "meeting"),
])  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Chooser(Component):
    """Always replies the same; writes down what it was asked."""

    text: str = "2\n4"
    truncated: bool = False
    failing: bool = False
    asked: str = runtime("")

    def reply(self, conversations, forms=None):
        if self.asked:
            Path(self.asked).write_text(conversations[0][-1].content, encoding="utf-8")
        if self.failing:
            return [ModelError("no", kind="timeout") for _ in conversations]
        return [Reply(self.text, 50, 3, self.truncated) for _ in conversations]

    def prompt_tokens(self, conversation):
        return None

    def prompt_limit(self):
        return None


@pytest.fixture
def folder(tmp_path):
    trees = tmp_path / "trees"
    trees.mkdir()
    (trees / "meeting.json").write_text(json.dumps(TREE), encoding="utf-8")
    return trees


def search(folder, passages=PASSAGES, question="What does it cost?", k=10, **settings):
    retriever = PageIndex(llm=Chooser(**settings), folder=str(folder))
    return retriever.build(passages, Store("unused")).search([question], k)[0]


def test_passages_of_the_chosen_nodes_are_found(folder, tmp_path):
    found = search(folder, asked=str(tmp_path / "asked"))
    assert found.ids == ("m1", "m2", "m4")
    assert found.scores == (1, 1 / 2, 1 / 3)
    assert found.usage == Usage(1, 50, 3)
    assert (tmp_path / "asked").read_text(encoding="utf-8") == (
        "Outline:\n1 Meeting: A meeting of the board.\n  2 Budget: What things cost.\n    3 Travel\n  4 Staff\n\n"
        "Question: What does it cost?"
    )
    assert search(folder, k=1).ids == ("m1",)
    assert search(folder, text="none of them").ids == search(folder, text="77").ids == ()


def test_passages_are_in_the_shortest_node_that_holds_them_or_most_of_their_words(folder):
    _, nodes = read_tree(folder / "meeting.json")
    assert placed_passages(PASSAGES, nodes) == [["m0"], ["m1", "m2"], ["m3"], ["m4"]]
    above = [nodes[0]._replace(text=" ".join(node.text for node in nodes)), *nodes[1:]]
    assert placed_passages(PASSAGES, above) == [["m0"], ["m1", "m2"], ["m3"], ["m4"]]
    assert placed_passages([Passage("x", "", "Nothing of the sort"), Passage("y", "", "")], nodes) == [[], [], [], []]


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("2\n4", [2, 4]), ("2, 4, 2", [2, 4]), ("[4, 2]", [4, 2]), ("- **3** Travel in 2020\n- 1", [3, 1]),
        ("<think>7\n8</think>\n5", [5]), ("Part 2", [2]), ("", []), ("0", []), ("I can't tell.", []),
    ],
)  # fmt: skip
def test_numbers_are_read_however_they_are_written(reply, expected):
    assert numbers_of(reply) == expected


def test_a_failed_call_and_an_outline_that_does_not_fit_are_errors(folder):
    with pytest.raises(FailedSearchError, match="timeout 1"):
        search(folder, failing=True)
    with pytest.raises(FailedSearchError, match="does not fit"):
        search(folder, text="", truncated=True)


def test_documents_without_a_tree_are_counted_and_a_corpus_without_any_is_refused(folder, caplog):
    more = Passages([*PASSAGES, Passage("z", "", "Other", "other")])
    assert search(folder, more).ids == ("m1", "m2", "m4")
    assert "1 of 6 passages are in no node" in caplog.text
    with pytest.raises(InputError, match="documents meeting, the corpus has other"):
        search(folder, Passages([Passage("z", "", "Other", "other")]))


@pytest.mark.parametrize("content", ["[", "[]", "{}", '{"doc_name": "a", "structure": [{"node_id": "0"}]}'])
def test_files_that_are_no_trees_are_refused(content, folder):
    (folder / "broken.json").write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=r"broken\.json is no tree of PageIndex"):
        search(folder)


def test_trees_need_texts_and_folders_need_trees(folder, tmp_path):
    (folder / "bare.json").write_text('{"doc_name": "a", "structure": [{"title": "A"}]}', encoding="utf-8")
    with pytest.raises(InputError, match="if_add_node_text"):
        search(folder)
    with pytest.raises(InputError, match=r"holds no \.json file"):
        search(tmp_path / "nowhere")


def test_the_identity_is_that_of_the_files(folder, tmp_path):
    first = PageIndex(llm=Chooser(), folder=str(folder))
    copy = tmp_path / "copy"
    copy.mkdir()
    (copy / "meeting.json").write_bytes((folder / "meeting.json").read_bytes())
    assert dataclasses.replace(first, folder=str(copy)).identity() == first.identity()
    (copy / "meeting.json").write_text(json.dumps({**TREE, "doc_name": "other"}), encoding="utf-8")
    assert dataclasses.replace(first, folder=str(copy)).identity() != first.identity()


def test_bad_calls_are_refused(folder):
    with pytest.raises(ConfigError, match="k=0"):
        search(folder, k=0)
    with pytest.raises(InputError, match="question 0"):
        search(folder, question=" ")
    assert PageIndex(llm=Chooser(), folder=str(folder)).build(PASSAGES, Store("unused")).search([], 3) == []
