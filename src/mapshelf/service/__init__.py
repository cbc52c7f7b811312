"""The processes of ``mapshelf serve``: a supervisor, a builder, a web server and an importer."""
