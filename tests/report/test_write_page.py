"""Tests of the page: complete without scripts, safe against markup in data, and readable at three widths."""

import base64
import json
import re
import shutil
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

import pytest
from jinja2 import FileSystemLoader
from matplotlib.figure import Figure

from pipeline_py.report import page as page_module
from pipeline_py.report import sections
from pipeline_py.report.write_page import write_page
from pipeline_py.run.errors import InputError
from pipeline_py.run.job_record import write_records
from tests.project_copy import ProjectCopy
from tests.report.page_files import (
    BLEU_SCORES,
    HOSTILE_MARKUP,
    ROOT,
    build_configuration_json,
    write_manifest,
    write_page_files,
)

TEMPLATES = ROOT / "pipeline_py" / "report" / "templates"
VOID = {"meta", "link", "br", "hr", "img", "input", "wbr"}
WIDTHS = (360, 800, 1400)


class Page(HTMLParser):
    """Parser that checks that tags match, and collects identifiers, links and texts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: Counter[str] = Counter()
        self.names: list[str] = []
        self.links: list[str] = []
        self.words: list[str] = []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        self.tags[tag] += 1
        self.names += [value for key, value in attrs if key == "id" and value]
        self.links += [value for key in ("href", "src", "xlink:href") if (value := attributes.get(key))]
        assert not any(key.startswith("on") for key in attributes), "attributes contain no scripts"
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    @property
    def text(self) -> str:
        return re.sub(r"\s+", " ", " ".join(self.words))


@pytest.fixture(scope="module")
def page_path(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("page")
    write_page(manifest=write_manifest(folder), output=folder / "report.html")
    return folder / "report.html"


@pytest.fixture(scope="module")
def page(page_path: Path) -> Page:
    return Page(page_path.read_text(encoding="utf-8"))


@pytest.fixture
def skip_figure_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw figures without saving them, which takes most of the time of a page."""
    monkeypatch.setattr(Figure, "savefig", lambda _, file, **__: file.write(b"<svg/>"))


def test_page_contains_all_sections(page: Page):
    for text in (
        *("Ours <b>", "31.25", "nrefs:1|case:lc", "1.00M", "4,000", "Training s", "are from a paper"),
        *(
            "All pairs of systems",
            "−20.50",
            "approximate randomization",
            "BLEU by kinds of sentences",
            "2,400 sentences",
            "Words of the source, mixed: 3 sentences in a group smaller than 10 are not shown.",
            "20.00 (18.0 to 24.0)",
        ),
        *("Accuracy by contrastive set on all pairs", "agreement (1,260)", "61.00 (55.0 to 75.0)"),
        *("+SDAtt is missing: a phrase-based system", "translations, which count as wrong: Ours <b> 1."),
        *("Accuracy by kind of error on agreement", "<b>gender</b> (1,000)", "have to agree on order"),
        *("agreement: 5 pairs in a group smaller than 10 are not shown", "McNemar's test", "+1.00", "0.12"),
        *("Word accuracy by training frequency", "Learning curves", "70.0", "ein</i>"),
        *("Distribution of sentence scores", "12.35", "chrF compared with GlobalAtt on mixed"),
        *(
            "N-grams that Ours <b> gets right more often than GlobalAtt",
            "N-grams that GlobalAtt gets right more often than Ours <b>",
        ),
        *("0.955", "donaudampfschifffahrtsgesellschaftskapitän"),
        *(
            "As printed in Eriguchi et al. (2019), Table 3, zh-ja",
            "13.4",
            "UAS",
            "for all texts: stanza: 1.15.0",
        ),
        *("0123456789abcdef", "torch", "snakemake --cores all", "too long", "early_stopping", "5,000"),
    ):
        assert text in page.text, text
    assert "of another pair" not in page.text


@pytest.mark.usefixtures("skip_figure_files")
def test_page_shows_scores_of_small_sets(tmp_path: Path):
    """`evaluation.compare_systems` writes empty intervals and p-values for small sets."""
    files = write_page_files(tmp_path)
    for path, columns in (
        (tmp_path / "intervals.tsv", ("low", "high")),
        (tmp_path / "comparisons.tsv", ("low", "high", "low_outputs", "high_outputs", "p_")),
    ):
        head, *lines = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()]
        empty = {place for place, column in enumerate(head) if column.startswith(columns)}
        lines = [["" if place in empty else cell for place, cell in enumerate(line)] for line in lines]
        path.write_text("".join("\t".join(line) + "\n" for line in (head, *lines)), encoding="utf-8")
    write_page(manifest=write_manifest(tmp_path, files), output=tmp_path / "report.html")
    text = Page((tmp_path / "report.html").read_text(encoding="utf-8")).text
    assert "BLEU on mixed. The set is too small for confidence intervals." in text
    assert "No difference in BLEU on mixed can be tested: the set is too small" in text and "−20.50" in text
    assert not re.search(r"\bnan\b", text)


