"""Published data sets from their official addresses, through pooch."""

import sys
import tarfile
import zipfile
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from kit import paths
from kit.errors import InputError, known_names
from kit.files import atomic_write

if TYPE_CHECKING:
    from requests import RequestException


class Download(NamedTuple):
    """A published file: its address, its SHA-256 and, for an archive, the member to take out.

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
_PEERS = "https://raw.githubusercontent.com/OSU-NLP-Group/HippoRAG/main/"  # of 1,000 questions each
_IIRC = "https://iirc-dataset.s3.us-west-2.amazonaws.com/"  # as IRCoT's download script has it
_QUALITY = "https://raw.githubusercontent.com/nyu-mll/quality/main/data/v1.0.1/QuALITY.v1.0.1.zip"
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
    "hipporag-musique": Download(_PEERS + "reproduce/dataset/musique.json"),
    "hipporag-musique-corpus": Download(_PEERS + "reproduce/dataset/musique_corpus.json"),
    "hipporag-musique-openie": Download(
        _PEERS + "outputs/musique/openie_results_ner_gpt-4o-mini.json"
    ),
    "hipporag-hotpotqa": Download(_PEERS + "reproduce/dataset/hotpotqa.json"),
    "hipporag-hotpotqa-corpus": Download(_PEERS + "reproduce/dataset/hotpotqa_corpus.json"),
    "hipporag-2wikimultihopqa": Download(_PEERS + "reproduce/dataset/2wikimultihopqa.json"),
    "iirc": Download(_IIRC + "iirc_train_dev.tgz", member="dev.json"),
    "iirc-train": Download(_IIRC + "iirc_train_dev.tgz", member="train.json"),
    "iirc-articles": Download(_IIRC + "context_articles.tar.gz", member="context_articles.json"),
    "quality": Download(_QUALITY, member="QuALITY.v1.0.1.htmlstripped.dev"),
    "quality-train": Download(_QUALITY, member="QuALITY.v1.0.1.htmlstripped.train"),
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
    ending = ".json"
    if download.member:
        is_tar = download.url.endswith((".tgz", ".tar.gz"))
        ending = ".tgz" if is_tar else ".zip"
    # The files for training and testing are in one archive.
    stem = name.removesuffix("-train") if download.member else name
    path = (folder or paths.downloads()) / f"{stem}{ending}"
    try:
        return _retrieve(download, path)
    except requests.RequestException as error:
        raise unreachable(error, download.url) from None
    except OSError as error:
        raise InputError(f"cannot be written ({error.strerror or error})", file=path) from None
    except ValueError:
        raise InputError(
            f"not the published file, whose SHA-256 is {download.sha256}: nothing kept",
            file=download.url,
        ) from None
    except (zipfile.BadZipFile, tarfile.TarError, EOFError, zlib.error, StopIteration):
        path.unlink()
        raise InputError(
            f"expected an archive that holds {download.member}",
            file=download.url,
        ) from None


def unreachable(error: "RequestException", url: str) -> InputError:
    """What is told of an address that gives nothing."""
    status = "it cannot be reached"
    if error.response is not None:
        status = f"the server answered {error.response.status_code}"
    return InputError(f"cannot be downloaded: {status} ({type(error).__name__})", file=url)


def _retrieve(download: Download, path: Path) -> Path:
    """The downloaded file, or the member of it; StopIteration where an archive has no such member.

    IIRC's questions and articles come in two archives and are read beside each other: what is in a
    tar file goes into a folder of the data set's name.
    """
    import pooch

    retrieved = pooch.retrieve(
        download.url,
        download.sha256,
        path.name,
        path.parent,
        processor=pooch.Unzip() if path.suffix == ".zip" else None,
        progressbar=sys.stderr.isatty(),
    )
    if path.suffix == ".zip":
        return next(member for member in map(Path, retrieved) if member.name == download.member)
    if path.suffix == ".tgz":
        target = path.parent / path.stem.removesuffix("-articles") / download.member
        if not target.exists():
            atomic_write(target, _read_member(path, download.member))
        return target
    return Path(retrieved)


def _read_member(archive: Path, name: str) -> bytes:
    """The content of a tar file's member of this name, in whatever folder of it."""
    with tarfile.open(archive) as members:
        member = next(info for info in members if info.isfile() and Path(info.name).name == name)
        return members.extractfile(member).read()
