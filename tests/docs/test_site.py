"""The site builds without warnings and loads nothing external, and all links of pages have a target."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest
import yaml

from tests.docs.page_blocks import FENCE_PATTERN, PAGES
from tests.project_copy import ROOT

FETCHED_ATTRIBUTES = {"script": "src", "link": "href", "img": "src", "iframe": "src", "source": "src", "object": "data"}
"""Element for which a browser fetches a resource → attribute with its address."""

NOT_FETCHED_RELATIONS = {"next", "prev", "canonical"}
"""Relations of links that a browser does not follow by itself."""


class PageResources(HTMLParser):
    """A parser that collects the resources that a page loads, and its anchors."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.fetched_urls: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        if attributes.get("id"):
            self.anchors.add(str(attributes["id"]))
        if (
            tag in FETCHED_ATTRIBUTES
            and attributes.get(FETCHED_ATTRIBUTES[tag])
            and attributes.get("rel") not in NOT_FETCHED_RELATIONS
        ):
            self.fetched_urls.append(str(attributes[FETCHED_ATTRIBUTES[tag]]))


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    for module in ("mkdocs", "mkdocstrings"):
        pytest.importorskip(module, reason=f"{module} builds the site; pip install -e '.[docs]'")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--config-file", str(ROOT / "mkdocs.yml")]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    result = subprocess.run([*command, "--site-dir", str(folder)], env=environment, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return folder


def test_the_navigation_lists_every_page(site):
    navigation = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"]
    pages = {*list_pages(navigation)}
    assert pages == {str(page.relative_to(ROOT / "docs")) for page in PAGES if ROOT / "docs" in page.parents}
    assert all((site / page).with_suffix(".html").is_file() for page in pages)


def list_pages(navigation: list[dict]) -> Iterator[str]:
    for entry in navigation:
        for page in entry.values():
            yield from [page] if isinstance(page, str) else list_pages(page)


def test_nothing_is_fetched_from_elsewhere(site):
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        for resource in PageResources(text).fetched_urls:
            assert not re.match(r"(\w+:)?//", resource), (page.name, resource)
            folder = site if resource.startswith("/") else page.parent
            assert (folder / resource.lstrip("/").partition("?")[0]).is_file(), (page.name, resource)
        # The theme's script would load what draws these.
        assert 'class="mermaid"' not in text
    for style in site.rglob("*.css"):
        assert not re.search(r"url\(['\"]?(https?:)?//|@import", style.read_text(encoding="utf-8")), style


def test_links_of_pages_have_targets(site):
    """Links within the site are checked when it is built; a repository viewer has the same anchors."""
    for page in PAGES:
        text = FENCE_PATTERN.sub("", page.read_text(encoding="utf-8"))
        for link in re.findall(r"\]\(([^)\s]+)\)", text):
            path, _, anchor = link.partition("#")
            if re.match(r"\w+:", link):
                continue
            target = (page.parent / path).resolve() if path else page
            assert target.exists(), (page.name, link)
            if anchor:
                built_page = (site / target.relative_to(ROOT / "docs")).with_suffix(".html")
                assert anchor in PageResources(built_page.read_text(encoding="utf-8")).anchors, (page.name, link)
                assert anchor in compute_repository_anchors(target), (page.name, link)


def compute_repository_anchors(page: Path) -> set[str]:
    """Return the anchors that a repository viewer gives headings: lower case, hyphens for spaces, no other signs."""
    headings = re.findall(r"^#+ (.+)$", FENCE_PATTERN.sub("", page.read_text(encoding="utf-8")), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
