"""What a processor sees of a core over AXI4-Lite."""

import subprocess

import pytest

from kerncast.codegen.resources import resource
from kerncast.codegen.rtl import LEARNER, PREDICTOR, SOLVER, TRAINER, generate_rtl, rtl_sources
from kerncast.codegen.rtl.axi import CORE_TYPES
from kerncast.codegen.rtl.frames import model_frame, sample_frame, sample_frames, state_frames, target_frame
from kerncast.codegen.rtl.registers import register_map
from kerncast.hw.rtl.simulators import Simulation
from kerncast.sim.model import open_model
from kerncast.sim.model.statuses import NOT_TRAINED
from kerncast.sim.plan import ABI

from .conftest import expected, make, trained
from .learner_cases import stream
from .solver_cases import case_plan, problems, solution

MAP = register_map()
CONTROL, COMMAND, STATUS, ERRORS, ENABLE, CAUSES, CLOCKS, FRAMES, HASH = (
    MAP.named(name).offset for name in ("control", "command", "status", "errors", "irq_enable", "irq_status",
                                        "clocks", "frames_in", "plan_hash"))
RUN, RESET, READ_MODEL, READ_SLOTS = 1, 1, 2, 4
FRAME, ERROR, RESET_DONE, STATE = 1, 2, 4, 8


class Script:
    """Operations, and what they must give back."""

    def __init__(self) -> None:
        self.script, self.wanted = [], []

    def do(self, *operations):
        self.script.extend(operations)

    def expect(self, value, *operation):
        self.script.append(operation)
        self.wanted.append(value)

    def expect_reset(self):
        """After a reset the core still runs, and everything that counts is 0."""
        self.expect([RUN, 0, 0, 0], "read", CONTROL, 4)
        self.expect([0, 0, 0, 0], "read", CLOCKS, 4)


def trainer_script():
    plan, s = make("grid16"), Script()
    y, model = plan.signals["y_raw"].format, open_model(plan)
    words = [(k * 977) % (y.hi + 1) for k in range(plan.sizes["n"])]
    model.train(None, words)
    frame, answer = target_frame(plan, words), [0, *model_frame(plan, model.state())]
    s.do(("send", "y", frame), ("cycles", 100))
    s.expect([0], "read", STATUS)  # not started: nothing is taken
    s.expect([0, 0], "read", FRAMES, 2)
    s.do(("write", CONTROL, RUN))
    s.expect(answer, "frame", "model")
    s.expect([RUN, 0, 0, 0], "read", CONTROL, 4)
    s.expect([1, 1], "read", FRAMES, 2)
    s.do(("send", "y", frame[:-1]), ("send", "y", frame))
    s.expect(answer, "frame", "model")
    s.expect([1], "read", ERRORS)
    s.do(("write", ERRORS, 0))
    s.expect([1], "read", ERRORS)  # they stay until a one is written
    s.do(("write", ERRORS, 1))
    s.expect([0], "read", ERRORS)
    s.expect([3, 2], "read", FRAMES, 2)
    s.do(("send", "y", frame), ("cycles", 200))
    s.expect([1], "read", STATUS)
    s.do(("write", COMMAND, RESET))
    s.expect_reset()
    s.expect(0, "waiting")
    s.do(("send", "y", frame))
    s.expect(answer, "frame", "model")
    s.expect([1, 1], "read", FRAMES, 2)
    return plan, TRAINER, s


