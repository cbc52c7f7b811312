"""Render maps: from an outline to SVG, PNG and PDF.

``visible_topics`` selects topics, ``layout`` places them, and ``drawing`` draws them as SVG, which
``png`` and ``pdf`` convert. ``thumbnail`` combines these steps for small images, and
``map_drawing`` for whole maps.
"""
