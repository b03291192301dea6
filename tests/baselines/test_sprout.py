"""SproutRAG with the bundled encoder: what one pass gives, what the index holds, and documents that break such tools."""

import numpy as np
import pytest

from baselines.sproutrag import Aggregation, BeamSearch, Encoder, Sprout
from baselines.sproutrag import encoding as encoding_module
from baselines.sproutrag.documents import documents_of
from baselines.sproutrag.encoding import encode_document, encoding_stage, load_encoding
from psi.component import Component
from psi.corpus.records import Passage, Passages, Span
from psi.errors import ConfigError, InputError
from psi.metrics.ranked import check_ranking
from psi.models.sentence_transformer import SentenceTransformerEmbedder
from psi.retrieval.rerank import Reranked
from psi.store import Store

SENTENCES = [
    "The castle stands on a hill above the river. ", "It was built by the duke in 1204. ",
    "The orchestra rehearses every Tuesday. ", "Its conductor came from Vienna. ",
    "Bread is baked with flour, water and salt. ", "The duke also built the bridge below the castle. ",
]  # fmt: skip


@pytest.fixture(scope="module")
def encoder():
    return Encoder()


def chunked(document, texts, title=""):
    ends = np.cumsum([len(text) for text in texts]).tolist()
    return [
        Passage(f"{document}#{number}", title, text, document, None, Span(document, end - len(text), end))
        for number, (text, end) in enumerate(zip(texts, ends, strict=True))
    ]


def corpus():
    return Passages([
        *chunked("castle", SENTENCES, "Castle"),
        *chunked("sea", ["Ships sail on the sea. ", "Fish swim below them. ", "A lighthouse warns the ships. "]),
    ])  # fmt: skip


def test_vectors_and_attention_of_one_window_are_means_over_spans(encoder):
    import torch

    chunks = chunked("d", SENTENCES, "Castle")
    text = encoder.tokenizer("Castle " + "".join(SENTENCES), return_offsets_mapping=True, return_tensors="pt")
    starts = np.array([chunk.span.start + len("Castle ") for chunk in chunks])
    owner = [np.searchsorted(starts, start, side="right") - 1 if end > start else -1
             for start, end in text.pop("offset_mapping")[0].tolist()]  # fmt: skip
    with torch.inference_mode():
        out = encoder.network(**text, output_attentions=True)
    found = encode_document(chunks, encoder)
    for i, vector in enumerate(found.vectors):
        mean = np.mean([out.last_hidden_state[0, t].numpy() for t, who in enumerate(owner) if who == i], axis=0)
        assert np.allclose(vector, mean / np.linalg.norm(mean), atol=1e-5)
    attention = torch.cat(out.attentions, dim=1)[0].numpy()
    assert found.pairs.tolist() == [[i, j] for i in range(6) for j in range(i + 1, 6)]
    for (i, j), values in zip(found.pairs.tolist(), found.attention, strict=True):
        a, b = ([t for t, who in enumerate(owner) if who == chunk] for chunk in (i, j))
        literal = [np.mean([(head[x, y] + head[y, x]) / 2 for x in a for y in b]) for head in attention]
        assert np.allclose(values, literal, rtol=1e-4, atol=1e-7)


def test_questions_get_the_vectors_of_the_embedder_of_that_model(encoder):
    embedder = SentenceTransformerEmbedder(model="bundled", device="cpu")
    texts = ["Who built the castle?", "fish"]
    assert np.allclose(encoder.encode_questions(texts), embedder.encode_questions(texts), atol=1e-5)


def test_a_long_document_goes_through_windows_and_nothing_is_cut():
    narrow = Encoder(max_tokens=40, title_tokens=2)
    chunks = chunked("d", SENTENCES * 3, "A title of many words")
    windows = narrow.windows(chunks)
    assert all(len(window.tokens) <= 40 for window in windows)
    seen = {int(chunk) for window in windows for chunk in window.chunks if chunk >= 0}
    assert seen == set(range(18))
    found = encode_document(chunks, narrow)
    assert np.allclose(np.linalg.norm(found.vectors, axis=1), 1, atol=1e-6)
    assert 0 < len(found.pairs) < 18 * 17 / 2  # distant chunks never met
    together = {(i, j) for w in windows for i in np.unique(w.chunks) for j in np.unique(w.chunks) if 0 <= i < j}
    assert {tuple(pair) for pair in found.pairs.tolist()} == together