def solver_script():
    plan, s = case_plan("even24"), Script()
    mask, asked = (1 << plan.word) - 1, list(problems(plan, 4, 3))[::3]
    (r, y), (other_r, other_y) = [[(words & mask).tolist() for words in problem] for problem in asked]
    first, second = ([status, *(word & mask for word in words)]
                     for status, *words in [solution(plan, *problem) for problem in asked])
    s.do(("send", "r", r), ("send", "y", y), ("cycles", 50))
    s.expect([0, 0], "read", FRAMES, 2)
    s.do(("write", CONTROL, RUN))
    s.expect(first, "frame", "alpha")
    s.expect([(first[0] & 7) << 8, 0], "read", STATUS, 2)
    s.do(("send", "r", r[1:]), ("sent",), ("cycles", 9))
    s.expect([1], "read", ERRORS)
    s.do(("send", "y", y), ("sent",), ("cycles", 9))
    s.expect([5], "read", ERRORS)  # its partner has come, and has gone with it
    s.do(("send", "r", other_r), ("send", "y", other_y))
    s.expect(second, "frame", "alpha")
    s.expect([(second[0] & 7) << 8], "read", STATUS)
    s.do(("send", "y", y[1:]), ("write", ERRORS, 5), ("sent",), ("cycles", 9))
    s.expect([2], "read", ERRORS)
    s.expect([4, 2], "read", FRAMES, 2)
    s.do(("send", "r", r), ("send", "r", r), ("send", "y", y), ("sent",), ("cycles", 20))
    s.expect([((second[0] & 7) << 8) | 1], "read", STATUS)
    s.do(("write", COMMAND, RESET))
    s.expect_reset()
    s.expect(0, "waiting")
    s.do(("send", "r", r), ("send", "y", y))
    s.expect(first, "frame", "alpha")
    s.expect([1, 1], "read", FRAMES, 2)
    return plan, SOLVER, s


def test_the_register_of_the_shape_states_the_number_of_outputs(require_simulator, tmp_path):
    require_simulator("icarus")
    plan = make("labels16")
    generate_rtl(plan, tmp_path)
    top = f"{plan.name}_predictor_axi"
    simulation = Simulation(rtl_sources(tmp_path, plan), top, "icarus", tmp_path / "sim")
    assert simulation.run([("read", MAP.named("shape").offset)], 100) == [[3 << 16 | 2]]
    header = (tmp_path / "rtl" / "labels_predictor_regs.h").read_text()
    assert "#define LABELS_PREDICTOR_OUTPUTS 3u" in header


def predictor_script():
    plan, s = make("gains16"), Script()
    (state, x), mask = trained(plan, 3), (1 << plan.word) - 1
    answers, frames = expected(plan, state, x[:3]), sample_frames(plan, x[:3])
    s.do(("send", "model", model_frame(plan, state)), ("send", "x", frames[0]), ("cycles", 50))
    s.expect([0, 0], "read", FRAMES, 2)
    s.do(("write", COMMAND, RESET), ("write", CONTROL, RUN))  # what waits is not lost to the reset
    for k, frame in enumerate(frames):
        if k:
            s.do(("send", "x", frame))
        s.expect([int(answers["status"][k]), int(answers["f"][k]) & mask], "frame", "f")
    s.expect([(int(answers["status"][2]) & 7) << 8, 0], "read", STATUS, 2)
    s.expect([3, 3], "read", FRAMES, 2)
    s.do(("send", "x", frames[0][:-1]), ("send", "model", [0]), ("sent",), ("cycles", 9))
    s.expect([3], "read", ERRORS)
    s.do(("write", ERRORS, 1))
    s.expect([2], "read", ERRORS)
    s.do(("send", "x", frames[0]))
    s.expect([NOT_TRAINED, 0], "frame", "f")  # the model that was refused took the place of the one before
    s.expect([(NOT_TRAINED & 7) << 8], "read", STATUS)
    s.do(("write", COMMAND, RESET))
    s.expect_reset()
    return plan, PREDICTOR, s


def learner_script():
    plan, s = make("gains16"), Script()
    (x, y), model, mask = stream(plan, 9, 5), open_model(plan), (1 << plan.word) - 1
    model.update(x, y)
    model_words, slots = state_frames(plan, model.state())
    s.do(("send", "state", model_words, 0), ("send", "state", slots, 1), ("write", CONTROL, RUN), ("sent",))
    s.do(("write", COMMAND, READ_MODEL))
    s.expect([0, *model_words], "frame", "state")
    s.do(("write", COMMAND, READ_SLOTS))
    s.expect([1, *slots], "frame", "state")
    s.expect([STATE], "read", CAUSES)
    s.do(("write", CAUSES, STATE))
    s.expect([RUN, 0, 0, 0], "read", CONTROL, 4)
    answer = model.predict(x[:1])
    s.do(("send", "x", sample_frame(plan, x[0]), 0))
    s.expect([int(answer["status"][0]), int(answer["f"][0]) & mask], "frame", "f")
    s.expect([1, 1], "read", FRAMES, 2)
    s.do(("send", "x", [1], 1), ("send", "state", [0], 1), ("sent",), ("cycles", 9))
    s.expect([3], "read", ERRORS)
    s.do(("write", COMMAND, RESET))
    s.expect_reset()
    s.do(("send", "x", sample_frame(plan, x[0]), 0))
    s.expect([NOT_TRAINED, 0], "frame", "f")
    return plan, LEARNER, s


