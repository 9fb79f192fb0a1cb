"""kerncast explore in a real browser: sliders ask the model, the generated C runs, strangers are refused."""

import itertools
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import webbrowser
from contextlib import suppress
from http.client import HTTPConnection

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge

import kerncast
from kerncast.cli import explore
from kerncast.lab.explore import Server, Session
from kerncast.lab.explore.server import TOKEN
from kerncast.lab.explore.session import Superseded
from kerncast.lab.report.render import render_page
from kerncast.sim.data import load_dataset
from kerncast.sim.errors import KerncastError
from kerncast.sim.model import open_model
from kerncast.sim.planner import make_plan
from kerncast.sim.spec import Spec

SMALL = """
[model]
name = "stream"
algorithm = "kernel_lms"
[input]
word = "s12f8"
columns = 5
[output]
word = "s3f0"
[kernel]
sigma = 0.7
[online]
budget = 12
eta = 0.7
[data]
file = "stream.csv"
"""
#: ms: a machine may be busy; nothing waits so long where all is well.
_WAIT = 120_000


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    folder = tmp_path_factory.mktemp("explore")
    rng = np.random.default_rng(7)
    x, noise = rng.integers(-900, 900, (200, 5)), rng.integers(-90, 90, 200)
    y = np.where(x[:, 0] + noise > 0, 1, -1)
    rows = [",".join(map(str, (*row, target))) for row, target in zip(x.tolist(), y.tolist(), strict=True)]
    (folder / "stream.csv").write_text("\n".join(["x0,x1,x2,x3,x4,y", *rows, ""]))
    (folder / "stream.toml").write_text(SMALL)
    return Session(Spec.load(folder / "stream.toml"), folder, folder / "work")


@pytest.fixture(scope="module")
def server(session):
    with Server(session, render_page(session.page())) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def shared(chromium, server):
    tab = chromium.new_page(viewport={"width": 1280, "height": 1000})
    tab.set_default_timeout(_WAIT)
    told = []
    tab.on("console", lambda message: told.append(message.text))
    tab.on("pageerror", lambda error: told.append(str(error)))
    tab.goto(server.url)
    yield tab, told
    tab.close()


@pytest.fixture
def tab(shared):
    """The page; whatever is done to it, no error is told."""
    tab, told = shared
    tab.click("#reset")
    yield tab
    assert told == []


def drag(tab, key, at):
    tab.evaluate("([id, at]) => { const field = document.getElementById(id); field.value = at;"
                 "field.dispatchEvent(new Event('input')); }", [f"c-{key}", at])


def place(session, key):
    return [control.key for control in session.controls].index(key)


# ---- the page ----
def test_a_slider_changes_plan_error_front_and_every_view(tab, session):
    before, error = tab.text_content("#plan-hash"), tab.text_content("#chosen .facts b")
    assert tab.locator("#list tbody tr").count() == 1
    drag(tab, "kernel.sigma", 3)
    tab.wait_for_function("hash => document.getElementById('plan-hash').textContent !== hash", arg=before)
    assert tab.text_content("#chosen .facts b") != error
    assert tab.locator("#list tbody tr").count() == 2
    assert str(session.controls[place(session, "kernel.sigma")].values[3]) in tab.text_content("#list")
    tab.wait_for_selector("#targets table")  # of the whole design, which comes when the slider rests
    tab.wait_for_selector("#front.js-plotly-plot .main-svg")
    tab.click("#list tbody tr:not(.chosen)")
    assert tab.text_content("#plan-hash") == before
    assert tab.input_value("[id='c-kernel.sigma']") == str(
        session.controls[place(session, "kernel.sigma")].values.index(0.7))


def test_an_outdated_answer_moves_no_slider_back(tab, server, session, monkeypatch):
    asked, gates = [threading.Event() for _ in range(2)], [threading.Event() for _ in range(2)]
    turn = itertools.count()

    def held(question):
        at = next(turn)
        asked[at].set()
        assert gates[at].wait(_WAIT / 1000)
        return session.point(question)

    monkeypatch.setitem(server.questions, "point", held)
    rows, slider = tab.locator("#list tbody tr").count(), "[id='c-online.eta']"
    for at, place in enumerate(("5", "9")):
        drag(tab, "online.eta", place)
        assert asked[at].wait(_WAIT / 1000)
    for count, gate in enumerate(gates, rows + 1):
        gate.set()
        tab.wait_for_function("n => document.querySelectorAll('#list tbody tr').length === n", arg=count)
        assert tab.input_value(slider) == "9"


