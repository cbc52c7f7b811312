"""Operating figures for monitoring: anonymous counts only."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Figures:
    """Counts from the store that no other query provides.

    Attributes:
        sessions: active sessions.
        outdated: maps parsed by an older version and not yet parsed again.
    """

    sessions: int
    outdated: int
