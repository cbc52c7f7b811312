"""``python -m benchmarks``: generate catalogues, measure, print the figures and save them."""

import argparse
import shutil
import sys
import tempfile
from collections.abc import Callable, Container, Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Final

import orjson
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from benchmarks import (
    PARTS,
    ageing,
    building,
    catalogue,
    changing,
    costs,
    freshness,
    fuzzing,
    hostile,
    library,
    listing,
    machine,
    nodes,
    processes,
    searching,
    serving,
)
from benchmarks.catalogue import Catalogue
from benchmarks.overload import excess
from benchmarks.overload import measurement as overload

Measurement = Callable[[Catalogue], Iterator[tuple[str, Any]]]

RESULTS: Final = Path(__file__).with_name("results")

console = Console()


def main() -> int:
    """Run the chosen parts at the chosen sizes."""
    given = _arguments()
    try:
        if {"serving", "costs", "freshness", "changing", "hostile", "nodes", "peers"} & set(
            given.parts
        ):
            processes.install_needed()
        if {"nodes", "peers"} & set(given.parts):
            processes.require_group("bench")
    except processes.Missing as missing:
        console.print(f"[red]{missing}[/red]")
        return 1
    results: dict[str, Any] = {
        "date": f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
        "seed": given.seed,
        "machine": machine.described() | machine.tools(),
        "sizes": {},
    }
    for size in given.sizes:
        results["sizes"][str(size)] = _measure(size, given)
        given.output.parent.mkdir(parents=True, exist_ok=True)
        given.output.write_bytes(orjson.dumps(results, option=orjson.OPT_INDENT_2))
    console.print(f"Written to {given.output}")
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "--sizes", type=_numbers, default=[1000, 100_000], help="default: 1000,100000"
    )
    parser.add_argument(
        "--parts", type=lambda text: text.split(","), default=list(PARTS), help="default: all"
    )
    parser.add_argument("--output", type=Path, default=RESULTS / "results.json")
    parser.add_argument("--data", type=Path, default=Path(tempfile.gettempdir(), "mapshelf-bench"))
    parser.add_argument("--seed", type=int, default=catalogue.SEED)
    parser.add_argument("--seconds", type=int, default=5, help="duration of each HTTP load")
    parser.add_argument("--rounds", type=int, default=3, help="how often each load is repeated")
    parser.add_argument("--changing-seconds", type=int, default=60, help="duration of its loads")
    parser.add_argument("--hostile-texts", type=int, default=8000, help="number of queries")
    parser.add_argument("--attacks", type=_names(overload.ATTACKS), help="default: all")
    parser.add_argument("--attack-seconds", type=int, default=15, help="duration of each load")
    parser.add_argument("--excess", type=_names(excess.KINDS), help="default: all")
    parser.add_argument("--excess-seconds", type=int, default=10, help="duration of each load")
    parser.add_argument("--files", type=Path, help="folder of map files that overload also serves")
    parser.add_argument("--fuzzing-requests", type=int, default=100_000, help="number of requests")
    parser.add_argument("--ageing-changes", type=int, default=20_000, help="number of changes")
    parser.add_argument("--peers", type=lambda text: text.split(","), help="default: all")
    parser.add_argument(
        "--keep-snapshot", action="store_true", help="reuse what earlier runs have built"
    )
    return parser.parse_args()


def _names(known: Container[str]) -> Callable[[str], list[str]]:
    def parse(text: str) -> list[str]:
        names = text.split(",")
        unknown = [name for name in names if name not in known]
        if unknown:
            raise argparse.ArgumentTypeError(f"unknown: {', '.join(unknown)}")
        return names

    return parse


def _numbers(text: str) -> list[int]:
    return [int(number) for number in text.split(",")]


