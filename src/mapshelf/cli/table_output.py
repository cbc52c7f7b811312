"""Tables on standard output: people can read them, and programs can split them at the tabs."""


def print_row(*values: object) -> None:
    """Print values as one line, separated by tabs; ``None`` is an empty field."""
    print("\t".join("" if value is None else str(value) for value in values))
