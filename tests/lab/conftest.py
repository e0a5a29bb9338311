"""A project in miniature: small notebooks, a small data file, and a place for what is written."""

import json
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

PARAMETERS = 'data = ""\nscale = "class"\nseed = 0\nlog = ""'


class Project:
    """``log`` is a file to which the notebooks add a line each time they are run."""

    def __init__(self, folder: Path) -> None:
        self.output, self.notebooks, self.log = (
            folder / "output",
            folder / "notebooks",
            folder / "log",
        )
        self.data = folder / "dev.json"
        self.notebooks.mkdir()
        self.data.write_text(json.dumps([question(i, hops=1 + i % 3) for i in range(12)]))

    def write(self, name: str, *cells: str, parameters: str = PARAMETERS) -> Path:
        """A notebook with a title, a ``parameters`` cell and these code cells."""
        tagged = new_code_cell(parameters, metadata={"tags": ["parameters"]})
        kernel = {
            "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}
        }
        cells = [new_markdown_cell(f"# {name}"), tagged, *map(new_code_cell, cells)]
        notebook = new_notebook(metadata=kernel, cells=cells)
        path = self.notebooks / f"{name}.ipynb"
        path.parent.mkdir(exist_ok=True)
        nbformat.write(notebook, path)
        return path

    def write_logging(self, name: str, *cells: str) -> Path:
        return self.write(
            name, f'with open(log, "a") as sink:\n    sink.write("{name}\\n")', *cells
        )

    @property
    def logged(self) -> list[str]:
        return self.log.read_text().split() if self.log.exists() else []


def question(i: int, hops: int) -> dict:
    """A question in HotpotQA's format about lighthouses, with one paragraph more than it needs."""
    titles = [f"Lighthouse {i}.{j}" for j in range(hops + 1)]
    return {
        "_id": f"q{i}",
        "question": f"Who keeps the lighthouse that is {hops} lights from number {i}?",
        "answer": f"Keeper {i}",
        "type": "bridge",
        "level": "easy",
        "supporting_facts": [[title, 0] for title in titles[:hops]],
        "context": [
            [title, [f"{title} stands on rock {i + j}.", " It is red."]]
            for j, title in enumerate(titles)
        ],
    }


@pytest.fixture
def project(tmp_path: Path, own_store: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    project = Project(tmp_path)
    monkeypatch.setenv("KIT_OUTPUT", str(project.output))
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "jupyter"))  # where copies are signed
    monkeypatch.chdir(tmp_path)
    return project
