"""Pictures of flows: as text for Graphviz and Mermaid, as SVG and as PNG."""

from flowengine.render.dot import Direction, to_dot
from flowengine.render.image import to_png, to_svg
from flowengine.render.mermaid import to_mermaid
from flowengine.render.picture import picture_of
from flowengine.render.progress import RenderError
from flowengine.render.shapes import Edge, Group, Node, Picture

__all__ = [
    "Direction",
    "Edge",
    "Group",
    "Node",
    "Picture",
    "RenderError",
    "picture_of",
    "to_dot",
    "to_mermaid",
    "to_png",
    "to_svg",
]
