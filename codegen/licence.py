"""codegen: write the licence and SPDX 2.3 bill of materials of a generated folder."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from .. import __version__
from ..sim.plan import Plan
from .resources import environment, read_text

LICENSE, SBOM = "LICENSE", "sbom.spdx.json"
#: Licences by their SPDX identifiers: of the templates' part of a file, and of the runtime.
GENERATED, RUNTIME = "0BSD", "Apache-2.0"
#: A bill of materials has a date; this one is fixed, so that the same spec gives the same bytes.
_CREATED = "1970-01-01T00:00:00Z"
_HOME = "https://spdx.org/spdxdocs/kerncast"


def licence_text() -> str:
    """Return the text of LICENSE.

    The text is the Apache-2.0 licence, preceded by an exception for generated code.
    """
    exception = environment().get_template("package/LICENSE-OUTPUT.j2").render()
    return exception + read_text("LICENSE")


def licence_of(name: str) -> str:
    """Return the SPDX licence identifier of a generated file."""
    base = name.rpartition("/")[2]
    runtime = name.startswith("rt/") or base in ("prim.hpp", "dialect.hpp") or (
        base.startswith("kc_") and base.endswith((".sv", ".hpp", ".h", ".c")))
    return RUNTIME if runtime else GENERATED


def _checksums(text: str) -> list[dict[str, str]]:
    content = text.encode("utf-8", "surrogateescape")
    return [{"algorithm": name, "checksumValue": hashlib.new(name.lower(), content).hexdigest()}
            for name in ("SHA1", "SHA256")]


def sbom_text(plan: Plan, files: Mapping[str, str]) -> str:
    """Return the SPDX bill of materials as JSON.

    It contains one package, and each file with its checksums.

    Parameters
    ----------
    plan : Plan
    files : mapping of str to str
        Texts of all other files in the folder, by file name.
    """
    listed: list[dict[str, Any]] = [
        {"SPDXID": f"SPDXRef-File-{number}", "fileName": f"./{name}", "checksums": _checksums(text),
         "licenseConcluded": licence_of(name), "licenseInfoInFiles": [licence_of(name)],
         "copyrightText": "NOASSERTION"} for number, (name, text) in enumerate(sorted(files.items()), 1)]
    sums = "".join(sorted(row["checksums"][0]["checksumValue"] for row in listed))
    package = "SPDXRef-Package"
    related = [("SPDXRef-DOCUMENT", "DESCRIBES", package)]
    related += [(package, "CONTAINS", str(row["SPDXID"])) for row in listed]
    return json.dumps({
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": plan.name,
        "documentNamespace": f"{_HOME}-{__version__}-{plan.hash}-{hashlib.sha256(sums.encode()).hexdigest()}",
        "creationInfo": {"created": _CREATED, "creators": [f"Tool: kerncast-{__version__}"]},
        "packages": [{
            "SPDXID": package, "name": plan.name, "versionInfo": __version__,
            "downloadLocation": "NOASSERTION", "filesAnalyzed": True,
            "packageVerificationCode": {
                "packageVerificationCodeValue": hashlib.sha1(sums.encode()).hexdigest(),
                "packageVerificationCodeExcludedFiles": [f"./{SBOM}", "./manifest.json"]},
            "licenseConcluded": f"{GENERATED} AND {RUNTIME}", "licenseDeclared": f"{GENERATED} AND {RUNTIME}",
            "licenseInfoFromFiles": [GENERATED, RUNTIME], "copyrightText": "2026 The kerncast authors"}],
        "files": listed,
        "relationships": [{"spdxElementId": a, "relationshipType": kind, "relatedSpdxElement": b}
                          for a, kind, b in related]}, indent=1) + "\n"
