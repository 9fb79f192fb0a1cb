"""sim: catalogue entries for the link to a board, back ends, and missing tools."""

from __future__ import annotations

from ..errors import Entry

LINK = {
    "E410": Entry("the serial port cannot be opened",
                  "The port does not exist, another program uses it, or you do not have permission to use "
                  "it.",
                  "Close the other program, join the group dialout, or name another port."),
    "E411": Entry("the link to the board was lost",
                  "The cable was unplugged, or the emulator ended; the message quotes its last output.",
                  "Check the cable or the emulator's output, then start again."),
    "E412": Entry("the board does not respond",
                  "The port or the baud rate is wrong, the firmware has no HIL agent, or the board hangs.",
                  "Check the port, the baud rate and the firmware, then reset the board."),
    "E413": Entry("the firmware was generated from another plan",
                  "The plan's hash in the firmware differs from the host's, so results cannot agree.",
                  "Build the firmware from this plan and flash it again."),
    "E414": Entry("the board and the host have different versions",
                  "The protocol, the ABI or a size in the board's HELLO differs from the host's.",
                  "Build the firmware and the host program from the same version of kerncast."),
    "E415": Entry("the board rejected a request", "The agent returned a status other than OK.",
                  "Build the firmware and the host program from the same plan and version."),
    "E416": Entry("the board restarted or stopped with a fault",
                  "The cause may be a power loss, the watchdog, a stack overflow or a damaged image. The "
                  "state is lost.",
                  "Find the cause, reset the board, then start again."),
    "E417": Entry("no such emulated board", "The back end names an unknown board or emulator.",
                  "Use one of the values listed under `allowed`; `kerncast targets` lists them too."),
    "E418": Entry("this flash tool does not support the board",
                  "--flash names a tool that the board's file does not list, or the port is missing.",
                  "Use one of the values listed under `allowed`, with board:ID@PORT; `kerncast targets ID` "
                  "prints the commands."),
    "E419": Entry("the board could not be flashed",
                  "The flash tool failed: for example, no board is connected, the probe is busy, or the chip "
                  "is locked.",
                  "Read the output of the flash tool, check the cable and the permissions, and try again."),
    "E420": Entry("no such back end or simulator", "No back end or simulator has a name of this form.",
                  "Use one of the forms listed under `allowed`."),
    "E421": Entry("a physical board without its port",
                  "Several boards of one kind may be connected, so kerncast does not guess the port.",
                  "Name the port: board:ID@PORT; `kerncast targets --ports` lists the ports."),
    "E422": Entry("the firmware of another board",
                  "The firmware was built for another board than the one chosen on the host. Counts and baud "
                  "rates can differ between boards.",
                  "Choose the board in the message, or flash firmware that was built for your board."),
    "E424": Entry("the back end has no waveforms",
                  "--waves writes the signals of an RTL simulation; other back ends simulate no signals.",
                  "Omit --waves, or name rtl:icarus or rtl:verilator."),
    "E431": Entry("the back end does not support this call",
                  "The plan has no SystemVerilog or HLS C++ core for this call.",
                  "Train on another back end and pass its state."),
    "E432": Entry("an RTL simulation failed",
                  "The simulator rejected the sources, ended early, or reached its limit of clock cycles.",
                  "Read the log; the message quotes its path and its last lines."),
    "E433": Entry("the back end has no trace hooks",
                  "--bisect compares intermediate values of a call. RTL simulations and the model in fxpmath "
                  "return only results.",
                  "Use model, host, an emulator or a board, or omit --bisect."),
    "E434": Entry("the firmware has no trace hooks",
                  "The hooks cost time and memory, so they are compiled only on request.",
                  "Build with `kerncast build OUT --trace` and flash that image, or use an emulator."),
    "E435": Entry("a C simulation of HLS C++ ended early",
                  "The testbench of a generated folder ended before it returned a result.",
                  "Generate the folder again: kerncast gen SPEC -o FOLDER."),
    "E440": Entry("no saved state", "The bytes are empty or do not begin like a saved state: no state was "
                  "saved, or power failed during the first save.",
                  "Save a state first, or name another file."),
    "E441": Entry("a saved state of another version",
                  "The format of the state, or the ABI of the code that saved it, differs.",
                  "Train the model again and save, or restore it with the version that saved it."),
    "E442": Entry("a saved state of another plan",
                  "The state contains the hash of another plan, so its values have other formats or other "
                  "meanings.",
                  "Restore the state into a model of the plan that saved it."),
    "E443": Entry("a saved state of the wrong length", "The state is truncated, or has extra bytes at the "
                                                       "end.",
                  "Restore an older state, or train the model again."),
    "E444": Entry("a damaged saved state", "The checksum of the state does not match: some of its bits have "
                                           "changed.",
                  "Restore an older state, or train the model again."),
    "E445": Entry("an inconsistent saved state",
                  "The checksum of the state matches, but the state contains values that training never "
                  "produces, such as more centers than the dictionary can hold. It was edited by hand, or "
                  "saved from overwritten memory.",
                  "Restore an older state, or train the model again."),
    "E446": Entry("the storage of saved states failed",
                  "Reading or writing failed, or the bytes read differ from those written.",
                  "Check the memory, then save again."),
    "E447": Entry("the firmware has no space for saved states",
                  "The slots for tests are in RAM, and the board does not have enough RAM.",
                  "Use a larger board or a smaller model; generated C saves to any storage you provide."),
    "E448": Entry("nothing to freeze",
                  "The state was saved before training, or the model was trained elsewhere and is read-only.",
                  "Train the model and save it; a model of algorithm kernel_predictor needs no state."),
    "E449": Entry("an update is not complete",
                  "With [online] bounded_update, the last update has pending searches, so the state does not "
                  "have all nearest centers yet.",
                  "Call update_run until it returns ok, then save."),
}

MISSING = {
    "E501": Entry("a package is missing",
                  "The command needs a Python package that is not installed.",
                  "Install it with the command in the message. `kerncast doctor` lists all tools."),
    "E511": Entry("a C compiler is missing", "None of the compilers that the command can use is installed.",
                  "Install one with the command in the message; python -m pip install ziglang is enough."),
    "E512": Entry("an emulator is missing", "The emulator of this back end is not installed.",
                  "Install it with the command in the message; unicorn from pip is enough for most Cortex-M "
                  "boards."),
    "E513": Entry("a program of the RTL simulation is missing",
                  "The simulator, or make, perl or g++ that it calls, is not installed.",
                  "Install it with the command in the message."),
    "E514": Entry("a flash tool is missing",
                  "The tool, such as openocd, pyocd or avrdude, is not installed.",
                  "Install it with the command in the message, or flash the image by hand."),
}
