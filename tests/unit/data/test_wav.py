"""Recordings in WAV files: every format of samples is read as scipy reads it, without scipy."""

import itertools
import struct
import subprocess
import sys

import numpy as np
import pytest
from scipy.io import wavfile

from kerncast import KerncastError, load_samples
from kerncast.sim.data.samples.wav import read_sound

EXTENSION = b"\x00\x00\x10\x00\x80\x00\x00\xaa\x00\x38\x9b\x71"


def recording(bits, channels, tag=1, endian="<", extensible=False, frames=7):
    """Write the bytes of a recording of random samples, with a chunk of text before and behind them."""
    width = -(-bits // 8)
    random = np.random.default_rng(bits + channels)
    data = (random.normal(size=frames * channels).astype(f"{endian}f{width}").tobytes() if tag == 3
            else random.bytes(frames * channels * width))
    form = struct.pack(f"{endian}HHIIHH", 0xFFFE if extensible else tag, channels, 8000,
                       8000 * channels * width, channels * width, bits)
    if extensible:
        form += struct.pack(f"{endian}HHIH", 22, bits, 0, tag) + b"\x00\x00" + EXTENSION
    def chunk(name, body):
        return name + struct.pack(f"{endian}I", len(body)) + body + b"\0" * (len(body) % 2)
    text = chunk(b"LIST", b"INFOabc")
    body = b"WAVE" + chunk(b"fmt ", form) + text + chunk(b"data", data) + text
    return {"<": b"RIFF", ">": b"RIFX"}[endian] + struct.pack(f"{endian}I", len(body)) + body


@pytest.mark.filterwarnings("ignore:Chunk")
@pytest.mark.parametrize(("form", "channels", "variant"), list(itertools.product(
    [(8, 1), (16, 1), (24, 1), (32, 1), (64, 1), (12, 1), (32, 3), (64, 3)], [1, 3],
    [("<", False), ("<", True), (">", False)])))
def test_samples_are_those_that_scipy_reads(tmp_path, form, channels, variant):
    path = tmp_path / "a.wav"
    path.write_bytes(recording(form[0], channels, form[1], *variant))
    rate, sound = read_sound(path)
    wanted_rate, wanted = wavfile.read(path)
    assert rate == wanted_rate == 8000 and sound.shape == (7, channels)
    assert np.array_equal(sound, wanted.reshape(7, channels))


@pytest.mark.parametrize("content", [
    recording(4, 1, tag=2), recording(16, 0, frames=0), recording(16, 1)[:30],
    b"RIFX" + recording(16, 1)[4:], b"RIFF" + bytes(4) + b"AVI " + bytes(40), b"", b"time,value\n0,1\n"])
def test_a_recording_that_cannot_be_read_is_refused_with_a_remedy(tmp_path, content):
    path = tmp_path / "a.wav"
    path.write_bytes(content)
    with pytest.raises(KerncastError) as caught:
        load_samples(path)
    (problem,) = caught.value.problems
    assert problem.code == "E241" and problem.remedy


def test_a_compressed_recording_is_refused_with_the_command_that_converts_it(tmp_path):
    path = tmp_path / "a.wav"
    path.write_bytes(recording(4, 1, tag=2))
    with pytest.raises(KerncastError) as caught:
        load_samples(path)
    assert "pcm_s16le" in caught.value.problems[0].remedy


def test_a_recording_is_read_without_scipy(tmp_path):
    path = tmp_path / "a.wav"
    path.write_bytes(recording(16, 1))
    code = ("import sys; sys.modules['scipy'] = None; import kerncast; "
            "print(kerncast.load_samples(sys.argv[1]).y.shape)")
    done = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True)
    assert (done.returncode, done.stdout.strip()) == (0, "(7,)"), done.stderr
