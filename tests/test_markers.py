"""Markers of all programs have common names."""

import pytest

from mapshelf.model.markers import emoji, is_known, marker


@pytest.mark.parametrize(
    "name",
    [
        *("priority-1", "priority-0", "progress-50", "task-done", "flag-red", "star", "idea"),
        *("face-happy", "arrow-up", "month-12", "weekday-7", "letter-a", "emoji-1f507"),
    ],
)
def test_names_that_programs_may_rely_on(name: str) -> None:
    assert is_known(name)
    assert marker(name, "x") == (name, "x")


@pytest.mark.parametrize(
    "name", ["", "priority-10", "progress-51", "flag-mauve", "emoji-", "other-x"]
)
def test_other_names(name: str) -> None:
    assert not is_known(name)


def test_unknown_markers_keep_their_names() -> None:
    assert marker("", "Urn:Custom Icon 7").name == "other-urn-custom-icon-7"
    assert len(marker("", "x" * 900).name) < 60


def test_emoji_are_named_by_their_code_points() -> None:
    assert emoji("🔇").name == "emoji-1f507"
    assert is_known(emoji("👩‍💻").name)