def test_windows_that_share_a_pair_are_averaged():
    import torch

    narrow = Encoder(max_tokens=40)
    chunks = chunked("d", SENTENCES)
    windows = narrow.windows(chunks)
    with torch.inference_mode():
        parts = [encoding_module.pooled(window, narrow.passed([window])[0]) for window in windows]
    found = encode_document(chunks, narrow)
    for pair, values in zip(found.pairs.tolist(), found.attention, strict=True):
        means = []
        for here, _, lengths, attention in parts:
            if set(pair) <= set(here.tolist()):
                a, b = (here.tolist().index(chunk) for chunk in pair)
                means.append((attention[:, a, b] + attention[:, b, a]) / (2 * lengths[a] * lengths[b]))
        assert np.allclose(values, np.mean(means, axis=0), rtol=1e-5)


def test_batches_of_windows_change_last_digits_at_most():
    chunks = chunked("d", SENTENCES * 2)
    one = encode_document(chunks, Encoder(max_tokens=40))
    many = encode_document(chunks, Encoder(max_tokens=40, batch_size=3))
    assert np.allclose(one.vectors, many.vectors, atol=1e-5)
    assert np.allclose(one.attention, many.attention, rtol=1e-3, atol=1e-6)
    assert Encoder(batch_size=3).identity() == Encoder(batch_size=1).identity()


def test_rankings_are_sound_and_find_the_answer(encoder, tmp_path):
    index = Sprout(encoder=encoder).build(corpus(), Store(tmp_path))
    found = index.search(["Who built the castle?", "What do ships need?"], 5)
    assert found[0].ids[0].startswith("castle") and found[1].ids[0].startswith("sea")
    for ranking in found:
        check_ranking(ranking.ids, ranking.scores, where="sprout")
    assert index.search([], 3) == []
    assert [index.search([text], 5)[0] for text in ["Who built the castle?", "What do ships need?"]] == found


VARIANTS = {
    "greedy": BeamSearch(beam=1), "leaves": BeamSearch(collect="leaves"), "flat": BeamSearch(collect="flat"),
    "one document": BeamSearch(documents=1), "root": BeamSearch(documents=1, document_vector="root"),
    "cosine": BeamSearch(within="cosine"), "threshold": BeamSearch(threshold=0.99),
}  # fmt: skip


@pytest.mark.parametrize("name", VARIANTS)
def test_every_variant_gives_sound_rankings(encoder, tmp_path, name):
    found = Sprout(encoder=encoder, search=VARIANTS[name]).build(corpus(), Store(tmp_path)).search(["Who is it?"], 9)[0]
    check_ranking(found.ids, found.scores, where=name)
    if "document" in name:
        assert len({id_.split("#")[0] for id_ in found.ids}) == 1


@pytest.mark.parametrize("kind", ["uniform", "last_layer", "similarity"])
def test_kinds_of_aggregation_share_one_encoding(encoder, tmp_path, kind):
    store = Store(tmp_path)
    for aggregation in (Aggregation(), Aggregation(kind=kind)):
        Sprout(encoder=encoder, aggregation=aggregation).build(corpus(), store).search(["castle"], 3)
    assert len(list((tmp_path / "stages" / "sprout_encoding").iterdir())) == 1
    assert len(list((tmp_path / "stages" / "sprout_trees").iterdir())) == 2


class FavouriteWord(Component):
    """Scores a text by how often it holds a word, over its length."""

    def score(self, questions, passages):
        return np.array([text.count("bridge") / len(text) for text in passages], dtype=np.float32)


def test_a_reranker_reads_whole_nodes(encoder, tmp_path):
    passages = corpus()
    method = Sprout(encoder=encoder, reranker=FavouriteWord(), pool=30)
    found = method.build(passages, Store(tmp_path)).search(["Who built the castle?"], 4)[0]
    check_ranking(found.ids, found.scores, where="reranked")
    assert found.ids[0] == "castle#5"
    leafwise = Reranked(retrievers=(Sprout(encoder=encoder),), reranker=FavouriteWord())
    assert leafwise.build(passages, Store(tmp_path)).search(["Who built the castle?"], 4)[0].ids[0] == "castle#5"


