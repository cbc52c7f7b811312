"""When a catalogue is another than the one that was seen."""

import pytest

from mapshelf.store.divergence import MARKS_KEPT, Point, has_diverged

SEEN = Point(7, "catalogue b")


@pytest.mark.parametrize(
    ("now", "has_leapt", "expected"),
    [
        (Point(7, "catalogue b"), False, False),
        (Point(9, "catalogue b"), False, False),
        (Point(9, "catalogue c"), False, True),
        (Point(6, "catalogue "), False, True),
        (Point(6, "catalogue "), True, False),
        (Point(9, "catalogue c"), True, False),
        (Point(9, "another b"), True, True),
        (Point(6 + MARKS_KEPT, "catalogue c"), False, True),
        (Point(7 + MARKS_KEPT, "catalogue c"), False, False),
    ],
    ids=[
        "the same",
        "later",
        "a copy with other changes",
        "a copy with fewer changes",
        "another server, before its first change",
        "another server, after it",
        "another catalogue",
        "a copy with many other changes",
        "too late to tell",
    ],
)
def test_a_catalogue_has_diverged(now: Point, has_leapt: bool, expected: bool) -> None:
    assert has_diverged(SEEN, now, has_leapt=has_leapt) is expected
