"""Studies as a user starts them: every one of conf/study, on a small corpus, twice with the same bytes."""

import json

import numpy as np
import pytest

from analysis.studies.protocol import Study
from analysis.studies.scaling import _nearest, noisy
from experiments.complaints import CONF
from experiments.compose import component_of
from experiments.configuration import composed
from experiments.study import main
from psi.errors import ConfigError, InputError

SMALL = ["dataset.passages=120", "dataset.questions=24"]
STUDIES = sorted(path.stem for path in (CONF / "study").glob("*.yaml"))
# settings with which a study takes a second or two
QUICK = {
    "descent": ["study.abstracts=[mean]", "study.beams=[1,5]"],
    "rebalancing": ["study.limits=[4,40]", "study.hows=[even]"],
    "approximation": ["study.builders=[buckets]", "study.bucket_sizes=[50]"],
    "scaling": ["study.sizes=[100,200]", "study.builders=[exact,buckets]", "study.queries=20"],
}


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return tmp_path_factory.mktemp("store")


@pytest.mark.parametrize("name", STUDIES)
def test_every_study_of_the_configuration_is_one(name):
    assert isinstance(component_of(composed([f"+study={name}"]), "study"), Study)


@pytest.mark.parametrize("name", list(QUICK))
def test_a_study_writes_tables_and_figures_and_a_second_start_measures_nothing(name, store, tmp_path, capsys):
    for out in ("first", "second"):
        main([f"study={name}", f"store={store}", f"out={tmp_path / out}", *SMALL, *QUICK[name]])
    assert "figure: " in capsys.readouterr().out
    files = {path.name for path in (tmp_path / "first").iterdir()}
    assert {path.rpartition(".")[2] for path in files} == {"md", "csv", "png", "pdf"}
    for file in files:
        assert (tmp_path / "first" / file).read_bytes() == (tmp_path / "second" / file).read_bytes(), file


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (["study=dascent"], ConfigError, "descent"),
        (["study=descent", "corpora=[encyclopaedia]"], ConfigError, "encyclopedia"),
        (["study=descent", "study.beams=[0]"], ConfigError, "beams"),
        (["study=descent", "study.beam=[1]"], ConfigError, "beam"),
        (["study=descent", *SMALL, "dataset.questions=0"], InputError, "gold"),
        (["study=scaling", *SMALL, "study.builders=[exact]", "study.most_exact=10"], InputError, "most_exact"),
        (["study=rebalancing", *SMALL, "dataset.questions=0"], InputError, "gold"),
        ([], ConfigError, "study is not given"),
    ],
)
def test_what_is_wrong_is_said(arguments, error, message, store, tmp_path):
    with pytest.raises(error, match=message):
        main([*arguments, f"store={store}", f"out={tmp_path}"])


@pytest.mark.parametrize("texts", [["Paris is in France."], ["The same text."] * 9])
def test_a_corpus_without_a_tree_is_refused(texts, store, tmp_path):
    rows = [json.dumps({"id": str(number), "text": text}) for number, text in enumerate(texts)]
    (tmp_path / "corpus.jsonl").write_text("\n".join(rows))
    own = ["corpora=[files]", f"dataset.corpus={tmp_path}/corpus.jsonl", f"store={store}", f"out={tmp_path}/out"]
    with pytest.raises(InputError, match="1 different passages"):
        main(["study=dasgupta", *own])


def test_the_nearest_by_blocks_are_the_nearest(monkeypatch):
    monkeypatch.setattr("analysis.studies.scaling._BLOCK", 7)
    vectors = noisy(np.eye(5, dtype=np.float32), np.arange(40) % 5, 0.5, 0)
    asked = noisy(vectors, np.arange(6), 0.5, 1)
    right = np.argsort(-(asked @ vectors.T), axis=1, kind="stable")[:, :4]
    assert np.array_equal(_nearest(vectors, asked, 4), right)
