"""Render maps: from an outline to SVG, PNG and PDF.

``visible_topics`` selects topics, ``layout`` places them, and ``svg`` and ``png`` draw them.
``thumbnail`` combines these steps for small images, and ``map_drawing`` for whole maps.
"""
