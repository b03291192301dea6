"""The fictional encyclopedia: exact sizes, sound prose, questions that have one answer and one way to it."""

from __future__ import annotations

import itertools
import os
import re
import subprocess
import sys
from collections import Counter
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from psi.corpus.encyclopedia import Encyclopedia
from psi.corpus.encyclopedia.benchmark import category_sizes
from psi.corpus.encyclopedia.build import build_world
from psi.corpus.encyclopedia.phrasebook import STYLES
from psi.corpus.encyclopedia.prose import UNTOLD, article, parse, section_of
from psi.corpus.encyclopedia.questions import MIX, answer_forms
from psi.corpus.encyclopedia.wording import ASK, COMPARE, COMPARE_MAKERS, INTERSECT, INVERSE, MISSING, SAME, STEP
from psi.corpus.encyclopedia.world import THEMES, Entity, Quantity
from psi.corpus.records import Benchmark, Passage
from psi.errors import ConfigError

# sha256 of the default's passages and questions: changes only when the generator is changed on purpose
PASSAGES_DIGEST = "ca7f3f33c853a57cc53095a90408c82b682b4cc2c02a01a9fe0c4d2886644533"
QUESTIONS_DIGEST = "9c27944d5b078f1b5af570966e57ae46621c8dd669372ea25e111c54d58a81f8"


@cache
def _made(passages: int = 600, questions: int = 200, seed: int = 0, skew: float = 1.0) -> Benchmark:
    return Encyclopedia(passages=passages, questions=questions, seed=seed, skew=skew).load()


# ---- sizes and sameness


@pytest.mark.parametrize(("passages", "questions"), [(100, 40), (600, 200), (5000, 300)])
def test_exact_size(passages: int, questions: int) -> None:
    benchmark = _made(passages, questions)
    assert (len(benchmark.passages), len(benchmark.questions)) == (passages, questions)
    assert benchmark.report.notes == ()


def test_default_has_its_golden_bytes() -> None:
    benchmark = _made()
    assert (benchmark.passages.digest, benchmark.questions_digest) == (PASSAGES_DIGEST, QUESTIONS_DIGEST)


def test_same_bytes_in_another_process_with_another_hash_seed() -> None:
    code = (
        "from psi.corpus.encyclopedia import Encyclopedia as E; b = E(passages=150, questions=60, seed=9).load();"
        "print(b.passages.digest, b.questions_digest)"
    )
    made = _made(150, 60, 9)
    run = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONHASHSEED": "77"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.split() == [made.passages.digest, made.questions_digest]


def test_seeds_differ() -> None:
    assert _made(150, 60, 9).passages.digest != _made(150, 60, 10).passages.digest


def test_questions_do_not_change_the_passages() -> None:
    assert _made(150, 60, 9).passages.digest == _made(150, 0, 9).passages.digest


def test_too_many_questions_are_noted() -> None:
    benchmark = _made(100, 6000)
    assert 300 < len(benchmark.questions) < 6000
    assert f"{len(benchmark.questions)} of 6000 questions" in benchmark.report.notes[0]


@pytest.mark.parametrize(
    "wrong", [{"passages": 99}, {"passages": 1_000_001}, {"questions": -1}, {"seed": -1}, {"skew": 0.5}]
)
def test_settings_out_of_range_are_named(wrong: dict[str, float]) -> None:
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        Encyclopedia(**wrong)  # type: ignore[arg-type]


# ---- categories


@pytest.mark.parametrize("skew", [1.0, 3.0, 10.0, 50.0])
def test_skew_is_the_ratio_of_largest_to_smallest(skew: float) -> None:
    counts = Counter(passage.category for passage in _made(5000, 0, 1, skew).passages)
    assert set(counts) == set(THEMES)
    assert max(counts.values()) / min(counts.values()) == pytest.approx(skew, rel=0.1)


def test_skew_makes_power_law_sizes() -> None:
    sizes = sorted(category_sizes(100_000, 10.0, 0).values(), reverse=True)
    assert sizes == sorted(sizes, reverse=True)
    # sizes fall with rank ** -1: rank 1 : rank 2 : rank 5 : rank 10
    assert [round(sizes[0] / sizes[rank - 1], 1) for rank in (2, 5, 10)] == [2.0, 5.0, 10.0]


