"""Only texts in which no word has one of the initials are ruled out."""

import pytest

from mapshelf.search.initial_test import InitialTest


@pytest.mark.parametrize(
    "text",
    [
        *("plan", "Plan", "a.plan", "my-plan", "x_plan", "myPlan", "HTMLPlan", "2plan", "(plan)"),
        *("…plan", "\u201cPlan\u201d", "été-plan", "мой-plan", "東京plan", "\uff50lan", "ﬁplan"),
        *("7", "v7", "a-7", "x7y", "Plan7"),
    ],
)
def test_words_with_an_initial_are_not_ruled_out(text: str) -> None:
    assert not InitialTest({"p", "7"}).excludes(text)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            "apple",
            "stop",
            "27",
            "a1b2",
            "(stop)",
            "Stop",
            "e.g.",
            "été",
            "東京",
            "\u201cx\u201d",
        ),
        "желание",
    ],
)
def test_texts_without_an_initial_are_ruled_out(text: str) -> None:
    assert InitialTest({"p", "7"}).excludes(text)


def test_nothing_is_ruled_out_in_scripts_whose_stems_may_begin_differently() -> None:
    assert not InitialTest({"p"}).excludes("والكتاب")


@pytest.mark.parametrize("initials", [set(), {""}, {"京"}])
def test_initials_may_be_missing_or_in_another_script(initials: set[str]) -> None:
    assert InitialTest(initials).excludes("Plan")


def test_initials_in_other_scripts_are_found() -> None:
    assert not InitialTest({"京"}).excludes("東京都")
    assert not InitialTest({"п"}).excludes("План")
