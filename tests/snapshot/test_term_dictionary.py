"""The nearest words agree with a simple comparison with every word."""

import random
from itertools import permutations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mapshelf.errors import SnapshotDamaged
from mapshelf.snapshot.format import term_dictionary
from mapshelf.snapshot.format.term_dictionary import (
    LONGEST,
    TermDictionary,
    TermDictionaryWriter,
    typos_in,
)

LETTERS = "abcdeäжß"
WORDS = st.text(LETTERS, min_size=1, max_size=12)


def distance(one: str, other: str) -> int:
    """Return the optimal string alignment distance, computed from its definition."""
    rows = [[max(i, j) if not i or not j else 0 for j in range(len(other) + 1)]
            for i in range(len(one) + 1)]  # fmt: skip
    for i in range(1, len(one) + 1):
        for j in range(1, len(other) + 1):
            same = one[i - 1] == other[j - 1]
            rows[i][j] = min(
                rows[i - 1][j] + 1, rows[i][j - 1] + 1, rows[i - 1][j - 1] + (not same)
            )
            if i > 1 and j > 1 and one[i - 2 : i] == other[j - 1] + other[j - 2]:
                rows[i][j] = min(rows[i][j], rows[i - 2][j - 2] + 1)
    return rows[-1][-1]


def test_distance() -> None:
    pairs = [("ab", "ba", 1), ("ca", "abc", 3), ("", "ab", 2), ("kitten", "sitting", 3)]
    assert all(distance(one, other) == far for one, other, far in pairs)


def written(path: Path, words: list[str]) -> TermDictionary:
    path.unlink(missing_ok=True)
    writer = TermDictionaryWriter(path)
    published = path.with_suffix(".published")
    published.unlink(missing_ok=True)
    writer.add(words)
    length, _ = writer.link_to(published)
    writer.close()
    return TermDictionary(published, length)


def mistyped(word: str, chance: random.Random) -> str:
    """Return ``word`` with up to three typos."""
    for _ in range(chance.randrange(4)):
        place = chance.randrange(len(word) + 1)
        before, after, letter = word[:place], word[place:], chance.choice(LETTERS)
        swapped = after[1:2] + after[:1] + after[2:]
        changes = (letter + after, after[1:], letter + after[1:], swapped)
        word = before + chance.choice(changes)
    return word


@given(words=st.lists(WORDS, min_size=1, max_size=60), chance=st.randoms(use_true_random=False))
def test_nearest_words(
    words: list[str], chance: random.Random, tmp_path_factory: pytest.TempPathFactory
) -> None:
    terms = written(tmp_path_factory.getbasetemp() / "words", words)
    known = {word for word in words if len(word) >= 3}
    assert len(terms) == len(known)
    for word in [*words, *(mistyped(word, chance) for word in words)]:
        near = ((distance(word, other), other) for other in known)
        expected = sorted(found for found in near if 0 < found[0] <= typos_in(word))
        assert sorted(terms.nearest(word)) == expected


@pytest.mark.parametrize(
    ("mistyped", "word"),
    [
        ("fotosynthesis", "photosynthesis"),
        ("photosynhtesis", "photosynthesis"),
        ("maap", "map"),
        ("grren", "green"),
        ("планироване", "планирование"),
        ("हिनदी", ""),
        ("東京", ""),
        ("map2", ""),
        ("mpa", ""),
        ("green", ""),
    ],
)
def test_typos(tmp_path: Path, mistyped: str, word: str) -> None:
    known = ["photosynthesis", "map", "green", "планирование", "हिन्दी", "東京都", "map1"]
    found = [other for _, other in written(tmp_path / "words", known).nearest(mistyped)]
    assert found == ([word] if word else [])


def test_some_words_are_not_in_the_dictionary(tmp_path: Path) -> None:
    words = ["ab", "x2y", "e-mail", "", "東京都", "a" * (LONGEST + 1), "ж" * (LONGEST // 2 + 1)]
    assert len(written(tmp_path / "words", words)) == 0
    assert len(written(tmp_path / "words", ["abc", "a" * LONGEST, "ж" * (LONGEST // 2)])) == 3


def test_words_are_stored_once_over_restarts(tmp_path: Path) -> None:
    path = tmp_path / "words"
    writer = TermDictionaryWriter(path)
    published = []
    for number, words in enumerate((["green", "house"], ["house", "water"], ["green"])):
        writer.add(words)
        published.append(writer.link_to(tmp_path / f"published-{number}"))
    assert published[1] == published[2]  # the last publication added nothing
    writer.add(["never", "published"])
    writer.close()

    length, _ = published[2]
    writer = TermDictionaryWriter(path, length)
    writer.add(["green", "water", "never"])
    length, _ = writer.link_to(tmp_path / "after")
    terms = TermDictionary(tmp_path / "after", length)
    assert len(terms) == 4
    assert terms.nearest("nevre") == [(1, "never")]
    assert terms.nearest("publishd") == []
    writer.close()


def test_one_map_adds_a_bounded_number_of_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(term_dictionary, "MOST_FROM_ONE_MAP", 30)
    monkeypatch.setattr(term_dictionary, "MOST_WORDS", 50)
    writer = TermDictionaryWriter(tmp_path / "words")
    words = ["".join(word) for word in permutations("abcde")]
    assert [writer.add(words) for _ in range(3)] == [30, 20, 0]
    length, _ = writer.link_to(tmp_path / "published")
    writer.close()
    dictionary = TermDictionary(tmp_path / "published", length)
    assert len(dictionary) == 50
    initials = {word[0] for one in words for _, word in dictionary.nearest(one)}
    assert initials == set("abcde")  # not the first words in alphabetical order only


def test_few_words_are_compared_with_a_misspelt_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever adds similar words later displaces none of the earlier ones."""
    monkeypatch.setattr(term_dictionary, "MOST_COMPARED", 10)
    path = tmp_path / "words"
    writer = TermDictionaryWriter(path)
    writer.add(["entertainment"])
    similar = random.Random(5)
    writer.add("".join(similar.sample("entertainment", 13)) for _ in range(200))
    writer.add(["entertainmemt"])
    writer.add(["trainers"])
    length, _ = writer.link_to(tmp_path / "published")
    writer.close()
    dictionary = TermDictionary(tmp_path / "published", length)
    assert dictionary.nearest("entertainmnet") == [(1, "entertainment")]
    assert dictionary.nearest("trianers") == [(1, "trainers")]


def test_a_file_that_is_too_short_is_refused(tmp_path: Path) -> None:
    (tmp_path / "words").write_bytes(b"x" * 48)
    with pytest.raises(SnapshotDamaged):
        TermDictionary(tmp_path / "words", 49)
