"""Build the route table of all pages, with their access rules.

Catalogue pages are public and the same for everyone, except for additions for signed-in users. In a
private catalogue they require signing in. Requests of programs and scripts without a session are
then refused as in the API. The API reference contains no catalogue data and is always public.

Errors are shown as pages. In a public catalogue, other origins may read the data for programs
(CORS), but no pages.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from mapshelf.accounts.relying_party import relying_party
from mapshelf.api.context import Context
from mapshelf.api.routes import Operation, Route
from mapshelf.settings import Budget, Settings
from mapshelf.site.account import AccountPages
from mapshelf.site.bulk_actions import BulkActionPages
from mapshelf.site.collection_pages import CollectionPages
from mapshelf.site.collection_reports import CollectionReportPages
from mapshelf.site.comparing import AT as COMPARISON
from mapshelf.site.comparing import ComparisonPages
from mapshelf.site.data_export import DataExportPages
from mapshelf.site.feed_addresses import FeedAddressPage
from mapshelf.site.find_in_map import AT as FINDING
from mapshelf.site.find_in_map import FindInMapPages
from mapshelf.site.folder_page import FolderPages
from mapshelf.site.import_banner import ImportBanner
from mapshelf.site.map_actions import MapActionPages
from mapshelf.site.oauth_programs import ProgramPages
from mapshelf.site.own_collections import OwnCollectionPages
from mapshelf.site.own_maps import OwnMapsPages
from mapshelf.site.page_resources import PageResources
from mapshelf.site.pages import Pages
from mapshelf.site.personal import Paths, Personal
from mapshelf.site.pinned import PinnedCollections
from mapshelf.site.private import (
    Answer,
    for_everybody,
    for_feed_readers,
    for_people,
    for_scripts,
)
from mapshelf.site.publishing import PublishPages
from mapshelf.site.refused_files import RefusedFilePages
from mapshelf.site.reports import ReportPages
from mapshelf.site.saved_search_feeds import SavedSearchFeeds
from mapshelf.site.saved_searches import SavedSearchPages
from mapshelf.site.shared_topics import AT as SHARED_TOPICS
from mapshelf.site.shared_topics import SharedTopicPages
from mapshelf.site.sign_in import SignInPages
from mapshelf.site.signed_in import for_signed_in
from mapshelf.site.tag_names import TagNamesPage
from mapshelf.site.twins import DuplicatePages

FOR_PROGRAMS: Final = (
    "/feed.atom",
    "/collected/{id}/feed.atom",
    "/saved/{id}/feed.atom",
    "/oembed",
    "/site/maps/{id}.json",
    "/static/{edition}/{asset}",
)
"""Paths that other origins may read in a public catalogue (CORS).