@given(passages=st.integers(100, 1_000_000), skew=st.floats(1, 10_000), seed=st.integers(0, 99))
def test_category_sizes_add_up(passages: int, skew: float, seed: int) -> None:
    sizes = category_sizes(passages, skew, seed)
    assert sum(sizes.values()) == passages
    assert min(sizes.values()) >= 1


@settings(max_examples=8, deadline=None)
@given(
    passages=st.integers(100, 260), questions=st.integers(0, 30), skew=st.floats(1, 5000), seed=st.integers(0, 2**31)
)
def test_any_setting_makes_a_sound_benchmark(passages: int, questions: int, skew: float, seed: int) -> None:
    benchmark = Encyclopedia(passages=passages, questions=questions, seed=seed, skew=skew).load()
    assert len(benchmark.passages) == passages
    assert len(benchmark.questions) <= questions
    for passage in benchmark.passages:
        assert flaws(passage) == []
    assert_gold_is_sound(benchmark)


# ---- prose


def flaws(passage: Passage) -> list[str]:
    """What a proof-reader would mark."""
    text = passage.text
    found = [
        f"{label}: {match.group()!r} in {text!r}"
        for label, pattern in _FLAWS.items()
        if (match := pattern.search(text))
    ]
    words = len(text.split())
    if not 47 <= words <= 120:
        found.append(f"{words} words: {text!r}")
    if text[-1] != "." or not text[0].isupper():
        found.append(f"edges: {text!r}")
    found += [f"small start: {sentence!r}" for sentence in re.findall(r"\. [a-z]\w*", text)]
    return found


_FLAWS = {
    "placeholder": re.compile(r"[{}\[\]|]|None\b"),
    "double space": re.compile(r"  |^ | $|\n"),
    "space before a stop": re.compile(r" [.,;:]"),
    "double stop": re.compile(r"[.,;:]{2}"),
    "a before a vowel": re.compile(r"\b[Aa] (?!uni|one|once|use|eu)[aeiouöéü]", re.IGNORECASE),
    "an before a consonant": re.compile(r"\b[Aa]n (?![aeiouöéü]|8|11|18|heir|honest|honorary)", re.IGNORECASE),
    "a before eighteen": re.compile(r"\ba (8|18\d\d|11)\b"),
    "doubled word": re.compile(r"\b(\w+) \1\b"),
    "the the": re.compile(r"\bthe (a|an|the)\b", re.IGNORECASE),
}


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_passages_have_no_flaws(seed: int) -> None:
    assert [flaw for passage in _made(1500, 0, seed).passages for flaw in flaws(passage)] == []


@pytest.mark.parametrize("passages", [100, 600, 5000])
def test_ids_and_titles_are_unique(passages: int) -> None:
    corpus = _made(passages, 40 if passages == 100 else 300 if passages == 5000 else 200).passages
    assert len({passage.id for passage in corpus}) == len({passage.title for passage in corpus}) == passages


def test_some_names_are_shared_and_told_apart_by_title() -> None:
    bare = Counter(re.sub(r" \(.*\)$", "", passage.title) for passage in _made(5000, 300).passages)
    assert sum(count > 1 for count in bare.values()) > 50


def test_prose_is_varied() -> None:
    texts = [passage.text for passage in _made(5000, 300).passages]
    assert len(set(texts)) == len(texts)
    # the shape of the first sentence, names and numbers left out
    openings = Counter(re.sub(r"\b[A-Zé-ü]\w*|\d+", "#", text.partition(". ")[0]) for text in texts)
    assert openings.most_common(1)[0][1] < 0.05 * len(texts)


