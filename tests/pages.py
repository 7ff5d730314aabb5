"""HTML pages as the tests read them: a tree of elements that has to nest as elements may."""

from __future__ import annotations

from collections.abc import Iterator
from html.parser import HTMLParser

_VOID = {"meta", "br", "link", "img", "input", "hr"}
_BLOCKS = {
    *("p", "div", "dl", "table", "details", "figure", "ul", "section", "article"),
    *("h1", "h2", "h3", "h4"),
}


class Node:
    """An element, with its texts and the elements in it."""

    def __init__(self, tag: str, attributes: dict[str, str | None]) -> None:
        self.tag, self.attributes = tag, attributes
        self.children: list[Node | str] = []

    @property
    def text(self) -> str:
        """All text within."""
        return "".join(c if isinstance(c, str) else c.text for c in self.children)

    def all(self, tag: str, **attributes: str) -> list[Node]:
        """Return the elements within that have this tag and these attributes (`_` for `-`)."""
        wanted = {name.strip("_").replace("_", "-"): value for name, value in attributes.items()}
        return [
            node
            for node in self.within()
            if node.tag == tag and wanted.items() <= node.attributes.items()
        ]

    def within(self) -> Iterator[Node]:
        """Yield the elements within, each before those in it."""
        for child in self.children:
            if isinstance(child, Node):
                yield child
                yield from child.within()


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open = [Node("", {})]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        inside = [node.tag for node in self.open]
        assert tag not in _BLOCKS or "p" not in inside, f"<{tag}> in a paragraph"
        assert len(dict(attrs)) == len(attrs), f"<{tag}> has an attribute twice"
        node = Node(tag, dict(attrs))
        self.open[-1].children.append(node)
        if tag not in _VOID:
            self.open.append(node)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert "svg" in [node.tag for node in self.open], f"<{tag}/> is for pictures"
        self.open[-1].children.append(Node(tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop().tag == tag, f"</{tag}> closes something else"

    def handle_data(self, data: str) -> None:
        self.open[-1].children.append(data)


def read_page(text: str) -> Node:
    """Return the tree of a page, all of whose elements are closed and whose names are used once."""
    reader = _Reader()
    reader.feed(text)
    reader.close()
    (root,) = reader.open
    names = [node.attributes["id"] for node in root.within() if "id" in node.attributes]
    assert len(names) == len({*names})
    return root
