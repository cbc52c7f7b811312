"""A strict parser for the text format of Prometheus."""

import re
from dataclasses import dataclass, field

SAMPLE = re.compile(r'([a-z_]+)(?:\{((?:[a-z]+="(?:[^"\\\n]|\\[\\"n])*",?)+)\})? (\S+)')
LABEL = re.compile(r'([a-z]+)="((?:[^"\\]|\\.)*)"')

Key = tuple[str, frozenset[tuple[str, str]]]


@dataclass
class Exposed:
    """Samples by name and labels, and the types of metrics."""

    samples: dict[Key, float] = field(default_factory=dict)
    types: dict[str, str] = field(default_factory=dict)

    def value(self, name: str, **labels: str) -> float:
        return self.samples.get((f"mapshelf_{name}", frozenset(labels.items())), 0.0)


def parse(text: str) -> Exposed:
    """Parse a text, in which every line must be valid."""
    found = Exposed()
    current = ""
    assert text.endswith("\n")
    for line in text.splitlines():
        if line.startswith("# HELP "):
            current = line.split(" ")[2]
            assert current not in found.types
            continue
        if line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            assert name == current
            found.types[name] = kind
            continue
        matched = SAMPLE.fullmatch(line)
        assert matched, line
        name, labels, value = matched.groups()
        suffix = name.removeprefix(current)
        assert suffix in {"", "_bucket", "_sum", "_count"}, line
        key = name, frozenset(LABEL.findall(labels or ""))
        assert key not in found.samples, line
        found.samples[key] = float(value)
    return found
