"""Read JSON and property lists whose structure may be anything."""

from collections.abc import Callable, Iterable, Iterator

Node = dict[str, object]


def objects(value: object) -> list[Node]:
    """Return the objects in a list, or none if it is not a list."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def strings(value: object) -> list[str]:
    """Return the strings in a list, or none if it is not a list."""
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def part(value: object, *names: str) -> object:
    """Return the value at the path ``names`` through objects, None if there is none."""
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def string(value: object, *names: str) -> str:
    """Return the string at the path ``names``, empty if there is none."""
    found = part(value, *names)
    return found if isinstance(found, str) else ""


def nodes_in(roots: Iterable[Node], children: Callable[[Node], Iterable[Node]]) -> Iterator[Node]:
    """Yield all nodes of trees, without recursion."""
    pending = list(roots)
    while pending:
        node = pending.pop()
        yield node
        pending.extend(children(node))
