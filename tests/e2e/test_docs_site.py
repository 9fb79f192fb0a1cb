"""The documentation site builds strictly from every page, and works without a network."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import kerncast

ROOT = Path(kerncast.__file__).resolve().parent


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    out = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "-d", out]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False,
                          env={**os.environ, "NO_MKDOCS_2_WARNING": "1"})
    assert done.returncode == 0, done.stderr
    return out


def test_every_page_is_in_the_site_and_in_its_navigation(site):
    index = (site / "index.html").read_text(encoding="utf-8")
    texts = {path: path.read_text(encoding="utf-8")
             for path in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]}
    included = {(path.parent / part).resolve() for path, text in texts.items()
                for part in re.findall(r"^<!-- include: (\S+) -->$", text, re.MULTILINE)}
    pages = {path.relative_to(ROOT / "docs").with_suffix(".html").as_posix()
             for path in (ROOT / "docs").rglob("*.md") if path not in included}
    pages |= {"architecture.html", "contributing.html",
              *(f"reference/{name}.html" for name in ("commands", "python", "spec", "c", "errors"))}
    navigated = set(re.findall(r'<a href="([^"#:]+)" class="md-nav__link', index))
    assert {page for page in pages if not (site / page).is_file()} == set()
    assert {page for page in pages - navigated if not page.startswith("papers/")} == set()
    papers = (site / "papers.html").read_text(encoding="utf-8")
    assert all(f'href="{page}"' in papers for page in pages if page.startswith("papers/"))
    assert len(navigated) <= 31


def test_a_part_is_a_section_of_its_page_and_links_to_it_lead_there(site):
    costs = (site / "costs.html").read_text(encoding="utf-8")
    assert 'id="part-measured-instructions"' in costs and "<details>" in costs
    firmware = (site / "tutorials" / "firmware.html").read_text(encoding="utf-8")
    assert "../costs.html#part-measured-costs" in firmware


def test_the_site_builds_strictly_and_fetches_nothing(site):
    fetch = re.compile(r"""<(?:script|link|img|iframe)\b[^>]*\b(?:src|href)=["']?(?:https?:)?//"""
                       r"""|@import[^;]*(?:https?:)?//|url\(["']?(?:https?:)?//""")
    found = {path.relative_to(site).as_posix() for path in site.rglob("*") if path.suffix in (".html", ".css")
             and fetch.search(path.read_text(encoding="utf-8"))}
    assert not found
    assert (site / "index.html").is_file() and (site / "figures" / "demo.svg").is_file()


@pytest.mark.parametrize("page", ["index.html", "reference/spec.html"])
def test_search_works_where_the_site_is_read_from_disk(site, chromium, page):
    tab, asked = chromium.new_page(), []
    tab.on("request", lambda request: asked.append(request.url))
    tab.goto(f"{(site / page).as_uri()}?q=levinson")
    tab.wait_for_selector(".md-search-result__item a", timeout=120_000, state="attached")
    found = tab.locator(".md-search-result__item a").first.get_attribute("href")
    assert found.startswith(site.as_uri()) and all(url.startswith("file:") for url in asked)
    tab.close()


def test_the_reference_has_every_public_name_command_and_error(site):
    from kerncast.cli.main import COMMANDS
    from kerncast.sim.catalogue import CATALOGUE

    text = {name: (site / "reference" / f"{name}.html").read_text(encoding="utf-8")
            for name in ("python", "commands", "errors")}
    for page, names in (("python", (n for n in kerncast.__all__ if n != "__version__")),
                        ("commands", (f"kerncast {name}" for name in COMMANDS)), ("errors", CATALOGUE)):
        heading = r"<h[23][^>]*>(?:kerncast\.)?{}\b"
        assert [name for name in names if not re.search(heading.format(name), text[page])] == []