def test_a_killed_encoding_goes_on_and_ends_with_the_same_bytes(encoder, tmp_path, monkeypatch):
    documents = documents_of(corpus())
    whole = encoding_stage(documents, encoder, Store(tmp_path / "whole"))
    monkeypatch.setattr(encoding_module, "SHARD", 2)
    original, asked = encoding_module.encode_document, []

    def counted(chunks, encoder):
        asked.append(chunks[0].id)
        if len(asked) == 2:
            raise KeyboardInterrupt
        return original(chunks, encoder)

    monkeypatch.setattr(encoding_module, "encode_document", counted)
    with pytest.raises(KeyboardInterrupt):
        encoding_stage(documents, encoder, Store(tmp_path / "killed"))
    killed = encoding_stage(documents, encoder, Store(tmp_path / "killed"))
    assert asked == ["castle#0", "sea#0", "sea#0"]
    assert killed.manifest["files"] == whole.manifest["files"]


def test_tokens_that_no_window_holds_and_other_bad_settings_are_refused(encoder):
    with pytest.raises(ConfigError, match="512 positions"):
        encode_document(chunked("d", SENTENCES), Encoder(max_tokens=513))
    with pytest.raises(ConfigError, match="no room"):
        encode_document(chunked("d", SENTENCES, "a b c d e f g h"), Encoder(max_tokens=8))
    with pytest.raises(ConfigError):
        Encoder(overlap=1.0)
    with pytest.raises(ConfigError):
        BeamSearch(beam=0)


DEGENERATE = {
    "one sentence": ["Only this."], "identical sentences": ["The same again. "] * 12,
    "one long sentence": ["word " * 1000], "long between short": ["A start. ", "word " * 1000, "An end."],
    "CJK": ["北京是中国的首都。上海是最大的城市。", "长城在北方。"], "punctuation": ["... !!! ???", "---"],
    "one word of 5000 characters": ["x" * 5000],
}  # fmt: skip


@pytest.mark.parametrize("name", DEGENERATE)
def test_degenerate_documents_are_indexed_and_found(encoder, tmp_path, name):
    passages = Passages(chunked("d", DEGENERATE[name]))
    method = Sprout(encoder=encoder, search=BeamSearch(threshold=-1.0))
    found = method.build(passages, Store(tmp_path)).search(["What is the capital of China?"], 50)[0]
    assert sorted(found.ids) == sorted(passages.ids)
    check_ranking(found.ids, found.scores, where=name)


def test_identical_sentences_chain_up_and_tie_by_id(encoder, tmp_path):
    passages = Passages([Passage(f"d{n}", "", "The same again.") for n in range(4)])  # four documents, equal vectors
    found = Sprout(encoder=encoder).build(passages, Store(tmp_path)).search(["again"], 4)[0]
    assert found.ids == ("d0", "d1", "d2", "d3") and len(set(found.scores)) == 1


def test_empty_documents_are_refused_by_name(encoder, tmp_path):
    with pytest.raises(InputError, match="'empty'"):
        Sprout(encoder=encoder).build(Passages([Passage("empty", "title", "")]), Store(tmp_path))
    with pytest.raises(InputError, match=r"'odd'.*no token"):
        Sprout(encoder=encoder).build(Passages([Passage("odd", "", "\u200b\u200d")]), Store(tmp_path))


def test_files_of_an_encoding(encoder, tmp_path):
    artifact = encoding_stage(documents_of(corpus()), encoder, Store(tmp_path))
    encoding = load_encoding(artifact)
    assert encoding.vectors.shape == (9, 384) and encoding.attention.shape == (15 + 3, 72)
    assert encoding.offsets.tolist() == [0, 6, 9] and encoding.pair_offsets.tolist() == [0, 15, 18]
    assert encoding.pairs[15:].tolist() == [[6, 7], [6, 8], [7, 8]]
    assert artifact.facts["tokens"] > 0 and artifact.facts["titles_cut"] == 0
    short = encoding_stage(
        documents_of(Passages(chunked("d", SENTENCES, "A castle"))), Encoder(title_tokens=1), Store(tmp_path)
    )
    assert short.facts["titles_cut"] == 1