def test_overview_precedes_contents_and_chapters(page: Page):
    places = [
        page.text.index(text)
        for text in (
            *("Of 2 systems that read parse trees", "SDAtt: no, worse", "+SDAtt: better", "Each system minus its twin"),
            *("SDAtt [random]", "What to trust", "All comparisons that papers claim or tables propose", "Contents"),
            "All pairs of systems",
        )
    ]
    assert places == sorted(places)


def test_markup_in_data_is_escaped(page: Page):
    assert page.tags["script"] == 1 and page.tags["title"] == 1 and "i" not in page.tags
    assert page.text.count(re.sub(r"\s+", " ", HOSTILE_MARKUP)) >= 3


def test_backticks_become_code(page: Page):
    text_without_configuration = page.text[: page.text.rindex("Configuration")]
    assert "`" not in text_without_configuration and page.tags["code"] > 0


def test_page_is_self_contained(page: Page, page_path: Path):
    links_to_files = [link for link in page.links if not link.startswith(("#", "data:,"))]
    assert links_to_files == ["figures/attention.1.svg"] and (page_path.parent / links_to_files[0]).is_file()
    assert not re.search(r"url\((?!#)|@import|fetch\(|XMLHttpRequest", page_path.read_text(encoding="utf-8"))


def test_identifiers_are_unique_and_links_resolve(page: Page):
    assert len(page.names) == len({*page.names})
    assert {link[1:] for link in page.links if link.startswith("#")} <= {*page.names}


def test_page_is_deterministic(page_path: Path, tmp_path: Path):
    write_page(manifest=write_manifest(tmp_path), output=tmp_path / "again.html")
    assert (tmp_path / "again.html").read_bytes() == page_path.read_bytes()


def test_page_without_files_has_provenance(tmp_path: Path):
    write_page(
        manifest=write_manifest(tmp_path, {}, published={}, code={}, versions={}, command=""),
        output=tmp_path / "page.html",
    )
    text = Page((tmp_path / "page.html").read_text(encoding="utf-8")).text
    assert "Provenance" in text and "are from a paper" not in text


@pytest.mark.usefixtures("skip_figure_files")
def test_smallest_group_is_configurable(page: Page, tmp_path: Path):
    experiment = json.dumps(json.loads(build_configuration_json()) | {"evaluation": {"smallest_group": 3}})
    write_page(manifest=write_manifest(tmp_path, experiment=experiment), output=tmp_path / "page.html")
    open_page = Page((tmp_path / "page.html").read_text(encoding="utf-8")).text
    assert "30 (3)" in open_page and "30 (3)" not in page.text
    assert "are not shown" not in open_page


@pytest.mark.slow
@pytest.mark.usefixtures("skip_figure_files")
def test_page_omits_sections_without_files(tmp_path: Path):
    every = write_page_files(tmp_path)
    for left_out in every:
        files = {kind: of for kind, of in every.items() if kind != left_out}
        write_page(manifest=write_manifest(tmp_path, files), output=tmp_path / "page.html")
        assert "Provenance" in Page((tmp_path / "page.html").read_text(encoding="utf-8")).text


def test_missing_or_damaged_file_raises_error(tmp_path: Path):
    output = tmp_path / "page.html"
    (tmp_path / "x.tsv").write_text("x\n")
    with pytest.raises(
        InputError, match=r"gone\.tsv: no such file; create it, or create the manifest of the page again"
    ):
        write_page(manifest=write_manifest(tmp_path, {"facts": {"table1": tmp_path / "gone.tsv"}}), output=output)
    write_records({}, [tmp_path / "x.tsv"], tmp_path)
    (tmp_path / "x.tsv").write_text("y\n")
    with pytest.raises(InputError, match=r"x\.tsv: damaged"):
        write_page(manifest=write_manifest(tmp_path, {"facts": {"table1": tmp_path / "x.tsv"}}), output=output)


