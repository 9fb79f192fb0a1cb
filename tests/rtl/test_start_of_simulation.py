"""A simulation starts with what it needs, because every script starts one."""


def test_a_simulation_starts_without_pytest(built, monkeypatch):
    core = built("grid16", "icarus")
    monkeypatch.setenv("PYTHONPROFILEIMPORTTIME", "1")
    core.do("waiting")
    _, _, found = core.run()
    assert found == [0]
    log = sorted(core.simulation._work.glob("run*.log"))[-1].read_text(encoding="utf-8")
    imported = {line.rpartition("|")[2].strip() for line in log.splitlines()}
    assert "cocotb._test_manager" in imported
    assert not imported & {"pluggy", "_pytest.config.compat", "_pytest.fixtures"}


def test_another_version_of_cocotb_starts_with_pytest(built, monkeypatch):
    monkeypatch.setattr("kerncast.hw.rtl.simulators._COCOTB_WITHOUT_PYTEST", "none")
    core = built("reach16", "icarus")
    assert not any((core.simulation._work / "modules").iterdir())
    core.do("waiting")
    assert core.run()[2] == [0]