def identity(plan, core):
    """What software reads to know the core: magic, kind and versions, size, shape, word length and lanes."""
    size = plan.sizes["n"] if plan.trains else plan.sizes["N"]
    return [0x4B435354, CORE_TYPES[core.name] | MAP.map << 8 | ABI << 16, size,
            plan.sizes["D"] | 1 << 16, plan.word | 1 << 8]


def interrupt_script():
    plan, s = make("grid16"), Script()
    y, model = plan.signals["y_raw"].format, open_model(plan)
    words = [(k * 977) % (y.hi + 1) for k in range(plan.sizes["n"])]
    model.train(None, words)
    frame, answer = target_frame(plan, words), [0, *model_frame(plan, model.state())]
    s.do(("write", CONTROL, RUN), ("send", "y", frame))
    s.expect(answer, "frame", "model")
    s.expect(0, "irq")
    s.expect([0, FRAME], "read", ENABLE, 2)  # it is noted although it is masked
    s.do(("write", ENABLE, FRAME), ("cycles", 2))
    s.expect(1, "irq")
    s.do(("write", CAUSES, ERROR), ("cycles", 2))
    s.expect(1, "irq")
    s.do(("write", CAUSES, FRAME), ("cycles", 2))
    s.expect(0, "irq")
    s.do(("write", ENABLE, ERROR | RESET_DONE), ("send", "y", frame[:-1]), ("sent",), ("cycles", 9))
    s.expect(1, "irq")
    s.expect([1, ERROR | RESET_DONE, ERROR], "read", ERRORS, 3)
    s.do(("write", COMMAND, RESET), ("cycles", 4))
    s.expect(1, "irq")
    s.expect([RESET_DONE], "read", CAUSES)  # the error of before the reset has gone with it
    s.do(("write", CAUSES, RESET_DONE))
    s.do(("send", "y", frame))
    s.expect(answer, "frame", "model")
    s.expect([FRAME], "read", CAUSES)
    s.expect(0, "irq")
    return plan, TRAINER, s


def soft_reset_script():
    plan, s = make("grid16"), Script()
    y, model = plan.signals["y_raw"].format, open_model(plan)
    words = [(k * 977) % (y.hi + 1) for k in range(plan.sizes["n"])]
    model.train(None, words)
    frame, answer = target_frame(plan, words), [0, *model_frame(plan, model.state())]
    s.do(("write", CONTROL, RUN), ("stall", 0.0, 1.0, 0), ("send", "y", frame), ("cycles", 1500))
    s.do(("stall", 0.0, 0.7, 3), ("cycles", 9), ("stall", 0.0, 1.0, 0))
    s.do(("write", COMMAND, RESET), ("cycles", 20))
    s.expect([3], "read", STATUS)  # it waits for the end of the frame
    s.do(("stall", 0.0, 0.0, 0))
    s.expect(answer, "frame", "model")  # which is whole, and right
    s.do(("cycles", 4))
    s.expect_reset()
    for cut in range(1, 6 * len(frame), 7):  # a frame half accepted is dropped, and no error is reported
        s.do(("send", "y", frame), ("cycles", cut), ("write", COMMAND, RESET), ("sent",), ("cycles", 2),
             ("write", COMMAND, RESET), ("cycles", 9))
        s.expect([RUN, 0, 0, 0], "read", CONTROL, 4)
    s.do(("send", "y", frame))
    s.expect(answer, "frame", "model")
    s.expect(0, "waiting")
    s.expect([0], "read", ERRORS)
    return plan, TRAINER, s


