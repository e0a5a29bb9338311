"""The runner, on small notebooks in real kernels."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import nbformat
import pytest
from nbformat.sign import NotebookNotary

from kit.errors import InputError
from kit.lab import execution, runner
from kit.lab.catalogue import figure_prefix, full_name, notebook_file
from kit.lab.parameters import read_parameters
from kit.lab.runner import find_notebooks, run
from kit.paths import ROOT

# The notebook says its process, then waits for a file: so a run can be stopped in the middle.
WAIT = """import os, pathlib, time
pathlib.Path(log + ".pid").write_text(str(os.getpid()))
while not pathlib.Path(log + ".go").exists():
    time.sleep(0.02)"""


def go(project, *which: str, **options: object) -> int:
    options = {"parameters": {"log": str(project.log)}, "data": project.data, **options}
    return run(which, notebooks=project.notebooks, **options)


def executed(project, suffix: str = "-trial") -> Path:
    return project.output / "notebooks" / "executed" / f"hotpotqa-dev{suffix}"


def test_notebooks_are_found_in_order_by_the_beginning_of_their_names(project) -> None:
    for name in ("03_c", "01_a", "02_b", "notes"):
        project.write(
            name, parameters='name = "x"\nk: int = 5\nrate = -0.5\nlimit = None\nfast = True'
        )
    notebooks = find_notebooks(project.notebooks)
    assert [path.stem for path in notebooks] == ["01_a", "02_b", "03_c"]
    assert [path.stem for path in find_notebooks(project.notebooks, ["03", "01_a"])] == [
        "01_a",
        "03_c",
    ]
    assert (
        list(notebooks.values())
        == [{"name": "x", "k": 5, "rate": -0.5, "limit": None, "fast": True}] * 3
    )


def test_texts_become_values_of_the_defaults_kinds() -> None:
    notebooks = [{"text": "x", "k": 5, "rate": 0.5, "fast": False}, {"k": None, "other": None}]
    texts = {"text": "12", "k": "7", "rate": "1", "fast": "True", "other": "abc"}
    first, second = read_parameters(texts, notebooks)
    assert first == {"text": "12", "k": 7, "rate": 1.0, "fast": True} and second == {
        "k": 7,
        "other": "abc",
    }
    for name, text in {"k": "many", "rate": "x", "fast": "maybe"}.items():
        with pytest.raises(
            InputError, match=f"field parameter {name}: expected a value like .*, not '{text}'"
        ):
            read_parameters({name: text}, notebooks)


def test_runs_in_order_then_skips_then_runs_what_changed(
    project, capsys: pytest.CaptureFixture
) -> None:
    project.write_logging("02_second", "seed + 1")
    project.write_logging("01_first")
    assert go(project) == 0
    assert project.logged == ["01_first", "02_second"]
    assert {path.name for path in executed(project).iterdir()} == {
        f"{name}.{suffix}" for name in ("01_first", "02_second") for suffix in ("ipynb", "json")
    }
    cells = nbformat.read(executed(project) / "02_second.ipynb", as_version=4).cells
    assert cells[-1].outputs[0].data["text/plain"] == "1"
    assert f"copies with: jupyter lab {executed(project)}\n" in capsys.readouterr().out

    assert go(project) == 0
    printed = capsys.readouterr().out
    assert printed.count("finished earlier, skipped") == len(project.logged) == 2
    assert "jupyter lab" not in printed  # nothing is new

    project.write_logging("02_second", "seed + 2")  # another source
    (executed(project) / "01_first.json").write_text('{"key": "0')  # a damaged account
    assert go(project) == 0
    assert sorted(project.logged[2:]) == ["01_first", "02_second"]

    (executed(project) / "02_second.ipynb").write_text("")  # a damaged output
    assert go(project) == 0
    assert project.logged[4:] == ["02_second"]
    assert go(project, "01", again=True) == 0
    assert project.logged[5:] == ["01_first"]

    questions = json.loads(project.data.read_text())
    project.data.write_text(json.dumps(questions[1:]))  # other data
    assert go(project, "01", scale="smoke") == 0
    assert (executed(project, "-smoke") / "01_first.ipynb").exists()
    assert project.logged[6:] == ["01_first"]


def test_after_the_first_the_longest_by_its_last_record_is_begun(project) -> None:
    records = {"01_first": None, "02_new": None, "03_short": '{"provenance": {"seconds": 1.5}}'}
    records |= {"04_long": '{"provenance": {"seconds": 60}}', "05_damaged": '{"provenance": {"sec'}
    folder = project.output / "figures" / "hotpotqa-dev-trial"
    folder.mkdir(parents=True)
    for name, record in records.items():
        project.write_logging(name)
        if record:
            (folder / f"{name}.json").write_text(record)
    assert go(project) == 0
    assert project.logged == ["01_first", "04_long", "03_short", "02_new", "05_damaged"]


def test_a_notebook_may_name_the_data_that_it_is_about(
    project, capsys: pytest.CaptureFixture
) -> None:
    reports = ROOT / "data" / "reports"
    project.write("01_pages", parameters=f'data = "{reports}"\nlog = ""')
    project.write("02_other")
    jobs = runner.plan(data=project.data, notebooks=project.notebooks)
    assert [job.parameters["data"] for job in jobs] == [str(reports), str(project.data)]
    assert [job.figures.name for job in jobs] == ["documents-reports", "hotpotqa-dev"]
    (project.notebooks / "plan.PDF").touch()
    with pytest.raises(InputError, match=r"plan\.PDF"):  # PDFs of one's own are read instead
        runner.plan(["01"], data=project.notebooks, notebooks=project.notebooks)


def test_more_seeds_of_training_make_no_trial(project) -> None:
    project.write("01_learner", parameters='data = ""\nn_trainings = 1\nlog = ""')
    for more, folder in (({}, "hotpotqa-dev"), ({"log": "x"}, "hotpotqa-dev-trial")):
        parameters = {"n_trainings": "3", **more}
        (job,) = runner.plan(parameters=parameters, data=project.data, notebooks=project.notebooks)
        assert job.figures.name == folder and job.parameters["n_trainings"] == 3


def test_failing_notebook_is_told_in_one_screen_and_the_others_run(
    project, capsys: pytest.CaptureFixture
) -> None:
    project.write(
        "01_broken", "import pandas", "frame = pandas.DataFrame()\nframe.loc['a']", "never = 1"
    )
    project.write(
        "02_refused",
        'from kit.errors import InputError\nraise InputError("expected text", file="f.json")',
    )
    project.write("03_killed", "import os\nos._exit(1)")
    project.write_logging("04_fine")
    assert go(project) == 1
    assert project.logged == ["04_fine"]
    printed = capsys.readouterr().out
    assert printed.startswith(
        "01_broken: failed in the cell: frame = pandas.DataFrame()\n  KeyError: 'a'\n"
    )
    assert "02_refused: f.json: expected text\n" in printed
    assert "03_killed: its kernel died in the cell: import os\n" in printed
    assert "Traceback" not in printed and "site-packages" not in printed
    assert len(printed.splitlines()) < 20
    assert {path.name for path in executed(project).glob("01*")} == {"01_broken.ipynb"}
    assert "never" in (executed(project) / "01_broken.ipynb").read_text()


@pytest.mark.parametrize(
    ("which", "options", "line"),
    [
        (
            (),
            {"parameters": {"colour": "red"}},
            "field parameter colour: expected one of: log, rate",
        ),
        (
            (),
            {"parameters": {"seed": "1"}},
            "field parameter seed: expected the option --seed instead",
        ),
        ((), {"seed": -1}, "field seed: expected a whole number from 0, not -1"),
        ((), {"data": "absent.json"}, "absent.json: no such file"),
        (
            ("07",),
            {},
            "expected the beginning of a notebook's name (01_first, 02_second), not '07'",
        ),
    ],
)
def test_bad_options_write_nothing(project, which: tuple, options: dict, line: str) -> None:
    project.write_logging("01_first")
    project.write("02_second", parameters="log = ''\nrate = 0.5\nseed = 0")
    with pytest.raises(InputError) as caught:
        go(project, *which, **options)
    assert str(caught.value).endswith(line)
    assert not project.logged and not project.output.exists()


def test_another_training_file_runs_what_learns_again(project) -> None:
    project.write("01_learner", parameters='data = ""\ntrain = ""')
    project.write("02_other")
    train = project.data.with_name("train.json")
    train.write_text(project.data.read_text())

    def keys(file: object) -> list[str]:
        jobs = runner.plan(data=project.data, train=file, notebooks=project.notebooks)
        assert jobs[0].parameters["train"] == (str(train) if file else "")
        return [job.key for job in jobs]

    before = keys("train.json")  # as seen from the working folder
    assert keys(train) == before
    train.write_text(json.dumps(json.loads(train.read_text())[1:]))
    assert [key == other for key, other in zip(keys(train), before)] == [False, True]
    assert keys(None)[0] not in (before[0], keys(train)[0])


def test_a_kernel_that_does_not_start_is_started_once_more(project, monkeypatch, capsys) -> None:
    project.write_logging("01_first")
    execute, tries = execution.NotebookClient.start_new_kernel, []

    def no_port(*arguments: object, **settings: object) -> object:
        tries.append(1)
        if len(tries) != 2:
            raise RuntimeError("Kernel died before replying to kernel_info")
        return execute(*arguments, **settings)

    monkeypatch.setattr(execution.NotebookClient, "start_new_kernel", no_port)
    assert go(project) == 0 and project.logged == ["01_first"]
    assert go(project, again=True) == 1 and len(tries) == 4
    assert "01_first: its kernel did not start" in capsys.readouterr().out


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def wait_until(condition: object, seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def begin(project, **options: object) -> subprocess.Popen:
    code = "import sys; from pathlib import Path; from kit.lab.runner import run; "
    code += f"run(data={str(project.data)!r}, notebooks=Path({str(project.notebooks)!r}), "
    code += f"parameters={{'log': {str(project.log)!r}}}, **{options})"
    return subprocess.Popen([sys.executable, "-c", code], text=True, stdout=subprocess.PIPE)


def test_two_at_once_share_the_cores(project) -> None:
    project.write_logging("01_first", WAIT)  # ends when the second has run
    project.write(
        "02_second", 'import os\nopen(log + ".go", "w").write(os.environ["OMP_NUM_THREADS"])'
    )
    project.write("03_broken", "1 / 0")
    printed, _ = begin(project, at_once=2).communicate(timeout=120)
    assert project.logged == ["01_first"]
    assert Path(f"{project.log}.go").read_text() == str(max(1, os.cpu_count() // 2))
    assert sorted(line[:9] for line in printed.splitlines() if line[0] != " ") == [
        "01_first:",
        "02_second",
        "03_broken",
        "open the ",
    ]


def test_goes_on_after_a_kill_in_the_middle(project) -> None:
    project.write_logging("01_first")
    project.write_logging("02_second", WAIT)
    project.write_logging("03_third")
    process, pid = begin(project), Path(f"{project.log}.pid")
    wait_until(lambda: process.poll() is not None or (pid.exists() and pid.read_text()))
    assert process.poll() is None and project.logged == ["01_first", "02_second"]
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    wait_until(lambda: not is_alive(int(pid.read_text())))  # its kernel ends with it

    Path(f"{project.log}.go").touch()
    assert go(project) == 0
    assert project.logged == ["01_first", "02_second", "02_second", "03_third"]
    assert len(list(executed(project).iterdir())) == 6


def test_who_is_ended_ends_the_notebooks_too(project) -> None:
    for name in ("01_first", "02_second"):
        project.write(name, WAIT.replace('log + ".pid"', f'log + ".{name}"'))
    arguments = ["kit", "run", "--data", str(project.data), "-p", "log", str(project.log)]
    code = "import kit.lab.cli, kit.paths, pathlib, sys\n"
    code += f"kit.paths.NOTEBOOKS = pathlib.Path({str(project.notebooks)!r})\n"
    code += f"sys.argv = {arguments!r}\n"
    code += "kit.lab.cli.main()"
    process = subprocess.Popen([sys.executable, "-c", code], text=True, stderr=subprocess.PIPE)
    pids = [Path(f"{project.log}.{name}") for name in ("01_first", "02_second")]
    wait_until(
        lambda: process.poll() is not None or all(pid.exists() and pid.read_text() for pid in pids)
    )
    process.terminate()
    printed = process.communicate(timeout=60)[1]
    assert process.returncode == 130 and "kit: interrupted; what was finished is kept" in printed
    wait_until(lambda: not any(is_alive(int(pid.read_text())) for pid in pids))


def test_a_number_stands_for_two_digits_and_a_whole_name_for_itself(project) -> None:
    for name in ("01_a", "01_a-Copy1", "03_c", "10_d", "30_e"):
        project.write(name)

    def stems(*which: str) -> list[str]:
        return [path.stem for path in find_notebooks(project.notebooks, which)]

    assert stems("3") == ["03_c"] and stems("10") == ["10_d"]
    assert stems("1") == ["01_a", "01_a-Copy1"] and stems("01_a") == ["01_a"]
    with pytest.raises(InputError, match="not '4'"):
        stems("4")


def test_papers_and_solutions_are_chosen_by_their_folder(project) -> None:
    for name in ("01_a", "02_b", "papers/kgp", "papers/ras", "solutions/01_a", "solutions/02_b"):
        project.write(name)

    def names(*which: str) -> list[str]:
        return [full_name(path) for path in find_notebooks(project.notebooks, which)]

    assert names() == ["01_a", "02_b"]
    assert names("papers") == names("papers/") == ["papers/kgp", "papers/ras"]
    assert names("papers/r", "2") == ["02_b", "papers/ras"]
    assert names("solutions/2") == ["solutions/02_b"]
    for name, listed in (
        ("kgp", "01_a, 02_b, papers, solutions"),
        ("papers/x", "papers/kgp, papers/ras, papers, solutions"),
        ("drafts/01", "01_a, 02_b, papers, solutions"),
    ):
        with pytest.raises(InputError, match=rf"name \({listed}\), not '{name}'"):
            names(name)


@pytest.mark.parametrize(
    ("stem", "prefix"),
    [
        ("04_gnn_ret", "04"),
        ("04_gnn_ret-Copy1", "04"),
        ("gnn_ret", "gnn_ret"),
        ("kgp-Copy1", "kgp"),
        ("solutions/04_gnn_ret", "04"),
        ("papers/bgr", "bgr"),
    ],
)
def test_figures_begin_with_a_lessons_number_or_a_papers_name(stem: str, prefix: str) -> None:
    assert figure_prefix(stem) == prefix


def test_a_notebook_is_found_by_its_stem_in_three_folders(project, monkeypatch) -> None:
    monkeypatch.setattr("kit.paths.NOTEBOOKS", project.notebooks)
    for name in ("01_a", "papers/kgp", "solutions/01_a", "solutions/02_b"):
        project.write(name)
    for name, file in (
        ("01_a", "01_a"),
        ("kgp", "papers/kgp"),
        ("02_b", "solutions/02_b"),
        ("solutions/01_a", "solutions/01_a"),
        ("03_none", "03_none"),
    ):
        assert notebook_file(name) == project.notebooks / f"{file}.ipynb"


def test_a_notebook_about_documents_does_not_read_something_else_in_silence(
    project, capsys: pytest.CaptureFixture
) -> None:
    project.write("01_first")
    project.write("08_pages", parameters=f'data = "{ROOT / "data" / "reports"}"\nlog = ""')
    for data in (project.data, project.notebooks):
        with pytest.raises(InputError, match="08_pages is about documents with pages: expected PD"):
            runner.plan(["8"], data=data, notebooks=project.notebooks)
    assert go(project) == 0  # all of them: a line tells
    assert (
        "08_pages: reads reports of its own, not --data: it is about PDFs\n"
        in capsys.readouterr().out
    )


DRAW = """import os, pathlib
folder = pathlib.Path(os.environ["KIT_FIGURES"])
folder.mkdir(parents=True, exist_ok=True)
(folder / "01_curve.csv").write_text(str(seed))"""


def test_a_copy_draws_into_a_folder_of_its_own(project) -> None:
    project.write("01_first", DRAW)
    project.write("01_first-Copy1", DRAW.replace("str(seed)", "'a copy'"))
    assert run(data=project.data, notebooks=project.notebooks) == 0
    figures = project.output / "figures"
    texts = {path.parent.name: path.read_text() for path in figures.glob("*/01_curve.csv")}
    assert texts == {"hotpotqa-dev": "0", "hotpotqa-dev-01_first-Copy1-trial": "a copy"}
    copies = sorted((project.output / "notebooks" / "executed").glob("*/*.ipynb"))
    assert [path.stem for path in copies] == ["01_first", "01_first-Copy1"]


def test_only_publishing_replaces_what_is_published(project, tmp_path: Path, monkeypatch) -> None:
    published = tmp_path / "published"
    monkeypatch.setattr("kit.paths.PUBLISHED", published)
    monkeypatch.setattr("kit.paths.NOTEBOOKS", project.notebooks)
    monkeypatch.setattr("kit.paths.ROOT", tmp_path)  # where no README shows a picture
    stale = published / "hotpotqa-dev" / "01_stale.csv"
    other = published / "hotpotqa-dev" / "02_other.csv"
    stale.parent.mkdir(parents=True)
    stale.touch()
    other.touch()
    project.write("01_first", DRAW)
    options = {"data": project.data, "notebooks": project.notebooks}
    assert run(**options) == 0
    assert {path.name for path in stale.parent.iterdir()} == {"01_stale.csv", "02_other.csv"}
    for trial in ({"parameters": {"log": "x"}}, {"scale": "smoke"}, {"seed": 1}):
        with pytest.raises(InputError, match=r"01_first\.ipynb: expected a whole run to publish"):
            run(publish=True, **options, **trial)
    assert stale.exists()
    assert run(publish=True, **options) == 0  # it finished before: that is published
    assert {path.name for path in stale.parent.iterdir()} == {"01_curve.csv", "02_other.csv"}


DRAW_ALL = """import os, pathlib
folder = pathlib.Path(os.environ["KIT_FIGURES"])
folder.mkdir(parents=True, exist_ok=True)
for suffix in ("csv", "png", "svg"):
    (folder / f"{prefix}_curve.{suffix}").write_text(suffix)
    (folder / f"{prefix}_shown.{suffix}").write_text(suffix)
