"""Saved states: one table for page, C and Python; estimators are pickled whole."""

import pickle
import re
import zlib
from pathlib import Path

import numpy as np
import pytest

import kerncast
from kerncast.codegen.c.saved_state import render_docs
from kerncast.sim.errors import KerncastError
from kerncast.sim.model import open_model
from kerncast.sim.plan import ABI
from kerncast.sim.replay import saved_state

ROOT = Path(kerncast.__file__).resolve().parent


def macros(name: str) -> dict[str, str]:
    text = (ROOT / "firmware" / "rt" / name).read_text(encoding="utf-8")
    return dict(re.findall(r"#define (KC_\w+) (\w+?)u?(?:\s|$)", text))


def test_the_page_is_that_of_the_table():
    page = (ROOT / "docs" / "saved-state.md").read_text(encoding="utf-8")
    assert page == render_docs(), "python -m kerncast.codegen.c.saved_state > docs/saved-state.md"


def test_c_and_python_hold_the_same_numbers():
    state, storage = macros("kc_state.h"), macros("kc_storage.h")
    assert int(state["KC_STATE_MAGIC"], 0) == int.from_bytes(saved_state.MAGIC, "little")
    assert int(state["KC_STATE_VERSION"]) == saved_state.VERSION
    assert int(state["KC_STATE_HEADER"]) == saved_state.HEADER_BYTES
    assert int(storage["KC_STATE_BLOCK"]) == saved_state.BLOCK


def test_a_sequence_number_is_followed_by_zero_at_its_end():
    assert [saved_state.next_sequence(n) for n in (0, 0xFFFFFFFE, 0xFFFFFFFF)] == [1, 0xFFFFFFFF, 0]


def test_the_abi_of_a_state_is_that_of_the_code():
    names = [part.name for part in saved_state.LAYOUT]
    assert names == ["magic", "version", "abi", "sequence", "length", "plan_hash"]
    assert ABI < 1 << 16


def test_a_state_of_kerncast_0_1_is_refused_with_how_to_make_it_again():
    model = open_model(kerncast.plan(ROOT / "examples" / "ecg.toml"))
    image = bytearray(model.save())
    image[4] = 1  # the version; the CRC is that of the rest
    image[-saved_state.CRC_BYTES:] = zlib.crc32(image[:-saved_state.CRC_BYTES]).to_bytes(4, "little")
    with pytest.raises(KerncastError, match=r"E441[\s\S]*train the model again"):
        model.restore(bytes(image))


def test_a_pickled_estimator_resumes():
    rng = np.random.default_rng(3)
    X = rng.uniform(-1, 1, (80, 2))
    y = np.sin(3 * X[:, 0])
    for learner, target in ((kerncast.KernelLMSRegressor(sigma=0.5, budget=12), y),
                            (kerncast.KernelLMSClassifier(sigma=0.5, budget=12), y > 0)):
        learner.partial_fit(X[:50], target[:50], **({} if target is y else {"classes": [False, True]}))
        again = pickle.loads(pickle.dumps(learner))
        for one in (learner, again):
            one.partial_fit(X[50:], target[50:])
        assert (again.predict(X) == learner.predict(X)).all()
        assert (again.dual_coef_ == learner.dual_coef_).all()