@pytest.mark.parametrize("case", [trainer_script, interrupt_script, soft_reset_script, solver_script,
                                  predictor_script, learner_script],
                         ids=["trainer", "interrupt", "soft reset", "solver", "predictor", "learner"])
def test_a_processor_starts_resets_and_watches_a_core(require_simulator, ledger, tmp_path, case):
    require_simulator("icarus")
    plan, core, s = case()
    generate_rtl(plan, tmp_path)
    simulation = Simulation(rtl_sources(tmp_path, plan, core), f"{plan.name}_{core.name}_axi", "icarus",
                            tmp_path / "sim")
    head = [("read", 0x00, 5), ("read", HASH, 8)]
    wanted = [identity(plan, core), [int(plan.hash[8 * i:8 * i + 8], 16) for i in range(8)], *s.wanted]
    *_, clocks = found = simulation.run([*head, *s.script, ("read", CLOCKS, 2)], 20_000)
    ledger.record(backend="rtl:icarus", words=len(wanted),
                  mismatches=sum(f != w for f, w in zip(found[:-1], wanted, strict=True)),
                  case=f"registers of the {core.name}")
    assert clocks[0] < 2000
    assert clocks[1] == 0


#: Between two edges of the clock every input is turned over, one by one; then a write and a read come about.
BENCH = """
module bench;
    reg clk = 0, rst = 1;
    reg [49:0] in = 0;
    reg [9:0] r_in = 0;
    wire [40:0] out;
    wire irq, run, request, command;
    reg [40:0] held;
    integer i;
    kc_registers dut (.clk(clk), .rst(rst), .s_axil_awaddr(in[7:0]), .s_axil_awvalid(in[8]),
        .s_axil_wdata(in[40:9]), .s_axil_wstrb(in[44:41]), .s_axil_wvalid(in[45]), .s_axil_bready(in[46]),
        .s_axil_araddr(r_in[7:0]), .s_axil_arvalid(r_in[8]), .s_axil_rready(r_in[9]),
        .s_axil_awready(out[0]), .s_axil_wready(out[1]), .s_axil_bvalid(out[2]), .s_axil_bresp(out[4:3]),
        .s_axil_arready(out[5]), .s_axil_rvalid(out[6]), .s_axil_rresp(out[8:7]), .s_axil_rdata(out[40:9]),
        .irq(irq), .run(run), .reset_request(request), .command(command),
        .reset_pending(1'b0), .reset_done(1'b0), .dropping(1'b0), .dropped(1'b0), .state_out(1'b0),
        .busy(1'b0), .error(1'b0), .frame_in(1'b0), .frame_out(1'b0), .frame_status(3'd0));
    task edge_; begin #5 clk = 1; #5 clk = 0; end endtask
    task turn; begin
        #1 held = out;
        for (i = 0; i < 60; i = i + 1) begin
            {r_in, in} = {r_in, in} ^ (60'd1 << i);
            #1 if (out !== held) $display("an output follows input %0d", i);
            {r_in, in} = {r_in, in} ^ (60'd1 << i);
            #1;
        end
    end endtask
    initial begin
        edge_; rst = 0;
        edge_; turn;
        in[7:0] = 8'h40; in[8] = 1; in[45:41] = 5'h1f; in[9] = 1; r_in[8] = 1;
        turn; edge_; turn; edge_; turn; edge_;
        $display("run %b, bvalid %b, rvalid %b", run, out[2], out[6]);
        $finish;
    end
endmodule
"""


def test_no_output_of_the_registers_follows_an_input_within_a_clock(require_tool, tmp_path):
    require_tool("iverilog", "sudo apt-get install -y iverilog")
    (tmp_path / "bench.sv").write_text(BENCH)
    sources = ["bench.sv", str(resource("hw/rtl/kc_registers.sv"))]
    subprocess.run(["iverilog", "-g2012", "-o", "bench.vvp", *sources], cwd=tmp_path, check=True)
    said = subprocess.check_output(["vvp", "-n", "bench.vvp"], cwd=tmp_path, text=True)
    assert said.splitlines() == ["run 1, bvalid 1, rvalid 1"]
