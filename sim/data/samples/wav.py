"""sim.data.samples: read recordings in WAV files, using only NumPy."""

from __future__ import annotations

import errno
import os
import struct
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._files import MAX_ARRAYS, refuse_special
from ...errors import KerncastError, fail

#: Chunks of a WAV file; recorders write a dozen.
MAX_CHUNKS = 10_000
# The size in the header of a recording that was not finished.
_OPEN_END = 2**32 - 1
_PCM, _FLOAT, _EXTENSIBLE = 1, 3, 0xFFFE
# Types of a sample by its bytes; 24 bits become the upper ones of 32.
_INTEGERS, _FLOATS = {1: "u1", 2: "i2", 3: "i4", 4: "i4", 8: "i8"}, {4: "f4", 8: "f8"}


class _Form(NamedTuple):
    """Contents of the chunk ``fmt`` of a recording, which describes its samples."""

    tag: int
    channels: int
    rate: int
    frame: int  # bytes of one sample of all channels
    bits: int


def read_sound(path: Path) -> tuple[int, NDArray[Any]]:
    """Return the sampling rate in hertz, and the samples (n, channels) of a WAV file.

    Integers of 8 bits are unsigned, and 128 represents 0. Longer integers are signed. Samples of 24 bits are
    returned in the upper 24 bits of 32-bit integers.

    Raises
    ------
    KerncastError
        E241 if the file is not a complete recording of integers or floats.
    OSError
        If the file cannot be read or is too large.
    """
    with refuse_special(path).open("rb") as file:
        length = path.stat().st_size
        if length > MAX_ARRAYS:
            raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))
        head = file.read(12)
        endian = {b"RIFF": "<", b"RIFX": ">"}.get(head[:4])
        if endian is None or head[8:] != b"WAVE":
            raise _not_sound(path, "it does not begin with RIFF and WAVE")
        form: _Form | None = None
        sound: NDArray[Any] | None = None
        chunks = 0
        while len(head := file.read(8)) == 8:
            (size,) = struct.unpack(f"{endian}I", head[4:])
            start, chunks = file.tell(), chunks + 1
            if chunks > MAX_CHUNKS:
                raise fail("E241", "the recording has too many chunks", where=str(path), value="more",
                           allowed=f"{MAX_CHUNKS:,} chunks",
                           remedy="export the audio again, without other chunks such as metadata")
            if head[:4] == b"fmt " and form is None:
                form = _read_form(file.read(min(size, 40)), endian, path)
            if head[:4] == b"data" and form and sound is None:
                sound = _read_samples(file, form, endian, size, length - start, path)
            file.seek(start + size + size % 2)
    if form is None or sound is None:
        raise _not_sound(path, "it contains no samples, or does not state their format")
    return form.rate, sound


def _read_form(text: bytes, endian: str, path: Path) -> _Form:
    """Return the format of the samples; raise E241 if it is not supported."""
    if len(text) < 16:
        raise _not_sound(path, "the format of its samples is incomplete")
    tag, channels, rate, _, frame, bits = struct.unpack(f"{endian}HHIIHH", text[:16])
    if tag == _EXTENSIBLE and len(text) >= 26:
        (tag,) = struct.unpack(f"{endian}H", text[24:26])
    width = frame // channels if channels else 0
    kinds = {_PCM: _INTEGERS, _FLOAT: _FLOATS}.get(tag, {})
    if width not in kinds or width * channels != frame or not 0 < bits <= 8 * width or (
            width == 1) != (bits <= 8):
        raise fail("E241", "the format of the recording is not supported", where=str(path),
                   value=f"format {tag}, {channels} channels, {bits} bits, {frame} bytes per frame",
                   allowed="integers of 8, 16, 24, 32 or 64 bits, or floats of 32 or 64 bits",
                   remedy=f"convert it, for example with: ffmpeg -i \"{path}\" -c:a pcm_s16le "
                   f"\"{path.stem}-pcm.wav\"")
    return _Form(tag, channels, rate, frame, bits)


def _read_samples(file: IO[bytes], form: _Form, endian: str, size: int, rest: int, path: Path
                  ) -> NDArray[Any]:
    """Read the samples (n, channels) of a chunk.

    According to its header, the chunk has `size` bytes; `rest` is the number of bytes that remain in the
    file.
    """
    found, promised = rest // form.frame, size // form.frame
    if found < promised and size != _OPEN_END:
        raise fail("E241", "the recording is truncated", where=f"{path} byte {file.tell()}",
                   value=f"{found} frames", allowed=f"{promised} frames, as the header of the file states",
                   remedy="copy the complete file again, or correct its header")
    count = min(found, promised)
    raw = np.frombuffer(file.read(count * form.frame), dtype=np.uint8)
    width = form.frame // form.channels
    if width == 3:
        raw = raw.reshape(-1, 3)
        low = np.zeros((len(raw), 1), dtype=np.uint8)
        raw = np.hstack([low, raw] if endian == "<" else [raw, low]).ravel()
    kind = (_INTEGERS if form.tag == _PCM else _FLOATS)[width]
    return raw.view(np.dtype(endian + kind)).reshape(count, form.channels)


def _not_sound(path: Path, reason: str) -> KerncastError:
    return fail("E241", f"the file is not a WAV recording: {reason}", where=str(path), value=path.name,
                allowed="a WAV file", remedy="check the path, or export the audio as WAV")
