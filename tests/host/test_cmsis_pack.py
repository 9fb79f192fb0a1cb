"""The CMSIS-Pack: its description follows the published schema, its archive has what it names.

The description was validated once against PACK.xsd of the Open-CMSIS-Pack specification. The schema is not
part of this repository: these checks are ours, one per rule that the description touches.
"""

import re
import zipfile
from xml.etree import ElementTree

import pytest

from kerncast.codegen.c.pack import write_pack
from kerncast.codegen.generate import generate, load_manifest
from kerncast.sim.errors import KerncastError

#: Children of <package> that the schema knows, and which of them it requires.
PARTS = {"name": True, "vendor": True, "description": True, "url": True, "license": False, "releases": True,
         "keywords": False, "conditions": False, "components": False}
#: Values of the attribute `category` of <file> that the description uses, of those that the schema lists.
CATEGORIES = {"doc", "header", "include", "source"}
NAME = re.compile(r"[\-_A-Za-z0-9]+")


@pytest.fixture(scope="module")
def folder(cases, tmp_path_factory):
    place = tmp_path_factory.mktemp("pack") / "lms16"
    generate(cases("lms16").plan, place, vectors=cases("lms16").vectors, packages=("cmsis",))
    return place


@pytest.fixture(scope="module")
def description(folder):
    return ElementTree.parse(folder / "kerncast.lms16.pdsc").getroot()


def test_the_description_has_the_parts_of_the_schema(description):
    assert description.tag == "package" and re.fullmatch(r"1\.\d+\.\d+", description.get("schemaVersion"))
    found = [part.tag for part in description]
    assert len(found) == len(set(found)) and set(found) <= set(PARTS)
    assert {name for name, required in PARTS.items() if required} <= set(found)
    assert NAME.fullmatch(description.findtext("name")) and NAME.fullmatch(description.findtext("vendor"))
    (release,) = description.find("releases")
    assert re.fullmatch(r"\d+\.\d+\.\d+", release.get("version"))
    assert 0 < len(description.findtext("description")) <= 256


def test_each_component_is_unique_versioned_and_names_files_that_exist(description, folder):
    conditions = {condition.get("id") for condition in description.find("conditions")}
    seen = set()
    for component in description.find("components"):
        key = tuple(component.get(name) for name in ("Cclass", "Cgroup", "Csub"))
        assert all(key) and key not in seen and re.fullmatch(r"\d+\.\d+\.\d+", component.get("Cversion"))
        assert component.get("condition", next(iter(conditions))) in conditions
        assert [part.tag for part in component] == ["description", "files"]
        seen.add(key)
        for file in component.find("files"):
            assert file.get("category") in CATEGORIES
            place = folder / file.get("name")
            assert place.is_dir() if file.get("category") == "include" else place.is_file()
            assert file.get("name").endswith("/") == place.is_dir()
            assert file.get("attr") in (None, "template") and (file.get("select") is None) == (
                file.get("attr") is None)


def test_the_library_component_has_each_source_of_the_library_once(description, folder):
    library = description.find("components")[0]
    named = [file.get("name") for file in library.find("files") if file.get("category") == "source"]
    assert sorted(named) == sorted(load_manifest(folder).sources)


def test_the_archive_has_the_named_files_the_runtime_and_the_licence(folder, description, tmp_path):
    path = write_pack(folder, "lms16", tmp_path / "packs")
    version = description.find("releases")[0].get("version")
    assert path.name == f"kerncast.lms16.{version}.pack"
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        held = set(archive.namelist())
        assert all(archive.read(name) == (folder / name).read_bytes() for name in held)
    named = {file.get("name") for file in description.iter("file") if file.get("category") != "include"}
    assert named | {"kerncast.lms16.pdsc", "LICENSE", "rt/kc_rt.h", "rt/kc_config.h"} <= held
    included = {name for file in held if file.endswith((".c", ".h"))
                for name in re.findall(r'^#include "(rt/\w+\.h)"', (folder / file).read_text(), re.MULTILINE)}
    assert included and included <= held


def test_the_same_folder_gives_the_same_archive(folder, tmp_path):
    first, second = (write_pack(folder, "lms16", tmp_path / name) for name in ("a", "b"))
    assert first.read_bytes() == second.read_bytes()


def test_a_folder_without_the_package_is_refused(cases, tmp_path):
    generate(cases("lms16").plan, tmp_path / "plain", vectors=cases("lms16").vectors)
    with pytest.raises(KerncastError, match="E310"):
        write_pack(tmp_path / "plain", "lms16", tmp_path / "packs")
    assert not (tmp_path / "packs").exists()
