"""Reading a page back: its elements, tables and charts, as a browser would."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = frozenset(("meta", "link", "br", "hr", "img", "input", "image"))


@dataclass
class Element:
    """An element with what is in it."""

    tag: str
    attributes: dict[str, str]
    children: list[Element | str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """All text in it, with single spaces."""
        parts = (c if isinstance(c, str) else c.text for c in self.children)
        return " ".join(" ".join(parts).split())

    def all(self, tag: str) -> list[Element]:
        """Every element of a tag in it."""
        return [element for element in self.walk() if element.tag == tag]

    def walk(self) -> Iterator[Element]:
        """Yield itself and all elements in it, in reading order."""
        yield self
        for child in self.children:
            if isinstance(child, Element):
                yield from child.walk()

    def by_id(self, name: str) -> Element:
        """The one element of an id."""
        (found,) = (e for e in self.walk() if e.attributes.get("id") == name)
        return found

    def has(self, name: str) -> bool:
        """Whether there is an element of an id."""
        return any(e.attributes.get("id") == name for e in self.walk())

    def rows(self) -> list[list[str]]:
        """The cells of all table rows in it, as text."""
        return [
            [
                cell.text
                for cell in row.children
                if isinstance(cell, Element) and cell.tag in ("th", "td")
            ]
            for row in self.all("tr")
        ]


class _Reader(HTMLParser):
    """Builds the tree, and refuses what does not close."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root = Element("", {})
        self.open = [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, {key: value or "" for key, value in attrs})
        self.open[-1].children.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, {key: value or "" for key, value in attrs})
        self.open[-1].children.append(element)

    def handle_endtag(self, tag: str) -> None:
        closed = self.open.pop()
        assert closed.tag == tag, f"</{tag}> closes <{closed.tag}>"

    def handle_data(self, data: str) -> None:
        self.open[-1].children.append(data)


def read_page(text: str) -> Element:
    """The page as a tree; every element has to be closed."""
    reader = _Reader()
    reader.feed(text)
    reader.close()
    left = [element.tag for element in reader.open[1:]]
    assert left == [], f"never closed: {left}"
    return reader.root


def loaded(page: Element) -> list[str]:
    """What a page would fetch from elsewhere; what it links to is not among it."""
    found = []
    for element in page.walk():
        for key, value in element.attributes.items():
            link = element.tag == "a" and key == "href"
            fetched = key in ("src", "href", "xlink:href", "srcset", "data", "action")
            if fetched and not link and not value.startswith(("#", "data:")):
                found.append(value)
            if "url(" in value and "url(#" not in value:
                found.append(value)
    return found


def faults_of(page: Element) -> list[str]:
    """What is wrong with the structure of a page, for readers and their software."""
    faults = []
    (html,) = page.all("html")
    if not html.attributes.get("lang"):
        faults.append("no language")
    for tag in ("h1", "main", "header", "footer", "title"):
        own = [e for e in page.all(tag) if tag != "title" or e.attributes == {}]
        if len(own) != 1:
            faults.append(f"{len(own)} of <{tag}>")
    ids = [e.attributes["id"] for e in page.walk() if "id" in e.attributes]
    faults += [f"twice: {name}" for name in {n for n in ids if ids.count(n) > 1}]
    for element in page.walk():
        for key in ("aria-labelledby",):
            for name in element.attributes.get(key, "").split():
                if name not in ids:
                    faults.append(f"{key} names {name}, which is not there")
        target = element.attributes.get("href", "")
        if target.startswith("#") and target[1:] not in ids:
            faults.append(f"a link to {target}, which is not there")
    for section in page.all("section"):
        faults += _faults_of_section(section)
    if page.all("script"):
        faults.append("a script")
    return faults


def _faults_of_section(section: Element) -> list[str]:
    """What is wrong with a part of a page."""
    name = section.attributes.get("id", "?")
    faults = [] if section.all("h2") else [f"{name}: no heading"]
    for svg in section.all("svg"):
        if svg.attributes.get("role") != "img":
            faults.append(f"{name}: the chart has no role")
        titles = [t.text for t in svg.all("title")]
        if len(titles) != 1 or not titles[0] or not svg.all("desc")[0].text:
            faults.append(f"{name}: the chart has no title or description")
        if not section.all("table"):
            faults.append(f"{name}: no table behind the chart")
    return faults
