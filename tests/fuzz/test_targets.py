"""The fuzz targets: each reads its seeds, and keeps its guarantees for some mutated inputs."""

import random

import pytest

from mapshelf.readers import READERS, Limits, Reader
from mapshelf.readers.parsing.content import Content
from tests.examples import examples
from tests.fuzz import targets

pytestmark = pytest.mark.slow

by_reader = pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.name)


def scrambled(dice: random.Random, data: bytes, size: int) -> bytes:
    """Return ``data`` with a few pieces cut, repeated or overwritten."""
    changed = bytearray(data)
    for _ in range(dice.randint(1, 6)):
        start = dice.randint(0, len(changed))
        end = start + dice.randint(0, 40)
        piece = dice.choice([b"", changed[start:end] * 3, dice.randbytes(4), b"<", b"\0", b"{"])
        changed[start:end] = piece
    return bytes(changed[:size])


@by_reader
def test_seeds_are_read(reader: Reader) -> None:
    seeds = targets.seeds(reader)
    assert seeds
    assert all(targets.check(reader, seed) for seed in seeds)


@by_reader
def test_guarantees_hold_for_mutated_seeds(reader: Reader) -> None:
    dice = random.Random(reader.name)
    seeds = targets.seeds(reader)
    for number in range(examples(300)):
        data = targets.mutated(
            dice.choice(seeds), 1 << 16, number, lambda data, size: scrambled(dice, data, size)
        )
        targets.check(reader, data)


def test_mutations_change_members_of_archives() -> None:
    reader = targets.reader_named("XMind")
    seed = targets.seeds(reader)[0]
    changed = targets.mutated(seed, 1 << 16, 1, lambda data, _: data + b" ")
    before, after = (Content(data, Limits()).archive for data in (seed, changed))
    assert before is not None
    assert after is not None
    assert before.names == after.names
    differing = [name for name in before.names if before.read(name) != after.read(name)]
    assert len(differing) == 1
    assert after.read(differing[0]) == before.read(differing[0]) + b" "


def test_broken_guarantees_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: Content) -> bool:
        raise KeyError("a bug")

    with pytest.raises(KeyError):
        targets.check(Reader("broken", (".x",), fail, READERS[0].read), b"")
    monkeypatch.setattr(targets, "LONGEST", -1.0)
    with pytest.raises(targets.Slow):
        targets.check(targets.reader_named("XMind"), b"")