Programs load them, and so do embedded maps in sandboxed frames on other sites.
"""

BUDGETS: Final = {
    "/static/{edition}/{asset}": Budget.PICTURES,
    f"{COMPARISON}.svg": Budget.PICTURES,
}
"""The rate limit budgets of paths that are not pages; all other paths use ``Budget.PAGES``."""


def site_routes(context: Context) -> Mapping[str, Route]:
    """Return the routes of all pages."""
    resources = PageResources(context.settings.base_url)
    context.preparations.append(resources.templates.load)
    collections = CollectionPages(context, resources)
    searches = SavedSearchFeeds(context, resources)
    pages = Pages(context, resources, collections)
    personal = Personal(context, resources)
    import_banner = ImportBanner(context, resources)
    comparison = ComparisonPages(context, resources)
    pinned = PinnedCollections(context, resources)
    map_actions = MapActionPages(personal)
    bulk = BulkActionPages(personal)
    signed_in = partial(for_signed_in, addresses=resources.addresses)
    route = partial(Route, scope=None, error_page=resources.errors.page, budget=Budget.PAGES)
    to_people: Callable[[Answer], Operation] = for_everybody
    to_scripts: Callable[[Answer], Operation] = for_everybody
    if context.settings.private:
        to_people, to_scripts = partial(for_people, addresses=resources.addresses), for_scripts
    table: dict[str, Operation] = {
        "/": signed_in(import_banner.shown(pinned.shown(to_people(pages.library)))),
        "/owners/{name}": signed_in(import_banner.shown(to_people(pages.library))),
        "/categories/{name}": signed_in(import_banner.shown(to_people(pages.library))),
        "/browse/folders": signed_in(to_people(FolderPages(context, resources).page)),
        "/browse/tags": signed_in(to_people(pages.tags)),
        "/collected": signed_in(to_people(collections.list)),
        "/collected/{id}": to_people(collections.collection),
        "/collected/{id}/feed.atom": to_scripts(collections.feed),
        "/collected/{id}/{slug}": signed_in(to_people(collections.collection)),
        "/download": to_people(bulk.download),
        "/mindmaps/{id}": to_people(pages.map),
        "/mindmaps/{id}/{slug}.{format}": to_people(pages.outline),
        "/mindmaps/{id}/{slug}/original": to_people(pages.original),
        COMPARISON: signed_in(to_people(comparison.page)),
        FINDING: signed_in(to_people(FindInMapPages(context, resources).page)),
        SHARED_TOPICS: signed_in(to_people(SharedTopicPages(context, resources).page)),
        f"{COMPARISON}.svg": to_scripts(comparison.drawing),
        "/mindmaps/{id}/{slug}": signed_in(to_people(pages.map), make_part=map_actions.part),
        "/feed.atom": to_scripts(pages.feed),
        "/saved/{id}/feed.atom": to_scripts(searches.feed),
        "/feeds/{secret}.atom": for_feed_readers(pages.own_feed),
        "/feeds/{secret}/collected/{id}.atom": for_feed_readers(collections.own_feed),
        "/feeds/{secret}/saved/{id}.atom": for_feed_readers(searches.own_feed),
        "/oembed": to_scripts(pages.oembed),
        "/site/search": pinned.shown(to_scripts(pages.results)),
        "/site/imports": to_scripts(import_banner.show_status),
        "/site/maps/{id}.json": to_scripts(pages.map_data),
        "/docs": for_everybody(pages.reference),
        "/static/{edition}/{asset}": for_everybody(pages.asset),
    }
    sign_in = SignInPages(personal)
    ways, others = _other_ways_in(context.settings, personal, sign_in)
    table.update(ways)
    about_people = {
        **sign_in.paths(),
        **others,
        **AccountPages(personal).paths(),
        **FeedAddressPage(personal).paths(),
        **ProgramPages(personal).paths(),
        **ReportPages(personal).paths(),
        **CollectionReportPages(personal).paths(),
        **RefusedFilePages(personal, import_banner).paths(),
        **TagNamesPage(personal).paths(),
        **DuplicatePages(personal).paths(),
        **DataExportPages(personal).paths(),
        **PublishPages(personal).paths(),
        **OwnMapsPages(personal).paths(),
        **SavedSearchPages(personal).paths(),
        **OwnCollectionPages(personal, pinned).paths(),
        **bulk.paths(),
        **map_actions.paths(),
    }

    def shared(path: str) -> bool:
        return path in FOR_PROGRAMS and not context.settings.private

    return {
        **{
            path: route(operation, shared=shared(path), budget=BUDGETS.get(path, Budget.PAGES))
            for path, operation in table.items()
        },
        **{
            path: route(show, POST=act, shared=False) if act else route(show, shared=False)
            for path, (show, act) in about_people.items()
        },
    }


def _other_ways_in(
    settings: Settings, personal: Personal, sign_in: SignInPages
) -> tuple[Mapping[str, Operation], Paths]:
    """Return the handlers of other ways to sign in: with a provider, and with passkeys.

    The first result leads to the provider and back; the second has the pages with forms. Modules
    of unavailable ways are not imported, which would take a quarter of a worker's start time.
    """
    ways: Mapping[str, Operation] = {}
    paths: Paths = {}
    party = relying_party(settings.base_url)
    if party:
        from mapshelf.site.passkeys import PasskeyPages  # noqa: PLC0415

        paths = {**paths, **PasskeyPages(personal, sign_in, party).paths()}
    if settings.provider:
        from mapshelf.site.providers import ProviderPages  # noqa: PLC0415

        by_provider = ProviderPages(personal, sign_in, settings.provider)
        ways = by_provider.ways()
        paths = {**paths, **by_provider.paths()}
    return ways, paths
