"""What kind of answer questions ask for."""

import pytest

from psi.agent.expected_type import expected_type, fits, is_whole_date, is_yes_no, options


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("When did the mother of Ann Lee die?", "date"),
        ("when did they open", "date"),
        ("In which year was the bridge opened?", "year"),
        ("What is the date of birth of Ann Lee?", "date"),
        ("How many islands has Lake Orrin?", "number"),
        ("What is the population of Dorn?", "number"),
        ("Who sang the song How Many Roads?", "name"),
        ("Where was the man who died when the mine closed born?", "name"),
        ("In what city was she born?", "name"),
        ("What is Ann Lee's occupation?", "role"),
        ("What song did the band play when it sank?", "thing"),
        ("What rank had the officer?", "any"),
        ("Name the river.", "any"),
    ],
)
def test_the_first_question_word_decides(question: str, kind: str) -> None:
    assert expected_type(question) == kind


@pytest.mark.parametrize(
    ("span", "kind", "right"),
    [
        ("3 May 1971", "date", True), ("May", "date", True), ("19th century", "date", True), ("Oslo", "date", False),
        ("1971", "year", True), ("May 1971", "year", False),
        ("two tracks", "number", True), ("412 metres", "number", True), ("tracks", "number", False),
        ("Oslo", "name", True), ("Łódź", "name", True), ("北京", "name", True), ('"Oslo"', "name", True),
        ("a town", "name", False), ("May 1971", "name", False), ("1971", "name", False),
        ("film director", "role", True), ("Paul Renner", "role", False),
        ("drama film", "thing", True), ("3 May 1971", "thing", False), ("1950s", "thing", False),
        ("1950s", "any", True),
    ],
)  # fmt: skip
def test_spans_fit_their_kind(span: str, kind: str, right: bool) -> None:
    assert fits(span, kind) is right  # type: ignore[arg-type]


def test_whole_dates_have_a_month_and_a_year() -> None:
    assert [span for span in ("3 May 1971", "May 1971", "May 3, 1971", "1971", "3 May") if is_whole_date(span)] == [
        "3 May 1971",
        "May 1971",
        "May 3, 1971",
    ]


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Who is younger, Ann Lee or Tom de Vries?", ("Ann Lee", "Tom de Vries")),
        ("Which is older, Love, Honor And Hope or Safe (2012 Film)? ", ("Love, Honor And Hope", "Safe (2012 Film)")),
        ("Which came first, Now Or Never: A Life or The Sea?", ("Now Or Never: A Life", "The Sea")),
        ("Was Ann of Hesse-Kassel or Tom Novak born first?", ("Ann of Hesse-Kassel", "Tom Novak")),
        ("Who was born first out of Ann Lee and Tom Novak?", ("Ann Lee", "Tom Novak")),
        ("Which band was formed first The Exits or Blue Circus ?", ("The Exits", "Blue Circus")),
    ],
)  # fmt: skip
def test_two_names_are_offered(question: str, names: tuple[str, str]) -> None:
    assert options(question) == names
    assert not is_yes_no(question)


@pytest.mark.parametrize(
    "question",
    ["Who directed the film that was shot in or around Dorn?", "who played lead on 25 or 6 to 4", "Where is Dorn?"],
)
def test_no_choice_is_offered(question: str) -> None:
    assert options(question) is None


def test_yes_or_no() -> None:
    assert is_yes_no("Are Ann Lee and Tom Novak of the same nationality?")
    assert is_yes_no("did Ann know Tom")
    assert not is_yes_no("is Dorn in Sarn or in Velden")
    assert not is_yes_no("Island of which country?")
