"""Pictures of maps: from an outline to SVG and PNG.

``visible_topics`` decides what is shown, ``layout`` where, and ``svg`` and ``png`` draw it.
``thumbnail`` combines them for small pictures.
"""
