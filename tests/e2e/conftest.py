"""The browser of the tests of pages."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest


@pytest.fixture(scope="session")
def chromium(require_tool: Callable[[str, str], str]) -> Iterator[Any]:
    """A browser without a window."""
    require_tool("python:playwright", "python -m pip install playwright")
    program = require_tool("chromium-headless-shell",
                           "apt-get install -y --no-install-recommends chromium-headless-shell")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()
