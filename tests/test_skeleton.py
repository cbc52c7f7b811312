"""What names look like."""

import random
import unicodedata
from hashlib import sha256
from importlib.resources import files

import pytest

from mapshelf.model import name_key
from mapshelf.text import skeleton as module
from mapshelf.text.skeleton import name_in_ascii, skeleton

DATA = "2d8b4774cd9dc6f233a18681bc00423ae270037437f276fc6a8b80630941fe7d"
STORED = "0486ef30a2ac2f3e3e6309eceb9abd84ea374c1b10a3b90bbd3671b87e35d9cf"

ALIKE = [
    ("bob.smith", "bob\u2024smith"),
    ("bob.smith", "bob\ufe52smith"),
    ("ann-lee", "ann\u2010lee"),
    ("ann-lee", "ann\u2011lee"),
    ("a.smith", "\u0430.smith"),  # Cyrillic
    ("j. doe", "\u0458. doe"),
    ("x-y_z", "\u0445-y_z"),
    ("coco", "\u0441\u043e\u0441\u043e"),
    ("\u0441\u043e\u0441\u043e", "\u03f2\u03bf\u03f2\u03bf"),  # Cyrillic and Greek
    ("ANN", "\ua4ee\ua4e0\ua4e0"),  # Lisu
    ("ann", "\ua4ee\ua4e0\ua4e0"),
    ("BOB", "B\u2d54B"),  # Tifinagh
    ("max", "\u039c\u0391\u03a7"),  # Greek
    ("modern", "modem"),
    ("lan", "Ian"),
    ("bob1", "bobl"),
    ("leo0", "leoO"),
    ("ann", "an\u034fn"),
    ("Jos\u00e9", "JOSE\u0301"),
    ("vic", "v\u0131c"),
    ("vic", "vi\u0307c"),
    ("vic", "\u1d20\u0269c"),
    ("o'neil", "o\u2019neil"),
    ("B\u1ea3o", "B\u1e9ao"),  # a hook above, and the right half of a ring
    ("b\u1ea3o", "BA\u0309O"),
    ("\u1ff6", "\u13ef"),  # Greek and Cherokee
    ("bob", "bo\ufffcb"),
    ("bob", "bob\U00016fe4"),
    ("bob", "\U0001d159bob"),
]

DIFFERENT = [
    ("ann", "anna"),
    ("user1", "user2"),
    ("user10", "user11"),
    ("Jose", "Jos\u00e9"),
    ("\u0414\u0438\u043c\u0430", "\u041d\u0438\u043d\u0430"),
    ("\u674e\u96f7", "\u738b\u4f1f"),
    ("ann lee", "annlee"),
    ("a-b", "a_b"),
    ("b\u1ea3o", "bao"),
    ("\u0439", "\u045d"),  # with a breve, and with a grave accent
]


@pytest.mark.parametrize(("one", "other"), ALIKE)
def test_names_that_look_alike_have_one_skeleton(one: str, other: str) -> None:
    assert skeleton(one) == skeleton(other)


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_other_names_have_different_skeletons(one: str, other: str) -> None:
    assert skeleton(one) != skeleton(other)


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("v\u0130c", "vic"),
        ("\u039d\u0399\u039a\u039f", "niko"),  # Greek capitals: no l
        ("\u0406\u0430\u043d", "ia\u043d"),  # Cyrillic
        ("Ian", "ian"),
        ("BOB\ufe52SMITH", "bob.smith"),
        ("modern", "modern"),
        ("Jos\u00e9", "jos\u00e9"),
    ],
)
def test_names_in_ascii(name: str, plain: str) -> None:
    assert name_in_ascii(name) == plain


def test_the_unicode_form_of_a_name_does_not_matter() -> None:
    chosen = random.Random(5)
    letters = [chr(code) for code in range(0x21, 0x1_0000) if chr(code).isprintable()]
    for _ in range(3000):
        name = "".join(chosen.choices(letters, k=4))
        looks = skeleton(name)
        assert unicodedata.normalize("NFD", looks) == looks
        assert skeleton(unicodedata.normalize("NFC", name)) == looks


def test_stored_skeletons_are_still_valid() -> None:
    """Whoever changes what they depend on has to compute those of all users again: a migration."""
    data = files("confusable_homoglyphs").joinpath("confusables.json").read_bytes()
    assert sha256(data).hexdigest() == DATA
    codes = (*range(0x20, 0x530), *range(0x1E00, 0x2000))
    letters = [chr(code) for code in codes if chr(code).isprintable()]
    stored = "\n".join((module.INVISIBLE.pattern, *map(skeleton, letters)))
    assert sha256(stored.encode()).hexdigest() == STORED


def test_ascii_alone_is_its_own_ascii() -> None:
    for code in range(0x20, 0x7F):
        assert name_in_ascii(f"a{chr(code)}b") == name_key(f"a{chr(code)}b")
    assert module.name_in_ascii("") == ""
