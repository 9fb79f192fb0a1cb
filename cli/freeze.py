"""cli: ``kerncast freeze``: write a trained state as a read-only model in C."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ._options import GeneratedFolder, JsonFlag
from ._output import Answer, emit

State = Annotated[Path, typer.Argument(metavar="STATE", show_default=False,
                                       help="A saved state: the bytes that state_save wrote to a slot.")]
Out = Annotated[Path, typer.Option(
    "-o", "--out", metavar="FOLDER", show_default=False,
    help="Existing folder for NAME_frozen.c and NAME_frozen.h, such as OUT.")]


def freeze(given: GeneratedFolder, state: State, out: Out, as_json: JsonFlag = False) -> None:
    """Write a saved state as a read-only (const) model in C.

    The constant NAME_frozen contains the values of the state. It is stored in read-only memory, and can
    predict without training and without restoring a state. On AVR, the compiler places
    constants in RAM, and so this one too. The state must belong to the folder's plan.

    Examples
    --------
    kerncast freeze build/ecg ecg.state -o build/ecg
    kerncast freeze build/ecg ecg.state -o src --json
    """
    from ..codegen.c.frozen import freeze as frozen
    from ..codegen.c.frozen import write_frozen
    from ..codegen.generate import load_plan
    from ..sim._files import read_bytes
    from ..sim.errors import fail
    from ..sim.replay.saved_state import slot_bytes

    plan, _ = load_plan(given)
    try:
        image = read_bytes(state, max(slot_bytes(plan), 1) << 12)
    except OSError as error:
        raise fail("E440", f"cannot read the saved state: {error.strerror}", where=str(state),
                   allowed="a file that contains a saved state", remedy="check the path") from None
    files = frozen(plan, image, str(state))
    write_frozen(files, out)
    written = [str(out / name) for name in files]
    text = f"wrote {written[0]} and {Path(written[1]).name}: const {plan.name}_model_t {plan.name}_frozen"
    emit(Answer({"name": plan.name, "plan": plan.hash, "files": written}, text), as_json)
