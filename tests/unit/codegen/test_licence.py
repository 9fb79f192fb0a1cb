"""The licence of a generated folder, and its bill of materials."""

import hashlib
import json
import re

import pytest

from kerncast.codegen.licence import licence_of, sbom_text


@pytest.fixture
def sbom(generated):
    return json.loads((generated / "sbom.spdx.json").read_text())


def test_a_folder_holds_the_output_exception_and_the_apache_license(generated):
    text = (generated / "LICENSE").read_text()
    assert "Zero-Clause BSD" in text and "Apache License" in text and "As an exception" in text


def test_every_banner_states_the_licence_that_the_bill_of_materials_lists(run, spec):
    with spec.open("a", encoding="utf-8") as text:
        text.write('\n[hls]\n')
    out, stated = spec.parent / "all", set()
    assert run("gen", spec, "-o", out, "--package", "all")[0] == 0
    for row in json.loads((out / "sbom.spdx.json").read_text())["files"]:
        text = (out / row["fileName"]).read_text()
        found = re.search(r"SPDX-License-Identifier: ([\w.-]+)", text[:800])
        if found is not None:
            assert found[1] == row["licenseConcluded"], row["fileName"]
            stated.add(row["fileName"].rpartition(".")[2])
        assert found is not None or not row["fileName"].endswith((".c", ".h")), row["fileName"]
    assert stated >= {"c", "h", "hpp", "sv", "v", "tcl", "txt", "cmake", "sdc", "lpf", "rdl"}, stated


def test_the_bill_of_materials_has_the_fields_that_spdx_2_3_requires(sbom):
    assert sbom["spdxVersion"] == "SPDX-2.3" and sbom["dataLicense"] == "CC0-1.0"
    assert sbom["SPDXID"] == "SPDXRef-DOCUMENT" and sbom["name"] == "small"
    assert re.fullmatch(r"https://[^#\s]+", sbom["documentNamespace"])
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", sbom["creationInfo"]["created"])
    assert all(re.match(r"(Tool|Organization|Person): \S", who) for who in sbom["creationInfo"]["creators"])
    (package,) = sbom["packages"]
    assert {"name", "SPDXID", "downloadLocation", "packageVerificationCode"} <= set(package)
    ids = [row["SPDXID"] for row in (sbom, package, *sbom["files"])]
    assert len(set(ids)) == len(ids) and all(re.fullmatch(r"SPDXRef-[A-Za-z0-9.-]+", name) for name in ids)
    assert {(r["relationshipType"], r["relatedSpdxElement"]) for r in sbom["relationships"]} == {
        ("DESCRIBES", package["SPDXID"]), *(("CONTAINS", row["SPDXID"]) for row in sbom["files"])}


def test_the_bill_of_materials_lists_every_file_with_its_sums(generated, sbom):
    held = {f"./{path.relative_to(generated).as_posix()}" for path in generated.rglob("*") if path.is_file()}
    left_out = set(sbom["packages"][0]["packageVerificationCode"]["packageVerificationCodeExcludedFiles"])
    assert {row["fileName"] for row in sbom["files"]} == held - left_out
    for row in sbom["files"]:
        content = (generated / row["fileName"]).read_bytes()
        assert {c["algorithm"]: c["checksumValue"] for c in row["checksums"]} == {
            "SHA1": hashlib.sha1(content).hexdigest(), "SHA256": hashlib.sha256(content).hexdigest()}


def test_the_runtime_keeps_its_own_licence():
    assert [licence_of(name) for name in ("rt/kc_cast.h", "rtl/kc_divide.sv")] == ["Apache-2.0"] * 2
    assert [licence_of(name) for name in ("small.c", "rtl/small_top.sv")] == ["0BSD"] * 2


def test_the_bill_of_materials_is_the_same_for_the_same_files(generated):
    from kerncast.codegen.generate import load_plan

    plan, _ = load_plan(generated)
    assert sbom_text(plan, {"a": "1", "b": "2"}) == sbom_text(plan, {"b": "2", "a": "1"})
