"""What imports did not take, and why."""

from dataclasses import dataclass
from enum import StrEnum


class RefusalKind(StrEnum):
    """Whether a file should have been a map, or only might have been."""

    REFUSED = "refused"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class Refusal:
    """A file that an import did not take.

    Attributes:
        path: its path as it is shown.
        reason: why, in a line.
        kind: see ``RefusalKind``.
        modified: its modification time in nanoseconds, 0 if that is not known.
    """

    path: str
    reason: str
    kind: RefusalKind
    modified: int = 0


@dataclass(frozen=True, slots=True)
class NotedRefusal:
    """A file that an import did not take, as the store remembers it.

    Attributes:
        digest: stands for the path in forms.
        path: see ``Refusal``.
        reason: see ``Refusal``.
        noted: when it was noted, in milliseconds since 1970-01-01 UTC.
    """

    digest: bytes
    path: str
    reason: str
    noted: int
