"""The runner, on small notebooks in real kernels."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import nbformat
import pytest

from kit.errors import InputError
from kit.paths import ROOT
from kit.runs.runner import run

# The notebook says its process, then waits for a file: a run that can be stopped in the middle for certain.
WAIT = """import os, pathlib, time
pathlib.Path(log + ".pid").write_text(str(os.getpid()))
while not pathlib.Path(log + ".go").exists():
    time.sleep(0.02)"""
END = 'with open(log, "a") as sink:\n    sink.write("end\\n")'


def go(project, *which: str, **options: object) -> int:
    options = {"parameters": {"log": str(project.log)}, **options}
    return run(which, data=project.data, notebooks=project.notebooks, **options)


def executed(project, suffix: str = "-trial") -> Path:
    return project.output / "notebooks" / "executed" / f"hotpotqa-dev{suffix}"


def test_runs_in_order_then_skips_then_runs_what_changed(project, capsys: pytest.CaptureFixture) -> None:
    project.write_logging("02_second", "seed + 1")
    project.write_logging("01_first")
    assert go(project) == 0
    assert project.logged == ["01_first", "02_second"]
    assert {path.name for path in executed(project).iterdir()} == {
        f"{name}.{suffix}" for name in ("01_first", "02_second") for suffix in ("ipynb", "html", "json")
    }
    cells = nbformat.read(executed(project) / "02_second.ipynb", as_version=4).cells
    assert cells[-1].outputs[0].data["text/plain"] == "1"

    capsys.readouterr()
    begun = time.monotonic()
    assert go(project) == 0
    assert time.monotonic() - begun < 4  # no kernel was started; it takes 0.3 s when nothing else runs
    assert capsys.readouterr().out.count("finished earlier, skipped") == 2
    assert len(project.logged) == 2

    project.write_logging("02_second", "seed + 2")  # another source
    assert go(project) == 0
    assert project.logged == ["01_first", "02_second", "02_second"]

    (executed(project) / "01_first.json").write_text('{"key": "0')  # a damaged account
    (executed(project) / "02_second.html").write_text("")  # a damaged output
    assert go(project) == 0
    assert sorted(project.logged[3:]) == ["01_first", "02_second"]

    assert go(project, "02", again=True) == 0
    assert project.logged[5:] == ["02_second"]

    questions = json.loads(project.data.read_text())
    project.data.write_text(json.dumps(questions[1:]))  # other data
    assert go(project, "01", scale="smoke") == 0
    assert (executed(project, "-smoke") / "01_first.ipynb").exists()
    assert project.logged[6:] == ["01_first"]


def test_a_notebook_may_name_the_data_that_it_is_about(project, capsys: pytest.CaptureFixture) -> None:
    reports = f'data = "{ROOT / "data" / "reports"}"\nlog = ""'
    project.write("01_pages", 'with open(log, "a") as sink:\n    sink.write(data)', parameters=reports)
    project.write_logging("02_other")
    assert go(project) == 0
    assert project.logged == [str(ROOT / "data" / "reports") + "02_other"]
    told = capsys.readouterr().out
    assert re.search("01_pages: .*figures/documents-reports-trial", told)
    assert re.search("02_other: .*figures/hotpotqa-dev-trial", told)
    folder = project.output / "notebooks" / "executed"
    assert (folder / "documents-reports-trial" / "01_pages.ipynb").exists()
    assert (folder / "hotpotqa-dev-trial" / "02_other.ipynb").exists()


def test_failing_notebook_is_told_in_one_screen_and_the_others_run(project, capsys: pytest.CaptureFixture) -> None:
    project.write("01_broken", "import pandas", "frame = pandas.DataFrame()\nframe.loc['a']", "never = 1")
    project.write("02_refused", 'from kit.errors import InputError\nraise InputError("expected text", file="f.json")')
    project.write("03_killed", "import os\nos._exit(1)")
    project.write_logging("04_fine")
    assert go(project) == 1
    assert project.logged == ["04_fine"]
    told = capsys.readouterr().out
    assert told.splitlines()[:3] == [
        "01_broken: failed in the cell: frame = pandas.DataFrame()",
        "  line 2: frame.loc['a']",
        "  KeyError: 'a'",
    ]
    assert "02_refused: f.json: expected text\n" in told
    assert "03_killed: its kernel died in the cell: import os\n" in told
    assert "Traceback" not in told and "site-packages" not in told
    assert len(told.splitlines()) < 20
    assert {path.name for path in executed(project).glob("01*")} == {"01_broken.ipynb"}
    assert "never" in (executed(project) / "01_broken.ipynb").read_text()


@pytest.mark.parametrize(
    ("which", "options", "line"),
    [
        ((), {"parameters": {"colour": "red"}}, "field parameter colour: expected one of: log, rate"),
        ((), {"parameters": {"seed": "1"}}, "field parameter seed: give --seed instead"),
        ((), {"parameters": {"train": "file.json"}}, "field parameter train: give --train instead"),
        ((), {"parameters": {"rate": "fast"}}, "field parameter rate: expected a value like 0.5, not 'fast'"),
        ((), {"scale": "huge"}, "field scale: expected one of smoke, class, paper, not 'huge'"),
        (("07",), {}, "field notebook: expected the beginning of a notebook's name (01_first, 02_second), not '07'"),
    ],
)
def test_bad_options_write_nothing(project, which: tuple, options: dict, line: str) -> None:
    project.write("01_first", parameters="log = ''\nrate = 0.5\nseed = 0")
    project.write("02_second")
    with pytest.raises(InputError) as caught:
        go(project, *which, **options)
    assert str(caught.value) == line
    assert not project.output.exists()


@pytest.mark.parametrize("content", [b"", b"[{]", b"\xff\xfe{}", b"[]", b'[{"_id": "q"}]'])
def test_bad_data_is_noticed_before_any_notebook_runs(project, content: bytes) -> None:
    project.write_logging("01_first")
    project.data.write_bytes(content)
    with pytest.raises(InputError):
        go(project)
    assert not project.logged and not project.output.exists()


def test_another_training_file_runs_what_learns_again(project, capsys: pytest.CaptureFixture) -> None:
    learned = "from pathlib import Path\nassert not train or Path(train).is_absolute()\n"
    learned += 'with open(log, "a") as sink:\n    sink.write(f"01_learner:{Path(train).name}\\n")'
    project.write("01_learner", learned, parameters='data = ""\ntrain = ""\nlog = ""')
    project.write_logging("02_other")
    train = project.data.with_name("train.json")
    train.write_text(project.data.read_text())
    assert go(project, train="train.json") == 0  # as seen from the working folder
    assert project.logged == ["01_learner:train.json", "02_other"]

    capsys.readouterr()
    assert go(project, train=train) == 0
    assert capsys.readouterr().out.count("finished earlier, skipped") == 2

    train.write_text(json.dumps(json.loads(train.read_text())[1:]))
    assert go(project, train=train) == 0
    assert project.logged[2:] == ["01_learner:train.json"]
    assert "02_other: finished earlier, skipped" in capsys.readouterr().out

    assert go(project) == 0  # learns from the data's own questions, of which there are none
    assert project.logged[3:] == ["01_learner:"]


def test_kernel_is_the_python_of_the_kit(project, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    spec = tmp_path / "jupyter" / "kernels" / "python3"
    spec.mkdir(parents=True)
    (spec / "kernel.json").write_text('{"argv": ["/bin/false"], "display_name": "other", "language": "python"}')
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path / "jupyter"))
    project.write_logging("01_first", f"import sys\nassert sys.executable == {sys.executable!r}")
    assert go(project) == 0


def test_kernel_that_does_not_start_is_started_once_more(
    project, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    profile = tmp_path / "ipython" / "profile_default"
    profile.mkdir(parents=True)
    monkeypatch.setenv("IPYTHONDIR", str(profile.parent))
    starts = tmp_path / "starts"
    config = f"import os, pathlib\nstarts = pathlib.Path({str(starts)!r})\n"
    config += "starts.write_text((starts.read_text() if starts.exists() else '') + 'x')\n"
    (profile / "ipython_kernel_config.py").write_text(config + "if starts.read_text() == 'x': os._exit(1)\n")
    project.write_logging("01_first")
    assert go(project) == 0
    assert (starts.read_text(), project.logged) == ("xx", ["01_first"])

    (profile / "ipython_kernel_config.py").write_text(config + "os._exit(1)\n")
    assert go(project, again=True) == 1
    assert starts.read_text() == "xxxx"
    assert "01_first: its kernel did not start" in capsys.readouterr().out


def start_in_a_process(project) -> subprocess.Popen:
    code = (
        "import sys; from pathlib import Path; from kit.runs.runner import run; "
        f"sys.exit(run(data={str(project.data)!r}, notebooks=Path({str(project.notebooks)!r}), "
        f"parameters={{'log': {str(project.log)!r}}}))"
    )
    # A process that was started in the background ignores Ctrl-C, and so would its children.
    heed = partial(signal.signal, signal.SIGINT, signal.default_int_handler)
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, start_new_session=True, preexec_fn=heed
    )
    wait_until(lambda: kernel(project) is not None or process.poll() is not None)
    assert process.poll() is None
    return process


def kernel(project) -> int | None:
    file = Path(f"{project.log}.pid")
    return int(file.read_text()) if file.exists() and file.read_text() else None


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"


def wait_until(condition: object, seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_goes_on_after_a_kill_in_the_middle(project, how: signal.Signals) -> None:
    project.write_logging("01_first")
    project.write_logging("02_second", WAIT, END)
    project.write_logging("03_third")
    process = start_in_a_process(project)
    assert project.logged == ["01_first", "02_second"]
    process.send_signal(how)
    told, _ = process.communicate(timeout=30)
    if how == signal.SIGINT:
        assert process.returncode == 130
        assert told.splitlines()[-1] == "interrupted; the same command goes on where it stopped"
    wait_until(lambda: not is_alive(kernel(project)), 10)

    Path(f"{project.log}.go").touch()
    assert go(project) == 0
    assert project.logged == ["01_first", "02_second", "02_second", "end", "03_third"]
    assert not list(executed(project).glob("*running*"))
    before = {path: path.read_bytes() for path in executed(project).iterdir()}
    assert len(before) == 9
    assert go(project) == 0
    assert {path: path.read_bytes() for path in executed(project).iterdir()} == before