(folder / f"{record}.json").write_text('{"provenance": {}}')"""


def drawing(prefix: str, record: str) -> str:
    return f"prefix = {prefix!r}\nrecord = {record!r}\n{DRAW_ALL}"


def test_pictures_that_no_text_shows_are_not_published(project, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("kit.paths.PUBLISHED", tmp_path / "published")
    monkeypatch.setattr("kit.paths.NOTEBOOKS", project.notebooks)
    monkeypatch.setattr("kit.paths.ROOT", tmp_path)
    (tmp_path / "README.md").write_text("![](figures/published/hotpotqa-dev/01_shown.png)")
    guide = "[](../figures/published/hotpotqa-dev/kgp_shown.png) and the .svg beside it"
    (project.notebooks / "TEACHING.md").write_text(guide)
    project.write("01_first", drawing("01", "01_first"))
    project.write("papers/kgp", drawing("kgp", "kgp"))
    assert run(["01", "papers"], publish=True, data=project.data, notebooks=project.notebooks) == 0
    names = {path.name for path in (tmp_path / "published" / "hotpotqa-dev").iterdir()}
    assert names == {
        "01_first.json",
        "01_curve.csv",
        "01_shown.csv",
        "01_shown.png",
        "kgp.json",
        "kgp_curve.csv",
        "kgp_shown.csv",
        "kgp_shown.png",
    }


def test_papers_and_solutions_run_when_they_are_named_and_leave_the_lessons_results(
    project, capsys: pytest.CaptureFixture
) -> None:
    project.write("01_first", drawing("01", "01_first"))
    project.write("papers/kgp", drawing("kgp", "kgp"))
    project.write("solutions/01_first", drawing("01", "01_first"))
    options = {"data": project.data, "notebooks": project.notebooks}
    assert run(**options) == 0
    figures = project.output / "figures" / "hotpotqa-dev"
    lessons_files = {path: path.stat().st_mtime_ns for path in figures.iterdir()}
    assert {path.name[:2] for path in lessons_files} == {"01"}

    assert run(["papers", "solutions/1"], **options) == 0
    printed = capsys.readouterr().out
    assert "papers/kgp: done in" in printed and "solutions/01_first: done in" in printed
    assert lessons_files.items() <= {p: p.stat().st_mtime_ns for p in figures.iterdir()}.items()
    assert (figures / "kgp.json").exists() and (figures / "solutions" / "01_curve.csv").exists()
    copies = project.output / "notebooks" / "executed" / "hotpotqa-dev"
    names = {path.relative_to(copies).as_posix() for path in copies.rglob("*.ipynb")}
    assert names == {"01_first.ipynb", "papers/kgp.ipynb", "solutions/01_first.ipynb"}

    assert run(["01", "papers", "solutions"], **options) == 0
    assert capsys.readouterr().out.count("finished earlier, skipped") == 3
    with pytest.raises(InputError, match="expected lessons or papers to publish, not solutions"):
        run(["solutions"], publish=True, **options)


def test_the_kernel_is_of_this_python_and_quiet(project, monkeypatch, capfd) -> None:
    kernel = Path(os.environ["JUPYTER_DATA_DIR"]) / "kernels" / "python3"
    kernel.mkdir(parents=True)
    another = {"argv": ["/bin/false", "{connection_file}"], "display_name": "3", "language": "x"}
    (kernel / "kernel.json").write_text(json.dumps(another))
    project.write("01_first", "import sys\nopen(log, 'w').write(sys.executable)")
    assert go(project) == 0
    assert project.logged == [sys.executable]
    assert capfd.readouterr().err == ""


BAR = """from kit.progress import progress_bar
for i in progress_bar(range(3), desc="in words"):
    pass"""


def test_the_copy_needs_no_kernel_and_is_trusted(project) -> None:
    project.write("01_first", "import ipywidgets\nipywidgets.IntSlider()", BAR, "1 + 1")
    assert go(project) == 0
    copy = nbformat.read(executed(project) / "01_first.ipynb", as_version=4)
    outputs = [output for cell in copy.cells[1:] for output in cell.outputs]
    assert [output.data for output in outputs] == [{"text/plain": "2"}]
    assert "widgets" not in copy.metadata
    assert NotebookNotary().check_signature(copy)


def test_the_line_of_a_notebook_tells_step_and_time(project) -> None:
    path = project.write("01_first")
    (job,) = runner.plan(data=project.data, notebooks=project.notebooks)
    cells = nbformat.read(path, as_version=4).cells
    line = execution.StepLine(job, 4)
    assert line.text(2.0) == "its kernel starts (cell 0 of 4)"
    line.begin(cells[0])
    assert line.text(2.0) == "01_first (cell 1 of 4), about 00:06 left"
    line.begin(cells[1])
    assert line.text(2.0) == "01_first (cell 2 of 4), about 00:02 left"

    job.figures.mkdir(parents=True)
    record = {"provenance": {"seconds": 65}}
    (job.figures / "01_first.json").write_text(json.dumps(record))
    line = execution.StepLine(job, 4)
    assert line.text(2.0) == "its kernel starts (cell 0 of 4), about 01:03 left"
    assert line.text(80.0).endswith("about 00:00 left")
