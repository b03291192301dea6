"""What benchmarks and trees look like, counted by hand."""

import numpy as np

from analysis.renderers import to_csv, to_markdown
from analysis.statistics import dataset_facts, datasets_table, tree_facts, trees_table
from psi.corpus.records import Benchmark, Passage, Passages, Question
from psi.tree import build_tree


def test_datasets() -> None:
    passages = Passages([Passage("a", "T", "one two", "d"), Passage("b", "", "three", "d"), Passage("c", "", "four")])
    questions = (
        Question("p", "?", ("x", "y"), ("a", "b"), 2, document="d"), Question("q", "?", ("x",), answerable=False),
    )  # fmt: skip
    facts = dataset_facts(Benchmark("toy", passages, questions))
    assert (facts.documents, facts.passages, facts.words, facts.null_questions, facts.scoped_questions) == (
        2,
        3,
        5,
        1,
        1,
    )
    assert (facts.answers_a_question, facts.gold_a_question, facts.hops) == (1.5, 1.0, {2: 1})
    table = datasets_table([("toy", facts)], "Datasets")
    assert "| toy | 2 | 3 | 5 | 1.7 | 2 | 1 | 1 | 1.5 | 1.0 | 2: 1 |" in to_markdown(table)
    assert to_csv(table).splitlines()[1].startswith("toy,2,3,5,1.66")


def test_trees() -> None:
    vectors = np.eye(4, dtype=np.float32)
    tree = build_tree(vectors + 0.1)
    facts = tree_facts([tree, tree], 1.0)
    assert facts.layers[0] == 8 and facts.trees == 2 and facts.inner_nodes == 2 * (tree.n_nodes - 4)
    assert facts.children == (tree.n_nodes - 1) / (tree.n_nodes - 4)
    assert "| toy | m | 2 |" in to_markdown(trees_table([("toy", "m", facts)]))
