"""Pictures of maps: from an outline to SVG and PNG.

``branches`` decides what is shown, ``layout`` where it lies, ``svg`` and ``png`` draw it.
``thumbnail`` puts them together for small pictures.
"""
