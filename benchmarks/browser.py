"""Control headless Chromium for benchmarks of pages, and take small screenshots."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from PIL import Image


@contextmanager
def chromium() -> Iterator[Any]:
    """Open a browser for the duration of the block.

    This requires playwright and chromium-headless-shell.
    """
    from playwright.sync_api import sync_playwright

    program = shutil.which("chromium-headless-shell") or shutil.which("chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()


def shrink(picture: Path) -> None:
    """Reduce the number of colours in a screenshot, so that its file is small."""
    Image.open(picture).convert("RGB").quantize(64).save(picture, optimize=True)