def test_the_whole_design_that_is_asked_for_is_that_of_the_sliders(chromium, server, session, monkeypatch):
    tab, values = chromium.new_page(), session.controls[place(session, "online.eta")].values
    tab.set_default_timeout(_WAIT)
    tab.clock.install()
    tab.goto(server.url)
    tab.wait_for_selector("#targets table")
    asked, gate, designs = threading.Event(), threading.Event(), []

    def point(question):
        if question["inputs"]["online.eta"] == values[8]:
            asked.set()
            assert gate.wait(_WAIT / 1000)
        return session.point(question)

    def design(question):
        designs.append(question["inputs"]["online.eta"])
        return session.design(question)

    monkeypatch.setitem(server.questions, "point", point)
    monkeypatch.setitem(server.questions, "design", design)
    rows = tab.locator("#list tbody tr")
    tab.evaluate("id => { const field = document.getElementById(id); for (const at of [4, 8]) {"
                 "field.value = at; field.dispatchEvent(new Event('input')); } }", "c-online.eta")
    assert asked.wait(_WAIT / 1000)
    tab.wait_for_function("() => document.querySelectorAll('#list tbody tr').length === 2")
    tab.clock.fast_forward(10_000)  # the first answer is long at rest, and the second one still to come
    gate.set()
    tab.wait_for_function("() => document.querySelectorAll('#list tbody tr').length === 3")
    tab.wait_for_selector("#targets table")
    assert (designs, rows.count()) == ([values[8]], 3)
    tab.close()


def test_a_slider_at_rest_sends_its_first_request_at_once(chromium, server):
    tab = chromium.new_page()
    tab.clock.install()
    tab.goto(server.url)
    tab.wait_for_selector("[id='c-online.eta']")
    tab.clock.pause_at(time.time() + 3600)  # no timer runs from here on
    with tab.expect_request("**/point", timeout=_WAIT):
        drag(tab, "online.eta", 12)
    tab.close()


def test_an_error_of_the_plan_stands_in_the_page_with_its_code_and_remedy(tab):
    drag(tab, "numbers.formats.alpha", 32)  # 31 fraction bits of a word of 16
    tab.wait_for_selector("#problems .problem")
    assert tab.text_content("#problems .bad").startswith("E203: ")
    assert "do" in tab.locator("#problems dt").all_text_contents()
    tab.click("#reset")
    assert tab.query_selector("#problems .problem") is None


def test_the_generated_c_in_the_browser_gives_the_model_s_values(tab, session, ledger, tmp_path):
    before = tab.text_content("#plan-hash")
    drag(tab, "numbers.word", 1)
    tab.wait_for_function("hash => document.getElementById('plan-hash').textContent !== hash", arg=before)
    spec = Spec.from_text(tab.text_content("#spec"))
    assert spec.numbers.word == 24
    data = load_dataset(spec, session.settings.base_dir)
    plan = make_plan(spec, data.x_raw, data.y_raw)
    assert tab.text_content("#plan-hash") == plan.hash
    tab.set_input_files("#run-file", session.settings.base_dir + "/stream.csv")
    tab.wait_for_function("() => !document.getElementById('run-save').hidden"
                          " || document.getElementById('run-problems').textContent")
    assert tab.text_content("#run-problems") == ""
    with tab.expect_download() as waiting:
        tab.click("#run-save")
    waiting.value.save_as(tmp_path / "answers.csv")
    found = np.loadtxt(tmp_path / "answers.csv", delimiter=",", skiprows=1)[:, :2]
    expected = open_model(plan).update(data.x_raw, data.y_raw)
    differ = int(np.sum(found != np.column_stack([expected["status"], expected["f"]])))
    ledger.record(backend="wasm in chromium", words=found.size, mismatches=differ, case="explore")
    assert differ == 0