def test_every_relation_has_several_phrasings() -> None:
    for kind, style in STYLES.items():
        tellers: Counter[str] = Counter()
        for template in (*style.leads, *style.more_leads, *(phrase for group in style.groups for phrase in group)):
            alternatives = 1 + len(re.findall(r"\|", template))
            for relation in set(re.findall(r"\{(?:a )?(\w+)\}", template)):
                tellers[{"region_name": "region", "population_bare": "population"}.get(relation, relation)] += (
                    alternatives
                )
        world = build_world(category_sizes(1200, 1, 0), 0)
        relations = {relation for entity in world.entities if entity.kind == kind for relation in entity.facts} - UNTOLD
        assert {relation: tellers[relation] for relation in relations if tellers[relation] < 4} == {}, kind


def test_every_fact_is_told_in_its_own_passage() -> None:
    # the texts of a world and its facts, side by side: each value stands in the passage that is said to tell it
    from random import Random

    from psi.corpus.encyclopedia.prose import write

    world = build_world(category_sizes(600, 1, 0), 0)
    rng = Random(1)
    for entity in world.entities:
        articles = write(entity, world, rng)
        for relation, value in entity.facts.items():
            if entity.sections and relation not in UNTOLD:
                text = articles[section_of(entity, relation)].text
                assert any(form in text for form in answer_forms(value)), (relation, text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("apple", "an apple"),
        ("university", "a university"),
        ("1872 film", "an 1872 film"),
        ("1943 song", "a 1943 song"),
        ("opera", "an opera"),
        ("one-act play", "a one-act play"),
        ("engraver", "an engraver"),
    ],
)
def test_article(text: str, expected: str) -> None:
    assert article(text) == expected


def test_choices_are_parsed_to_what_they_always_tell() -> None:
    assert parse("{S} was born in {born_in}[| on {born}].").needs == {"born_in"}
    assert parse("[A {x_one}|B {x_one} and {x_two}]").needs == {"x_one"}
    assert parse("a [b [c {deep}|d {deep}]|e {deep}] f").needs == {"deep"}


# ---- questions


def assert_gold_is_sound(benchmark: Benchmark) -> None:
    for question in benchmark.questions:
        assert question.answers, question
        assert (
            question.text.endswith("?")
            and question.text[0].isupper()
            and not re.search(r"[{}|]|  |\b(\w+) \1\b", question.text)
        )
        if not question.answerable:
            assert (question.gold, question.hops, question.kind) == ((), None, "unanswerable")
            continue
        texts = [benchmark.passages.by_id(gold).content for gold in question.gold]
        assert question.hops == len(set(question.gold)) == len(question.gold)
        if question.kind != "yes_no":
            assert any(question.answers[0] in text for text in texts), question
        else:
            assert question.answers in (("yes",), ("no",))


def test_gold_is_sound() -> None:
    for benchmark in (_made(), _made(100, 40), _made(5000, 300)):
        assert_gold_is_sound(benchmark)


def test_default_mix() -> None:
    benchmark = _made()
    kinds = Counter(question.kind for question in benchmark.questions)
    assert kinds == {"single": 70, "bridge": 88, "intersection": 6, "comparison": 16, "yes_no": 10, "unanswerable": 10}
    assert Counter(q.hops for q in benchmark.questions if q.kind == "bridge") == {2: 54, 3: 24, 4: 10}
    assert sum(MIX.values()) == pytest.approx(1)


def test_kinds_are_not_in_blocks() -> None:
    kinds = [question.kind for question in _made().questions]
    assert sum(one != other for one, other in itertools.pairwise(kinds)) > 80
    categories = [passage.category for passage in _made().passages]
    assert sum(one != other for one, other in itertools.pairwise(categories)) > 400


def test_no_other_passage_gives_a_chain_away() -> None:
    # by text alone: no passage outside the gold names the question's entity by its title together with the answer,
    # and only one of the gold passages may do so when it is the only one
    benchmark = _made(600, 200, 4)
    for question in benchmark.questions:
        if question.kind not in ("single", "bridge"):
            continue
        start = benchmark.passages.by_id(question.gold[0]).title
        if start not in question.text:  # told apart from a namesake, or named by another name
            continue
        allowed = set(question.gold) if question.hops == 1 else set()
        for passage in benchmark.passages:
            both = start in passage.content and any(
                re.search(rf"(?<!\w){re.escape(form)}(?!\w)", passage.content)
                for form in (start, *question.answers)
                if form in passage.content and form != start
            )
            assert not both or passage.id in allowed, (question, passage)