def _measure(size: int, given: argparse.Namespace) -> dict[str, Any]:
    console.rule(f"{size:,} maps")
    made = _made(size, given)
    results: dict[str, Any] = {"load_before": machine.load(), "store": made.facts}
    results["full_build"] = _built(made, given)
    measurements: dict[str, Measurement] = {
        "listing": listing.measured,
        "searching": searching.measured,
        "library": library.measured,
        "building": building.measured,
        "serving": lambda chosen: serving.measured(chosen, given.seconds, given.rounds),
        "costs": lambda chosen: costs.measured(chosen, given.seconds, given.rounds),
        "freshness": freshness.measured,
        "hostile": lambda chosen: hostile.measured(chosen, given.hostile_texts),
        "overload": lambda chosen: overload.measured(
            chosen, overload.Scale(given.attack_seconds), given.attacks, given.files
        ),
        "excess": lambda chosen: excess.measured(chosen, given.excess_seconds, given.excess),
        "fuzzing": lambda chosen: fuzzing.measured(chosen, given.fuzzing_requests),
        "changing": lambda chosen: changing.measured(chosen, given.changing_seconds),
        "ageing": lambda chosen: ageing.measured(chosen, given.ageing_changes),
        "nodes": lambda chosen: nodes.measured(chosen, given.seconds, given.rounds),
        "peers": lambda chosen: _peers(chosen, given),
    }
    for name in given.parts:
        results[name] = _part(name, measurements[name], made)
    return results | {"load_after": machine.load()}


def _peers(made: Catalogue, given: argparse.Namespace) -> Iterator[tuple[str, Any]]:
    from benchmarks.peers import comparison  # noqa: PLC0415 - needs the group "bench"

    names = given.peers or comparison.NAMES
    report_progress = partial(console.print, soft_wrap=True, highlight=False)
    return comparison.measured(
        made, given.seconds, report_progress, names, keep=given.keep_snapshot
    )


def _made(size: int, given: argparse.Namespace) -> Catalogue:
    with Progress(console=console) as progress:
        task = progress.add_task("generating the catalogue", total=size)
        for done in catalogue.prepare(size, given.data, given.seed):
            progress.update(task, completed=done)
    return catalogue.prepared(size, given.data, given.seed)


def _built(made: Catalogue, given: argparse.Namespace) -> dict[str, Any]:
    facts_file = made.folder / "build.json"
    if not (given.keep_snapshot and facts_file.exists()):
        with Progress(console=console) as progress:
            task = progress.add_task("building the snapshot", total=made.size)
            facts = building.build(made, lambda done: progress.update(task, completed=done))
        facts_file.write_bytes(orjson.dumps(facts))
    facts = orjson.loads(facts_file.read_bytes())
    console.print("full build", facts)
    return dict(facts)


def _part(name: str, measure: Measurement, made: Catalogue) -> dict[str, Any]:
    """Measure one part, on a copy of the catalogue if the part changes it."""
    if name not in ("building", "freshness", "changing", "ageing", "fuzzing"):
        return _shown(name, measure(made))
    copy = made.folder.with_name(f"{made.folder.name}-copy")
    shutil.rmtree(copy, ignore_errors=True)
    try:
        return _shown(name, measure(made.copied_to(copy)))
    finally:
        shutil.rmtree(copy, ignore_errors=True)


def _shown(name: str, answers: Iterator[tuple[str, Any]]) -> dict[str, Any]:
    """Collect the figures, show progress meanwhile, and print a table at the end."""
    results: dict[str, Any] = {}
    with console.status(f"{name} …") as status:
        for question, answer in answers:
            results[question] = answer
            status.update(f"{name}: {question} done …")
    table = Table("what", "figures", title=name, title_justify="left")
    for question, answer in results.items():
        table.add_row(question, _formatted(answer))
    console.print(table)
    return results


def _formatted(answer: Any) -> str:
    if isinstance(answer, dict):
        plain = ((name, value) for name, value in answer.items() if not isinstance(value, dict))
        return "  ".join(f"{name} {value}" for name, value in plain)
    return str(answer)


if __name__ == "__main__":
    sys.exit(main())
