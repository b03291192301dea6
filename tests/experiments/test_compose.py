"""Every configuration composes and becomes objects; every mistake in one is named."""

from pathlib import Path

import pytest
from hydra import compose, initialize_config_dir
from hydra.errors import HydraException
from omegaconf.errors import OmegaConfBaseException

from experiments.complaints import CONF, explained
from experiments.compose import again, masked, run_from, unused
from psi.component import settings_of
from psi.errors import ConfigError


def composed(*overrides):
    with initialize_config_dir(str(CONF), version_base="1.3"):
        return compose("config", overrides=list(overrides))


def group(name):
    return sorted(path.stem for path in (CONF / name).glob("*.yaml"))


# settings that a preset leaves to the user
REQUIRED = {
    "dataset=files": ["dataset.corpus=docs"],
    "embedder=sentence_transformers": ["embedder.model=some/model"],
    "embedder=http": ["embedder.model=m", "embedder.base_url=http://127.0.0.1:1/v1"],
    "llm=transformers": ["llm.model=some/model"],
    "method=pageindex": ["method.retriever.folder=trees"],
    "method=hipporag2_released": ["method.retriever.openie.file=/dev/null"],
    "llm=openai_compatible": ["llm.model=m", "llm.base_url=http://127.0.0.1:1/v1"],
}
GROUPS = ["dataset", "embedder", "llm", "reader", "method", "agent", "abstracts"]
CHOICES = [f"{name}={choice}" for name in GROUPS for choice in group(name)]


@pytest.mark.parametrize("choice", CHOICES)
def test_every_choice_of_every_group_becomes_a_run(choice):
    extra = ["reader=generate"] if choice.startswith("llm=") and choice != "llm=smollm2" else []
    run = run_from(composed(choice, *REQUIRED.get(choice, []), *extra))
    assert run.k == 10
    assert run.identity()["method"]["component"] == "experiments.settings.Method"


@pytest.mark.parametrize("experiment", group("experiment"))
def test_every_experiment_composes(experiment):
    run_from(composed(f"experiment={experiment}"))


@pytest.mark.parametrize(
    ("override", "said"),
    [
        ("method=pzi", ["unknown method 'pzi'", "Did you mean 'psi'", "bm25"]),
        ("dataset=musiqe", ["unknown dataset 'musiqe'", "'musique'"]),
        ("topk=3", ["unknown setting 'topk'", "Allowed:", "k,"]),
        ("+topk=3", ["unknown setting 'topk'", "Allowed:"]),
        ("bean=3", ["unknown setting 'bean'", "Did you mean 'beam'"]),
        ("method.retriever.bean=3", ["'method.retriever.bean'", "Allowed:", "constant"]),
        ("+method.retriever.pol=3", ["'method.retriever.pol'", "Did you mean 'pool'"]),
        ("beam=-1", ["beam=-1", "greater than 0"]),
        ("beam=abc", ["beam='abc'", "integer"]),
        ("beam=1.5", ["beam=1.5", "integer"]),
        ("beam=true", ["beam=True", "integer"]),
        ("k=0", ["k=0", "greater than 0"]),
        ("seed=-1", ["seed=-1", "greater than or equal to 0"]),
        ("max_fail_rate=2", ["max_fail_rate=2", "less than or equal to 1"]),
        ("method.retriever._target_=psi.retrieval.fusion.Fuson", ["cannot import", "Fuson"]),
        ("store=${oc.env:PSI_NOT_SET}", ["PSI_NOT_SET"]),
        ("metrics=[]", ["metrics", "at least 1"]),
        ("metrics=recall@5", ["metrics='recall@5'", "a list: [a, b]"]),
        ("metrics=[recal@5]", ["unknown metric 'recal@5'", "Did you mean 'recall@k'"]),
        ("metrics=[recall@0]", ["cutoff k must be at least 1"]),
        ("metrics=[':']", ["':' can't be imported"]),
        ("max_fail_rate=nan", ["max_fail_rate=nan"]),
        ("k=???", ["k is not given", "k=VALUE"]),
        ("~metrics", ["metrics is not given"]),
        ("~method.retriever", ["method.retriever is not given"]),
        ("method=", ["unknown method ''", "bm25"]),
        ("method=null", ["takes a name"]),
        ("dataset=a/b", ["unknown dataset 'a/b'", "musique"]),
        ("method.name.x=5", ["unknown setting 'method.name.x'", "method.name has no settings"]),
        ("method.retriever.retrievers.1.k1=1", ["has no value", "+method.retriever.retrievers.1.k1=VALUE"]),
        ("method.retriever.retrievers.1.kk=1", ["unknown setting", "method.retriever.retrievers.1.k1"]),
        ("method.retriever.retrievers.9.k1=1", ["method.retriever.retrievers.9.k1", "out of range"]),
        ("+method.retriever.retrievers.1.k1=inf", ["k1=inf", "finite"]),
        ("+method.retriever.retrievers.1.stemmer=klingon", ["stemmer='klingon'", "english"]),
        ("+method.retriever.retrievers.1.stopwords=klingon", ["stopwords='klingon'", "'en'"]),
        ("method.retriever._target_=os.system", ["'os.system'", "Component"]),
        ("foo", ["cannot read 'foo'", "key=value"]),
    ],
)  # fmt: skip
def test_a_mistake_is_named(override, said):
    with pytest.raises((HydraException, OmegaConfBaseException, ConfigError, ValueError)) as refused:
        run_from(composed(override))
    message = str(refused.value) if isinstance(refused.value, ConfigError) else explained(refused.value, [override])
    for words in said:
        assert words in message


