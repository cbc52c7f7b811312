"""The form of a noun after a number, for messages of the log, the command line and the API.

Pages choose between messages instead (``site/messages``), so that they can be translated.
"""


def noun(count: float, one: str, many: str = "") -> str:
    """Return ``one`` after the number 1, otherwise ``many``, by default ``one`` with an s."""
    return one if count == 1 else many or f"{one}s"
