"""Teach gestures to an emulated Cortex-M4, then let it classify others.

    python run.py FOLDER

FOLDER contains the C that `kerncast gen gestures.toml -o FOLDER` generated. The script builds main.c with it,
starts the board in an emulator, sends the recordings reading by reading, and compares each label with the
integer model.
"""

import sys
from pathlib import Path

import numpy as np

import kerncast
from kerncast.codegen.firmware.image import build_image
from kerncast.codegen.firmware.targets import load_board
from kerncast.hw.hil.emulators import start_emulator

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import record  # noqa: E402

BOARD, EMULATOR = "mps2-an386", "unicorn"
TIMEOUT_S = 60.0


class GestureBoard:
    """Board that runs main.c.

    Parameters
    ----------
    folder : Path
        Generated C.
    """

    def __init__(self, folder: Path) -> None:
        board = load_board(BOARD)
        self.image = build_image({"kc_main.c": (HERE / "main.c").read_text(encoding="utf-8")},
                                 sorted(folder.glob("*.c")), [folder], board, build_dir=folder / "build")
        self.link = start_emulator(self.image.elf, board, EMULATOR)
        self.reply()  # it is ready

    def reply(self) -> int:
        """Wait for a byte from the board."""
        received = self.link.read(TIMEOUT_S)
        if len(received) != 1:
            raise SystemExit(f"the board sent {received!r}; one byte was expected")
        return received[0]

    def send(self, readings: np.ndarray, command: bytes) -> int:
        """Send a gesture and what to do with it; return the reply."""
        data = b"".join(b"r" + int(reading).to_bytes(1, signed=True) for reading in readings)
        self.link.write(b"s" + data + command)
        return self.reply()


def main(folder: Path) -> None:
    """Teach, classify, and print the result."""
    spec = kerncast.Spec.load("gestures.toml")
    data = kerncast.load_dataset(spec, ".")
    plan = kerncast.plan(spec, data.x_raw, data.y_raw)
    board = GestureBoard(folder)
    try:
        examples, labels = record.recordings("TRAIN")
        learned = [board.send(readings, b"l" + bytes([label]))
                   for readings, label in zip(examples, labels, strict=True)]
        print(f"learned {sum(a == b for a, b in zip(learned, labels, strict=True))} gestures on {BOARD}")
        others, truth = record.recordings("TEST")
        found = np.array([board.send(readings, b"c") for readings in others])
    finally:
        board.link.close()
    for label, name in enumerate(record.CLASSES):
        of_class = np.array(truth) == label
        print(f"{name}: {int((found[of_class] == label).sum())} of {int(of_class.sum())} recognised")
    model = kerncast.open_backend(plan, "model")
    model.update(data.x_raw, data.y_raw)
    same = int((model.predict(data.x_test_raw)["label"] == found).sum())
    print(f"same label as the integer model: {same} of {len(found)}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
