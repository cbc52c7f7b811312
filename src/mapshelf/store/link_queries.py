"""SQL that both databases share, to find links between maps."""


def within_characters(links: str) -> str:
    """Return a statement for the first of ``links`` that have some number of characters together.

    Ten thousand links may have 160 MB, if their authors intend that. The statement has a ``?`` for
    the number, and returns the columns of ``LinkOfMap``.

    Args:
        links: a statement for these columns and the number of each link in its map.
    """
    return (
        "SELECT file_id, id, topic, target FROM (SELECT one.*, sum(length(topic) + length(target))"
        f" OVER (ORDER BY file_id, number) AS characters FROM ({links}) AS one) AS counted"
        " WHERE characters <= ? ORDER BY file_id, number"
    )
