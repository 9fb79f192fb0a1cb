"""Change files of a folder or bundle together with the digests of its manifest."""

import hashlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def with_digests(manifest: bytes, files: Mapping[str, bytes]) -> bytes:
    """Return a manifest that lists exactly these files."""
    listed = {name: sha(data) for name, data in files.items() if name != "manifest.json"}
    return (json.dumps(json.loads(manifest) | {"files": listed}, indent=1) + "\n").encode()


def forged(folder: Path, name: str, change: Callable[[bytes], bytes]) -> None:
    """Change a file, and its digest in the manifest with it."""
    data = change((folder / name).read_bytes())
    (folder / name).write_bytes(data)
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["files"][name] = sha(data)
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n")