def test_a_file_of_other_data_is_refused_with_its_line(tab, tmp_path):
    (tmp_path / "bad.csv").write_text("x0,x1,x2,x3,x4,y\n1,2,3,4,5,1\n1,2,3,4,9999,1\n1,2,3,4,x,1\n")
    tab.set_input_files("#run-file", tmp_path / "bad.csv")
    tab.wait_for_selector("#run-problems .problem")
    told = tab.text_content("#run-problems")
    assert "E246" in told and "bad.csv:3 x4" in told and "E244" in told and "bad.csv:4 x4" in told


# ---- who may ask ----
def asked(server, method="GET", name="", body=None, *, token=None, host=None, **headers):
    line = HTTPConnection("127.0.0.1", server.server_address[1], timeout=60)
    token = server.token if token is None else token
    line.putrequest(method, f"/{token}/{name}" if method == "GET" else f"/{name}", skip_host=True)
    text = b"" if body is None else json.dumps(body).encode()
    for key, value in {"Host": host or server.hosts[0], "Content-Length": len(text), TOKEN: token,
                       "Content-Type": "application/json", **headers}.items():
        line.putheader(key, str(value))
    line.endheaders(text)
    answer = line.getresponse()
    found = answer.status, answer.read()
    line.close()
    return found


@pytest.mark.parametrize("wrong", [
    {"token": "y"}, {"token": "x" * 32}, {"host": "evil.example"}, {"host": "127.0.0.1:1"},
    {"Origin": "http://evil.example"}, {"Origin": "null"}])
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_request_without_the_token_or_from_elsewhere_is_refused(server, method, wrong):
    assert asked(server, method, "point" if method == "POST" else "", {}, **wrong)[0] == 403


def test_an_invalid_request_is_refused(server):
    assert asked(server)[0] == 200
    assert asked(server, name="../../etc/passwd")[0] == 404
    assert asked(server, "POST", "nothing", {})[0] == 404
    assert asked(server, "POST", "point", [1])[0] == 400
    assert asked(server, "POST", "point", {}, **{"Content-Type": "text/plain"})[0] == 400
    assert asked(server, "POST", "point", {}, **{"Content-Length": 10**9})[0] == 400
    assert asked(server, "POST", "point", {}, **{"Content-Length": "9" * 5000})[0] == 400
    assert asked(server, "DELETE", "point")[0] == 501
    for name, body in (("point", {"inputs": {"kernel.sigma": 0.123456}}), ("program", {"plan": "0" * 64})):
        (problem,) = json.loads(asked(server, "POST", name, body)[1])["problems"]
        assert problem["code"] == "E376"


def test_the_token_leaves_the_address_for_the_fragment(chromium, server):
    tab, sent = chromium.new_page(), []
    tab.set_default_timeout(_WAIT)
    tab.on("request", lambda request: sent.append((request.url, request.all_headers().get(TOKEN.lower()))))
    tab.goto(server.url)
    assert tab.url == f"http://{server.hosts[0]}/#{server.token}"
    drag(tab, "online.eta", 3)
    tab.wait_for_function("() => document.querySelectorAll('#list tbody tr').length === 2")
    assert (f"http://{server.hosts[0]}/point", server.token) in sent
    assert all(server.token not in url for url, _ in sent[1:])
    tab.reload()  # the fragment finds the page again
    tab.wait_for_selector("[id='c-online.eta']")
    tab.close()


def test_every_answer_forbids_frames_sniffing_and_foreign_scripts(server):
    for path, status in ((f"/{server.token}/", 200), ("/", 200), ("/x", 403), (f"/{server.token}/x", 404)):
        line = HTTPConnection("127.0.0.1", server.server_address[1], timeout=60)
        line.request("GET", path)
        answer = line.getresponse()
        assert answer.status == status and answer.read()
        assert answer.headers["X-Frame-Options"] == "DENY"
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert "frame-ancestors 'none'" in answer.headers["Content-Security-Policy"]
        assert "Python" not in answer.headers["Server"]
        line.request("BREW", path)  # an error of http.server itself
        answer = line.getresponse()
        assert answer.status == 501 and "default-src 'none'" in answer.headers["Content-Security-Policy"]
        line.close()
    assert server.token.encode() not in asked(server, token="")[1]


def test_idle_connections_without_the_token_do_not_stop_the_page(server):
    lines = [socket.create_connection(server.server_address[:2], timeout=60) for _ in range(200)]
    try:
        assert asked(server)[0] == 200
        assert all(line.recv(1) == b"" for line in lines[:100])  # the oldest were closed
        assert threading.active_count() < 150
    finally:
        for line in lines:
            line.close()
    assert asked(server)[0] == 200


