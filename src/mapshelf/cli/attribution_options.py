"""The options of ``serve`` and ``import`` for the owner, category and visibility of maps."""

import argparse

from mapshelf.cli.argument_types import category_name, user_name
from mapshelf.importer.attribution import Attribution
from mapshelf.model import Visibility


def add_attribution_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--owner", metavar="NAME", type=user_name, help="owner of the maps")
    parser.add_argument(
        "--category",
        metavar="NAME",
        type=category_name,
        help="category of the maps; default: the name of each map's folder",
    )
    parser.add_argument(
        "--visibility",
        choices=[one.value for one in Visibility if one is not Visibility.REMOVED],
        help="visibility of new maps; default: published",
    )


def attribution_of(given: argparse.Namespace) -> Attribution:
    """Return what the options say."""
    visibility = Visibility(given.visibility) if given.visibility else None
    return Attribution(given.owner, given.category, visibility)
