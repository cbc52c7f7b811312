"""How much there is of what operators watch: numbers alone, no names."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Figures:
    """How much is in a store that no other question answers.

    Attributes:
        sessions: sessions that have not ended.
        outdated: maps that an older version read, and that are still to be read anew.
    """

    sessions: int
    outdated: int