def test_a_mistake_in_a_file_is_named_with_its_path(tmp_path):
    (tmp_path / "method").mkdir()
    (tmp_path / "method" / "mine.yaml").write_text(
        "_target_: experiments.settings.Method\nname: m\nretriever: {_target_: psi.retrieval.sparse.BM25, k_1: 1.2}\n"
    )
    with pytest.raises(ConfigError, match=r"method\.retriever\.k_1.*Did you mean 'k1'"):
        run_from(composed("method=mine", f"hydra.searchpath=[file://{tmp_path}]"))


def test_numbers_and_zero_keep_their_types():
    run = run_from(composed("seed=0", "max_fail_rate=1e-5"))
    assert run.seed == 0
    assert run.max_fail_rate == 1e-5


def test_settings_without_effect_are_found():
    assert "beam" in unused(composed("method=bm25"))
    assert "beam" not in unused(composed("method=psi"))


def test_secrets_are_masked(monkeypatch):
    monkeypatch.setenv("SOME_KEY", "sk-very-secret")
    text = masked(composed("+embedder.api_key=${oc.env:SOME_KEY}"))
    assert "sk-very-secret" not in text
    assert "***" in text


def test_every_setting_of_a_run_stands_in_the_main_configuration():
    from experiments.settings import Run

    assert set(settings_of(Run)) <= {str(key) for key in composed()}


def test_configuration_files_are_commented():
    for path in Path(CONF).rglob("*.yaml"):
        assert path.read_text(encoding="utf-8").lstrip("#! ").strip(), path


def test_equal_parts_of_a_configuration_are_one_object_that_loads_its_model_once():
    psi = run_from(composed("method=psi_links"))
    assert psi.method.retriever.hybrid.retrievers[0].index.embedder is psi.method.retriever.embedder


def test_the_command_of_a_cell_holds_no_secret_and_no_place():
    command = again(["store=/tmp/x", "method=psi", "llm.api_key=abc", "llm.max_tokens=64", "+agent.note=a b"])
    assert command == "python -m experiments.run method=psi 'llm.api_key=***' llm.max_tokens=64 '+agent.note=a b'"


@pytest.mark.parametrize("dataset", ["twowiki", "musique", "encyclopedia"])  # the second has a budget of its own
def test_the_hop_budget_is_told_from_questions_where_it_is_auto(dataset):
    arguments = [f"dataset={dataset}", "method=psi", "agent=psi", "store=kept"]
    told = run_from(composed(*arguments, "hop_budget=auto")).agent.hop_budget
    assert told == run_from(composed(*arguments, "hops=auto")).agent.hop_budget
    assert told.folder == f"kept/hops/{dataset}"
