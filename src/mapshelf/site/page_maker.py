"""The dependencies shared by all pages: URLs, static files, templates and error pages."""

from mapshelf.site.addresses import Addresses
from mapshelf.site.assets import load_assets
from mapshelf.site.error_pages import ErrorPages
from mapshelf.site.responses import Templates


class PageMaker:
    """Makes the pages of one application.

    Attributes:
        addresses: the addresses on pages.
        assets: the files that pages load.
        common: the variables of all templates.
        templates: the templates.
        errors: the pages for errors.
    """

    def __init__(self, base_url: str) -> None:
        """Prepare; templates are loaded when they are needed first."""
        self.addresses = Addresses(base_url)
        self.assets = load_assets()
        root = self.addresses.root
        self.common = {"root": root, "static": f"{root}/static/{self.assets.edition}"}
        self.templates = Templates(self.common)
        self.errors = ErrorPages(self.templates)