@pytest.mark.usefixtures("skip_figure_files")
def test_new_section_needs_only_module_and_template(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "lengths.py").write_text(
        "from pipeline_py.report.page_parts import PageSection\n"
        "PAGE_ORDER = 15\n"
        "def build_sections(chapter):\n"
        "    lengths = [len(name) for name in chapter.display_names]\n"
        "    yield PageSection('Lengths', template_data=lengths, template_name='lengths.html')\n"
    )
    (tmp_path / "lengths.html").write_text("<p class='lengths'>{{ section.template_data | sum }} letters</p>")
    monkeypatch.setattr(sections, "__path__", [*sections.__path__, str(tmp_path)])
    monkeypatch.setattr(page_module, "PackageLoader", lambda _: FileSystemLoader([TEMPLATES, tmp_path]))
    write_page(manifest=write_manifest(tmp_path), output=tmp_path / "page.html")
    text = Page((tmp_path / "page.html").read_text(encoding="utf-8")).text
    chapter = text[text.index("Also in table1.tsv") :]
    assert chapter.index("20 letters") < chapter.index("All pairs of systems")


def test_snakemake_report_files_have_captions():
    rules = (ROOT / "workflow" / "rules" / "report.smk").read_text(encoding="utf-8")
    captions = re.findall(r'caption="([^"]+)"', rules)
    assert len(captions) == rules.count("report(\n") == rules.count("category=")
    folder = ROOT / "workflow" / "report"
    assert {(ROOT / "workflow" / "rules" / name).resolve() for name in captions} == {*folder.glob("*.rst")}


@pytest.mark.slow
def test_report_job_depends_only_on_shown_results(tmp_path: Path):
    jobs = ProjectCopy(tmp_path / "work").count_planned_jobs("results/report.html", config={"targets": ["table1"]})
    assert jobs["write_page"] == jobs["render_table"] == jobs["render_facts"] == 1
    assert {
        jobs[rule]
        for rule in (
            "compare_systems",
            "score_sentence_groups",
            "measure_word_accuracy",
            "compare_ngrams",
            "select_example_sentences",
        )
    } == {3}, "dev and two tests"
    assert jobs["attend"] == 2, "of the baseline and what is proposed, on the first test set"
    assert (
        jobs["train"] == 2
        and jobs["write_parser_report"] == 1
        and not {"draw_attention", "binarize", "train_smt"} & {*jobs}
    )


@pytest.fixture(scope="module")
def browser():
    selenium = pytest.importorskip("selenium", reason="needs selenium: pip install -e '.[test]'")
    chromium, driver = (shutil.which(name) for name in ("chromium", "chromedriver"))
    if chromium is None or driver is None:
        pytest.skip("needs a browser: apt-get install chromium chromium-driver")
    from selenium.webdriver import Chrome, ChromeOptions
    from selenium.webdriver.chrome.service import Service

    assert selenium
    settings = ChromeOptions()
    settings.binary_location = chromium
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        settings.add_argument(argument)
    settings.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    running = Chrome(options=settings, service=Service(driver))
    yield running
    running.quit()


def open_page(browser, page_path: Path, width: int = 800, scheme: str = "light") -> None:
    """Open the page in a browser with this screen width and colour scheme."""
    screen = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
    wanted = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", wanted)
    browser.get(page_path.as_uri())


def compute_contrast(first_colour: list[float], second_colour: list[float]) -> float:
    """Compute the contrast ratio of two colours, from 1 to 21 (WCAG 2.1)."""
    light, dark = sorted((sum(
        share * ((part / 255 / 12.92) if part / 255 <= 0.03928 else ((part / 255 + 0.055) / 1.055) ** 2.4)
        for share, part in zip((0.2126, 0.7152, 0.0722), colour, strict=True)
    ) for colour in (first_colour, second_colour)), reverse=True)  # fmt: skip
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_page_fits_screen_without_errors(browser, page_path: Path, width: int, scheme: str):
    open_page(browser, page_path, width, scheme)
    browser.execute_script("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    beyond = browser.execute_script(
        """return [...document.querySelectorAll("body *")]
        .filter((each) => !each.parentElement.closest(".scroll, pre, svg"))
        .filter((each) => each.getBoundingClientRect().right > innerWidth + 0.5)
        .map((each) => each.outerHTML.slice(0, 80))"""
    )
    assert beyond == []
    assert browser.get_log("browser") == []
    assert browser.execute_script("return performance.getEntriesByType('resource').length") == 0
    colours = browser.execute_script(
        """const style = getComputedStyle(document.body);
        return [style.color, style.backgroundColor].map((each) => each.match(/[0-9.]+/g).slice(0, 3).map(Number))"""
    )
    assert compute_contrast(*colours) > 10 and (sum(colours[1]) < 150) == (scheme == "dark")


