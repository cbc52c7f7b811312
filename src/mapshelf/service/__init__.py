"""The processes of ``mapshelf serve``: one that builds, one that answers, one over both."""
