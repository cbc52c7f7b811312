"""What an operator says of all maps of an import.

It is here by itself so that a command can take it without loading what reads files.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Attribution:
    """Owner and category that the operator gives to all maps of an import, or ``None``."""

    owner: str | None = None
    category: str | None = None