def read_column(browser, place: int) -> list[str]:
    """Return the texts of a column of the first table."""
    return browser.execute_script(
        """const rows = document.querySelector("[id='table/table1'] table").tBodies[0].rows;
        return [...rows].map((row) => row.cells[arguments[0]].textContent)""",
        place,
    )


def test_click_on_column_head_sorts_rows(browser, page_path: Path):
    open_page(browser, page_path)
    heads = browser.find_elements("css selector", "[id='table/table1'] table thead tr:last-child th button")
    falling = sorted(BLEU_SCORES.values(), key=float, reverse=True)
    assert read_column(browser, 1) == [*BLEU_SCORES.values()] != falling
    heads[1].click()
    assert read_column(browser, 1) == falling
    heads[1].click()
    assert read_column(browser, 1) == falling[::-1], "9.50 is less than 30.00"
    heads[0].click()
    assert read_column(browser, 0) == sorted(read_column(browser, 0), key=str.lower)
    sorted_by = browser.find_elements("css selector", "[id='table/table1'] table:first-of-type th[aria-sort]")
    assert sum(header.get_attribute("aria-sort") == "ascending" for header in sorted_by) == 1
    assert browser.get_log("browser") == []


def test_sections_unfold_and_links_scroll(browser, page_path: Path):
    open_page(browser, page_path)
    folded = browser.find_elements("css selector", "details")
    assert folded and not any(section.get_attribute("open") for section in folded)
    for section in folded:
        summary = section.find_element("css selector", "summary")
        browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", summary)
        summary.click()
    assert all(section.get_attribute("open") for section in folded)
    link = browser.find_element("css selector", "nav a[href='#provenance']")
    link.click()
    top = browser.execute_script("return document.getElementById('provenance').getBoundingClientRect().top")
    assert top < 900


def test_print_shows_only_unfolded_sections(browser, page_path: Path):
    open_page(browser, page_path)
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    count = "return [...document.querySelectorAll('main table')].filter((each) => !each.checkVisibility()).length"
    assert browser.execute_script(count) > 0
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    browser.find_element("css selector", "button.unfold").click()
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    assert browser.execute_script(count) == 0
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def test_print_places_legends_next_to_figures(browser, page_path: Path):
    open_page(browser, page_path)
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    is_beside = browser.execute_script(
        """return [...document.querySelectorAll(".drawn")].filter((each) => each.checkVisibility()).map((each) =>
        each.querySelector(".legend").getBoundingClientRect().right
        <= each.querySelector(".drawings").getBoundingClientRect().left)"""
    )
    assert is_beside and all(is_beside)
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def print_page(browser) -> bytes:
    """Print the page to PDF on A4 paper."""
    options = {"preferCSSPageSize": True, "generateDocumentOutline": True, "paperWidth": 8.27, "paperHeight": 11.69}
    return base64.b64decode(browser.execute_cdp_cmd("Page.printToPDF", options)["data"])


def read_page_sizes(pdf: bytes) -> list[tuple[float, float]]:
    """Return the width and height of each page, in points."""
    boxes = re.findall(rb"/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]", pdf)
    return [(float(width), float(height)) for width, height in boxes]


def find_heading_page(pdf: bytes, heading: str) -> int:
    """Return the page of a heading, from 1, by the outline of the PDF."""
    pages = re.findall(rb"\d+ 0 R", re.search(rb"/Kids \[(\d+ 0 R \d[^\]]*)\]", pdf)[1])
    (page,) = re.findall(rb"/Title \(" + heading.encode() + rb"\)\s*/Dest \[(\d+ 0 R)", pdf)
    return 1 + pages.index(page)


def test_print_needs_few_pages(browser, page_path: Path):
    open_page(browser, page_path)
    sizes = read_page_sizes(print_page(browser))
    assert 1 <= len(sizes) <= 5 and all(width < height for width, height in sizes)


@pytest.mark.parametrize("filler", ["180mm", "200mm", "220mm", "240mm", "260mm"])
def test_last_printed_page_has_the_last_two_chapters(browser, page_path: Path, filler: str):
    """Wherever a page ends before or within them, only the chapters before them are broken."""
    open_page(browser, page_path)
    browser.execute_script(
        """const filler = document.createElement("div");
        filler.style = `break-before: page; height: ${arguments[0]}`;
        document.getElementById("parsers").before(filler);""",
        filler,
    )
    pdf = print_page(browser)
    chapter_pages = [find_heading_page(pdf, heading) for heading in ("Parsers", "Provenance", "Texts")]
    assert chapter_pages == [len(read_page_sizes(pdf))] * 3


