"""The hop discriminator: training, keeping, loading, budgets."""

import json

import numpy as np
import pytest

from psi.agent.hop_training import HopTraining, accuracy, confusion, labelled
from psi.agent.hops import HopDiscriminator, HopWeights, save_discriminator
from psi.corpus.records import Question
from psi.errors import ConfigError, InputError, StoreError
from tests.toys import WordEmbedder

ASKED = {
    1: "who wrote {0}",
    2: "who is the mother of the author of {0}",
    3: "where was the wife of the father of the author of {0} born",
    4: "which year saw the death of the son of the husband of the writer of {0}",
}


def questions(n=40):
    return [
        Question(f"{hops}-{i}", words.format(f"book{i}"), hops=hops) for hops, words in ASKED.items() for i in range(n)
    ]


def trained(**settings):
    texts, hops = labelled(questions())
    return HopTraining(epochs=30, **settings).train(WordEmbedder().encode_questions(texts), hops)


@pytest.fixture(scope="module")
def model():
    return trained()


@pytest.fixture
def folder(tmp_path, model):
    save_discriminator(tmp_path / "hops", model.weights, {"embedder": WordEmbedder().identity(), "target": "x"})
    return str(tmp_path / "hops")


def test_wording_that_tells_the_hops_is_learnt(model, folder):
    discriminator = HopDiscriminator(embedder=WordEmbedder(), folder=folder)
    asked = [words.format("some unseen thing") for words in ASKED.values()]
    assert discriminator.hops(asked) == [1, 2, 3, 4]
    assert discriminator.budgets(asked) == [0, 1, 2, 3]
    assert discriminator.budgets([]) == []
    assert accuracy(model.validation) == 1.0
    assert model.validation.sum(axis=1).tolist() == [4, 4, 4, 4]  # a tenth of every class is held back


def test_stored_weights_give_what_the_trained_network_gave():
    import torch

    texts, hops = labelled(questions(5))
    vectors = WordEmbedder().encode_questions(texts)
    weights = HopTraining(epochs=3).train(vectors, hops).weights
    network = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Linear(128, 4))
    with torch.no_grad():
        for layer, matrix, bias in ((network[0], *weights[:2]), (network[2], *weights[2:])):
            layer.weight.copy_(torch.from_numpy(matrix.T))
            layer.bias.copy_(torch.from_numpy(bias))
        expected = network(torch.from_numpy(vectors)).argmax(dim=1).numpy() + 1
    assert weights.hops(vectors).tolist() == expected.tolist()


def test_equal_data_and_seed_give_equal_bytes_whatever_the_threads(tmp_path, model):
    import torch

    threads, state = torch.get_num_threads(), torch.random.get_rng_state()
    torch.set_num_threads(2 if threads == 1 else 1)
    try:
        again = trained()
    finally:
        torch.set_num_threads(threads)
    assert torch.equal(torch.random.get_rng_state(), state)
    for name, each in (("a", model), ("b", again), ("c", trained(seed=1))):
        save_discriminator(tmp_path / name, each.weights, {"embedder": {}})
    files = [[(tmp_path / name / file).read_bytes() for file in ("weights.npz", "hops.json")] for name in "abc"]
    assert files[0] == files[1] != files[2]


def test_another_embedder_is_refused_by_what_differs(folder):
    with pytest.raises(ConfigError, match=r"another embedder \(width: 64, here 32\).*experiments\.hops"):
        HopDiscriminator(embedder=WordEmbedder(width=32), folder=folder).budgets(["who"])


def test_vectors_that_are_no_numbers_are_refused(folder, tmp_path, model):
    class Broken(WordEmbedder):
        def encode_questions(self, texts):
            return np.full((len(texts), 64), np.nan, dtype=np.float32)

    embedder = Broken()
    save_discriminator(tmp_path / "nan", model.weights, {"embedder": embedder.identity()})
    with pytest.raises(InputError, match="'who'"):
        HopDiscriminator(embedder=embedder, folder=str(tmp_path / "nan")).hops(["who"])


def test_missing_altered_or_foreign_files_are_refused(folder, tmp_path):
    def used(where):
        return HopDiscriminator(embedder=WordEmbedder(), folder=str(where)).budgets(["who"])

    with pytest.raises(StoreError, match=r"no hop discriminator.*python -m experiments\.hops"):
        used(tmp_path / "none")
    weights = tmp_path / "hops" / "weights.npz"
    weights.write_bytes(weights.read_bytes()[:-1])
    with pytest.raises(StoreError, match=r"weights\.npz is missing or altered"):
        used(folder)
    (tmp_path / "hops" / "hops.json").write_text(json.dumps({"schema": 0}))
    with pytest.raises(StoreError, match="another format"):
        used(folder)


def test_the_identity_is_the_weights_not_their_place(folder, tmp_path, model):
    save_discriminator(tmp_path / "copy", model.weights, {"embedder": WordEmbedder().identity()})
    here, there = (
        HopDiscriminator(embedder=WordEmbedder(), folder=str(place)).identity() for place in (folder, tmp_path / "copy")
    )
    assert here == there
    other = HopWeights(*(array + 1 for array in model.weights))
    save_discriminator(tmp_path / "copy", other, {"embedder": WordEmbedder().identity()})
    assert HopDiscriminator(embedder=WordEmbedder(), folder=str(tmp_path / "copy")).identity() != here


def test_labels_are_clipped_and_unknown_ones_left_out():
    texts, hops = labelled([
        Question("a", "A?", hops=1), Question("b", "B?", hops=7), Question("c", "C?"),
        Question("d", "D?", hops=2, answerable=False),
    ])  # fmt: skip
    assert texts == ["A?", "B?"]
    assert hops.tolist() == [1, 4]


def test_classes_with_one_question_are_trained_on_and_one_question_alone_is_refused():
    vectors = np.eye(3, dtype=np.float32)
    found = HopTraining(epochs=1).train(vectors, np.array([1, 2, 3]))
    assert found.validation.sum() == 3  # nothing can be spared: measured on itself
    with pytest.raises(InputError, match="at least 2"):
        HopTraining().train(vectors[:1], np.array([1]))


def test_confusion_counts_true_by_predicted():
    weights = HopWeights(
        *(np.asarray(each, dtype=np.float32) for each in (np.eye(4), np.zeros(4), np.eye(4), np.zeros(4)))
    )
    counts = confusion(np.array([1, 1, 4]), weights, np.eye(4, dtype=np.float32)[[0, 2, 3]])
    assert counts[0, 0] == counts[0, 2] == counts[3, 3] == 1
    assert counts.sum() == 3


def test_ties_and_zero_vectors_go_to_fewer_hops():
    weights = HopWeights(np.zeros((2, 3)), np.zeros(3), np.zeros((3, 4)), np.zeros(4))
    assert weights.hops(np.zeros((1, 2), dtype=np.float32)).tolist() == [1]
