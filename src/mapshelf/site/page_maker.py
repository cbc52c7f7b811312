"""Hold the dependencies shared by all pages: URLs, static files, templates and error pages."""

from mapshelf.site.addresses import Addresses
from mapshelf.site.assets import load_assets
from mapshelf.site.error_pages import ErrorPages
from mapshelf.site.responses import Templates


class PageMaker:
    """The shared dependencies of the pages of one application.

    Attributes:
        addresses: builds URLs.
        assets: the static files that pages load.
        common: the variables of all templates.
        templates: the templates.
        errors: the error pages.
    """

    def __init__(self, base_url: str) -> None:
        """Create the dependencies; each template is loaded when it is first used."""
        self.addresses = Addresses(base_url)
        self.assets = load_assets()
        root = self.addresses.root
        self.common = {"root": root, "static": f"{root}/static/{self.assets.edition}"}
        self.templates = Templates(self.common)
        self.errors = ErrorPages(self.templates)