def test_print_turns_pages_of_wide_tables(browser, page_path: Path):
    """Tables fit their pages; a browser would shrink the whole document to fit a wider one."""
    open_page(browser, page_path)
    browser.find_element("css selector", "button.unfold").click()
    sizes = read_page_sizes(print_page(browser))
    assert {width < height for width, height in sizes} == {True, False}
    for width, selector in ((718, "table:not(.wide)"), (1046, "table.wide")):  # A4 less margins of 10 mm, in pixels
        open_page(browser, page_path, width)
        browser.find_element("css selector", "button.unfold").click()
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
        ends = browser.execute_script(
            "return [...document.querySelectorAll(arguments[0])].map((each) => each.getBoundingClientRect().right)",
            selector,
        )
        assert 0 < max(ends) <= width
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def test_print_is_light_with_backgrounds(browser, page_path: Path):
    open_page(browser, page_path, scheme="dark")
    dark_scheme = [{"name": "prefers-color-scheme", "value": "dark"}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print", "features": dark_scheme})
    styles = browser.execute_script(
        """const style = getComputedStyle(document.querySelector("td[style]"));
        return [getComputedStyle(document.body).backgroundColor, style.colorScheme, style.printColorAdjust]"""
    )
    assert styles == ["rgb(255, 255, 255)", "light", "exact"]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


@pytest.mark.parametrize(("width", "media"), [(360, ""), (1400, ""), (718, "print")])
def test_legends_never_break_words(browser, page_path: Path, width: int, media: str):
    open_page(browser, page_path, width)
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": media})
    line_count = browser.execute_script(
        """const label = document.querySelector(".drawn .legend span");
        label.replaceChildren("trees: ", document.createElement("b"));
        label.lastChild.textContent = "random_dependency_trees_of_source";
        return label.lastChild.getClientRects().length"""
    )
    assert line_count == 1
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


@pytest.mark.parametrize(("width", "selector"), [(400, "a.contents"), (1400, "nav")])
def test_contents_follow_while_scrolling(browser, page_path: Path, width: int, selector: str):
    open_page(browser, page_path, width)
    browser.execute_script("document.getElementById('table/paper/table3').scrollIntoView()")
    contents = browser.find_element("css selector", selector)
    is_in_view = "const box = arguments[0].getBoundingClientRect(); return box.bottom > 0 && box.top < innerHeight"
    assert browser.execute_script(is_in_view, contents)
    if width == 400:
        contents.click()
        assert browser.execute_script(is_in_view, browser.find_element("css selector", "nav li"))


@pytest.mark.parametrize("kind", ["table", "svg"])
def test_narrow_screen_shows_full_content(browser, page_path: Path, kind: str):
    """No table or figure needs to be scrolled horizontally."""
    open_page(browser, page_path, 400)
    browser.find_element("css selector", "button.unfold").click()
    cut = browser.execute_script(
        """return [...document.querySelectorAll(arguments[0])].map((each) => each.closest(".scroll"))
        .filter((each) => each && each.scrollWidth > each.clientWidth + 1)
        .map((each) => each.textContent.trim().slice(0, 60))""",
        kind,
    )
    assert cut == []


def test_contents_link_every_section(page: Page, page_path: Path):
    text = page_path.read_text(encoding="utf-8")
    contents = text[text.index("<nav") : text.index("</nav>")]
    for title in re.findall(r"<h3[^>]*>(.*?)</h3>", text):
        assert f">{title}</a>" in contents, title
    for title in ("Learning curves", "Facts of the trainings", "What the names mean", "The answer"):
        assert f">{title}</a>" in contents, title
    assert {f"#{anchor}" for anchor in re.findall(r'<(?:h3|details) id="([^"]+)"', text)} <= {*page.links}


def test_link_to_folded_section_unfolds_it(browser, page_path: Path):
    open_page(browser, page_path)
    anchor = browser.execute_script("return document.querySelector('main details[id]').id")
    browser.execute_script("location.hash = arguments[0]", anchor)
    opened = "return document.getElementById(arguments[0]).open"
    assert any(browser.execute_script(opened, anchor) for _ in range(20))