def test_comparisons_are_right() -> None:
    world = build_world(category_sizes(600, 1, 0), 0)
    population = {e.name: e.facts["population"] for e in world.entities if e.kind == "town" and "population" in e.facts}
    seen = 0
    for seed_free in _made(600, 1500).questions:
        found = re.match(r"Which town has (more|fewer) inhabitants, (.+) or (.+)\?", seed_free.text)
        if found:
            sizes = [population[name.removeprefix("the town of ")] for name in found.groups()[1:]]
            amounts = [size.amount for size in sizes if isinstance(size, Quantity)]
            best = (max if found[1] == "more" else min)(amounts)
            assert found.groups()[1 + amounts.index(best)].removeprefix("the town of ") == seed_free.answers[0]
            seen += 1
    assert seen >= 3


def test_yes_and_no_are_balanced() -> None:
    answers = Counter(q.answers[0] for q in _made(5000, 2000).questions if q.kind == "yes_no")
    assert answers["yes"] + answers["no"] >= 90
    assert 0.3 < answers["yes"] / (answers["yes"] + answers["no"]) < 0.7


def test_what_is_unanswerable_is_a_relation_that_others_have() -> None:
    world = build_world(category_sizes(4000, 1, 3), 12)
    for kind, relations in MISSING.items():
        for relation in relations:
            having = [entity for entity in world.entities if entity.kind == kind and entity.sections]
            assert 0 < sum(relation in entity.facts for entity in having) < len(having), (kind, relation)


def test_every_entity_relation_can_be_asked_for() -> None:
    world = build_world(category_sizes(3000, 1, 0), 0)
    relations = {(entity.kind, relation) for entity in world.entities for relation in entity.facts}
    asked = {relation for _, relation in relations if relation in ASK} | {key.partition(".")[2] for key in ASK}
    assert {relation for _, relation in relations} - asked <= UNTOLD | {"aka", "party_one", "party_two", "fate"}
    targets = {r for e in world.entities for r, value in e.facts.items() if isinstance(value, Entity)}
    assert targets - set(STEP) <= {"party_one", "party_two"}


def test_question_tables_speak_of_relations_that_exist() -> None:
    world = build_world(category_sizes(3000, 1, 0), 0)
    known = {(entity.kind, relation) for entity in world.entities for relation in entity.facts}
    named = [(kind, relation) for kind, relation in (*COMPARE, *COMPARE_MAKERS)]
    named += [(kind, path[0]) for kind, path in SAME] + [(key[0], key[1]) for key in (*INTERSECT, *INVERSE)]
    named += [(kind, relation) for kind, relations in MISSING.items() for relation in relations]
    assert [pair for pair in named if pair not in known] == []


# ---- the world


@pytest.mark.parametrize("seed", [0, 5])
def test_lives_make_sense(seed: int) -> None:
    world = build_world(category_sizes(1500, 1, seed), seed)
    for person in (entity for entity in world.entities if entity.kind == "person"):
        assert 48 <= person.end - person.year <= 91 or person.sections == 2
        for relation in ("mother", "father"):
            parent = person.facts.get(relation)
            if isinstance(parent, Entity):
                assert parent.woman == (relation == "mother")
                assert 21 <= person.year - parent.year <= 37 and parent.end > person.year
                assert person.surname == parent.surname
        spouse = person.facts.get("spouse")
        if isinstance(spouse, Entity):
            assert "spouse" not in spouse.facts and abs(spouse.year - person.year) <= 14
    for work in (
        entity for entity in world.entities if entity.kind in ("novel", "film", "opera", "song", "painting", "treatise")
    ):
        maker = next(work.facts[r] for r in ("author", "director", "composer", "painter_of") if r in work.facts)
        assert isinstance(maker, Entity) and maker.year + 20 < work.year < maker.end


def test_names_with_their_nouns_are_unique() -> None:
    world = build_world(category_sizes(5000, 1, 2), 8)
    labels = Counter((entity.name, entity.noun) for entity in world.entities)
    assert labels.most_common(1)[0][1] == 1