def test_an_internal_error_is_reported_and_the_server_continues(server, monkeypatch):
    monkeypatch.setitem(server.questions, "point", lambda asked: 1 / 0)
    (problem,) = json.loads(asked(server, "POST", "point", {})[1])["problems"]
    assert problem["code"] == "internal"
    assert asked(server)[0] == 200


def test_a_superseded_request_is_not_computed(session):
    assert session.point({"page": "a", "number": 7, "inputs": {}})["plan"]
    with pytest.raises(Superseded):
        session.point({"page": "a", "number": 6, "inputs": {}})
    assert session.point({"page": "b", "number": 1, "inputs": {}})["plan"]  # another page counts by itself


def test_a_port_in_use_is_reported(server, session):
    with pytest.raises(KerncastError, match="E374"):
        Server(session, "", server.server_address[1])


# ---- the command ----
def test_the_command_prints_its_address_and_ends_with_ctrl_c(spec):
    command = [sys.executable, "-m", "kerncast", "explore", str(spec), "--no-browser", "--json"]
    before = sorted(path.name for path in spec.parent.iterdir())
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        told = json.loads("".join(iter(running.stdout.readline, "}\n")) + "}")
        assert told["url"].startswith(f"http://127.0.0.1:{told['port']}/")
        running.send_signal(signal.SIGINT)
        _, errors = running.communicate(timeout=60)
    assert (running.returncode, errors) == (0, "ended\n")
    assert sorted(path.name for path in spec.parent.iterdir()) == before


def test_with_a_terminal_browser_sigterm_still_ends_explore_and_cleans_up(spec, tmp_path):
    own = {"BROWSER": str(tmp_path / "stays"), "TMPDIR": str(tmp_path / "own")}
    (tmp_path / "own").mkdir()
    stays = tmp_path / "stays"  # as w3m does: it asks for the page and ends when its reader leaves
    stays.write_text(f"#!{sys.executable}\nimport signal\nsignal.pause()\n")
    stays.chmod(0o755)
    with subprocess.Popen([sys.executable, "-m", "kerncast", "explore", str(spec), "--json"],
                          stdout=subprocess.PIPE, text=True, start_new_session=True,
                          env=os.environ | own) as running:
        told = json.loads("".join(iter(running.stdout.readline, "}\n")) + "}")
        connection = HTTPConnection("127.0.0.1", told["port"], timeout=60)
        connection.request("GET", "/" + told["url"].partition("//")[2].partition("/")[2])
        assert connection.getresponse().status == 200
        assert len([*(tmp_path / "own").glob("kerncast-*")]) == 1
        running.send_signal(signal.SIGTERM)
        running.wait(timeout=60)
        with suppress(ProcessLookupError):  # the stand-in outlives what started it
            os.killpg(running.pid, signal.SIGKILL)
    assert running.returncode == 128 + signal.SIGTERM
    assert not [*(tmp_path / "own").glob("kerncast-*")]


@pytest.mark.parametrize("answer", [lambda url: False, webbrowser.Error("no runnable browser")])
def test_without_a_browser_a_line_reports_it(monkeypatch, capsys, answer):
    def asked(url):
        if isinstance(answer, Exception):
            raise answer
        return answer(url)

    monkeypatch.setattr(webbrowser, "open", asked)
    explore._open_browser("http://127.0.0.1:1/")
    assert "no browser could be started: open the address above" in capsys.readouterr().err


def test_without_data_or_learning_there_is_nothing_to_explore(run, spec):
    spec.write_text(spec.read_text().partition("[data]")[0])
    code, _, err = run("explore", spec, "--no-browser")
    assert code == 2 and "E240" in err


def test_a_model_trained_elsewhere_has_nothing_to_drag(run, tmp_path):
    x = np.arange(24.0).reshape(8, 3)
    kerncast.export(KernelRidge(kernel="rbf", gamma=0.01).fit(x, x[:, 0]), x, tmp_path / "ridge.toml")
    code, _, err = run("explore", tmp_path / "ridge.toml", "--no-browser")
    assert code == 2 and "E375" in err
