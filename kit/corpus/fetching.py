"""Published data sets from their official addresses, through pooch."""

import sys
import zipfile
from pathlib import Path
from typing import NamedTuple

from kit import paths
from kit.errors import InputError, known_names


class Download(NamedTuple):
    """A published file: its address, its SHA-256 and, for a zip, the member to take out.

    The digest is there where the publishers or several mirrors agree on one.
    """

    url: str
    sha256: str | None = None
    member: str | None = None


_HOTPOTQA = "http://curtis.ml.cmu.edu/datasets/hotpot/"
_2WIKI = "https://www.dropbox.com/s/ms2m13252h6xubs/data_ids_april7.zip?dl=1"
_DRIVE = "https://drive.usercontent.google.com/download?export=download&confirm=t&id="
_MUSIQUE = _DRIVE + "1tGdADlNjWFaHLeZZGShh2IRcpO6Lv24h"
_HIPPORAG = (
    "https://raw.githubusercontent.com/OSU-NLP-Group/HippoRAG/"
    "191f281122e2437743daf1dd2dae23059a14c088/"
)
_DEV = "4e9ecb5c8d3b719f624d66b60f8d56bf227f03914f5f0753d6fa1b359d7104ea"
_TRAIN = "26650cf50234ef5fb2e664ed70bbecdfd87815e6bffc257e068efea5cf7cd316"

#: Name to what is downloaded.
DOWNLOADS = {
    "hotpotqa": Download(_HOTPOTQA + "hotpot_dev_distractor_v1.json", _DEV),
    "hotpotqa-train": Download(_HOTPOTQA + "hotpot_train_v1.1.json", _TRAIN),
    "2wikimultihopqa": Download(_2WIKI, member="dev.json"),
    "2wikimultihopqa-train": Download(_2WIKI, member="train.json"),
    "2wikimultihopqa-corpus": Download(_HIPPORAG + "reproduce/dataset/2wikimultihopqa_corpus.json"),
    "musique": Download(_MUSIQUE, member="musique_ans_v1.0_dev.jsonl"),
    "musique-train": Download(_MUSIQUE, member="musique_ans_v1.0_train.jsonl"),
}


def fetch(name: str, folder: Path | None = None) -> Path:
    """Download a data set, unless it is there already, and return its file.

    Raises InputError: the name is unknown, the address can't be reached, or what came is not what
    was expected.
    """
    if name not in DOWNLOADS:
        raise InputError(
            f"unknown data set {name!r}: expected one of {known_names(DOWNLOADS, name)}"
        )

    import requests  # here and below, as these take long to load and are rarely needed

    download = DOWNLOADS[name]
    # The files for training and testing are in one zip.
    file = f"{name.removesuffix('-train')}.zip" if download.member else f"{name}.json"
    path = (folder or paths.downloads()) / file
    try:
        return _retrieve(download, path)
    except requests.RequestException as error:
        status = "it cannot be reached"
        if error.response is not None:
            status = f"the server answered {error.response.status_code}"
        raise InputError(
            f"cannot be downloaded: {status} ({type(error).__name__})",
            file=download.url,
        ) from None
    except OSError as error:
        raise InputError(f"cannot be written ({error.strerror or error})", file=path) from None
    except ValueError:
        raise InputError(
            f"what came has not the SHA-256 {download.sha256}: nothing kept",
            file=download.url,
        ) from None
    except (zipfile.BadZipFile, StopIteration):
        path.unlink()
        raise InputError(
            f"expected a zip that holds {download.member}",
            file=download.url,
        ) from None


def _retrieve(download: Download, path: Path) -> Path:
    """The downloaded file, or the member of it; StopIteration where the zip has no such member."""
    import pooch

    unpack = pooch.Unzip() if download.member else None
    retrieved = pooch.retrieve(
        download.url,
        download.sha256,
        path.name,
        path.parent,
        processor=unpack,
        progressbar=sys.stderr.isatty(),
    )
    if unpack is None:
        return Path(retrieved)
    return next(member for member in map(Path, retrieved) if member.name == download.member)
