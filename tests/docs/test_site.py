"""The site is built strictly, loads nothing from elsewhere, and all links of the repository's pages lead somewhere."""

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

FETCHED = {"script": "src", "link": "href", "img": "src", "iframe": "src", "source": "src", "object": "data"}
"""Elements that a browser fetches something for, and where they say what."""

NOT_FETCHED = {"next", "prev", "canonical"}
"""Relations of links that are for people and search engines."""


class Resources(HTMLParser):
    """What a page has a browser fetch, and the anchors that it has."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if given.get("id"):
            self.anchors.add(str(given["id"]))
        if tag in FETCHED and given.get(FETCHED[tag]) and given.get("rel") not in NOT_FETCHED:
            self.fetched.append(str(given[FETCHED[tag]]))


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    for module in ("mkdocs", "mkdocstrings"):
        pytest.importorskip(module, reason=f"{module} builds the site; pip install -e '.[docs]'")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--config-file", str(ROOT / "mkdocs.yml")]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run([*command, "--site-dir", str(folder)], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder


def test_every_page_is_reached(site):
    navigation = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"]
    pages = {*pages_below(navigation)}
    assert pages == {str(page.relative_to(ROOT / "docs")) for page in PAGES if page.parent != ROOT}
    assert all((site / page).with_suffix(".html").is_file() for page in pages)


def pages_below(navigation: list[dict]) -> Iterator[str]:
    for entry in navigation:
        for page in entry.values():
            yield from [page] if isinstance(page, str) else pages_below(page)


def test_nothing_is_fetched_from_elsewhere(site):
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        for resource in Resources(text).fetched:
            assert not re.match(r"(\w+:)?//", resource), (page.name, resource)
            folder = site if resource.startswith("/") else page.parent
            assert (folder / resource.lstrip("/").partition("?")[0]).is_file(), (page.name, resource)
        # The theme's script would load what draws these.
        assert 'class="mermaid"' not in text
    for style in site.rglob("*.css"):
        assert not re.search(r"url\(['\"]?(https?:)?//|@import", style.read_text(encoding="utf-8")), style


def test_links_beside_the_site_lead_somewhere(site):
    """Those of the site itself are looked at when it is built; a viewer of the repository has the same anchors."""
    for page in PAGES:
        text = FENCE_PATTERN.sub("", page.read_text(encoding="utf-8"))
        for link in re.findall(r"\]\(([^)\s]+)\)", text):
            path, _, anchor = link.partition("#")
            if re.match(r"\w+:", link):
                continue
            target = (page.parent / path).resolve() if path else page
            assert target.exists(), (page.name, link)
            if anchor:
                built = (site / target.relative_to(ROOT / "docs")).with_suffix(".html")
                assert anchor in Resources(built.read_text(encoding="utf-8")).anchors, (page.name, link)
                assert anchor in anchors_in_repository(target), (page.name, link)


def anchors_in_repository(page: Path) -> set[str]:
    """What a viewer makes of headings: lower case, spaces to hyphens, other signs left out."""
    headings = re.findall(r"^#+ (.+)$", FENCE_PATTERN.sub("", page.read_text(encoding="utf-8")), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
