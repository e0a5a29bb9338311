"""A small invented corpus, text that would do harm as markup, and a notebook seen in a browser."""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import nbformat
import pytest
from playwright.sync_api import Page, Route, sync_playwright

from kit.corpus import Corpus, Passage, Question

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
]
FLAGS += [
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
]  # no sandbox: it may be root
READY = """() => {
  const widgets = [...(window.jupyterapp?.shell.widgets('main') ?? [])];
  const panel = widgets.find(widget => widget.context?.isReady);
  return panel?.sessionContext.session?.kernel?.status === 'idle';
}"""
RUN = """() => {
  const prompts = [...document.querySelectorAll('.jp-CodeCell .jp-InputPrompt')];
  return prompts.every(prompt => /[0-9]/.test(prompt.textContent));
}"""
WAIT = 180  # seconds, for a machine that has much else to do
HOSTILE = (
    "<img src=x onerror=\"window.HACKED=1\"> & 'q' $x^2$ "
    "</script><script>window.HACKED=2</script>\nline two"
)


@pytest.fixture(scope="session")
def hostile() -> str:
    return HOSTILE


@pytest.fixture(scope="session")
def corpus() -> Corpus:
    texts = {
        "Ada Lund": "Ada Lund is a director born in Marrow. The Long Ferry made her known.",
        "Marrow": "Marrow is a port on the Halle. The harbour ships timber.",
        "The Long Ferry": "The Long Ferry is a film by Ada Lund.",
        "Halle": "The Halle is a river. It passes Marrow and Tilsby.",
        "Tilsby": "Tilsby is a town on the Halle with a mill.",
        HOSTILE: HOSTILE,
    }
    return Corpus(
        Passage(f"p{i}", title, text, f"d{i // 2}", i % 2)
        for i, (title, text) in enumerate(texts.items())
    )


@pytest.fixture(scope="session")
def questions() -> list[Question]:
    text = "On which river lies the birthplace of the director of The Long Ferry?"
    chain = Question("q1", text, "Halle", (("p2",), ("p0",), ("p1",)))
    return [chain, Question("q2", HOSTILE, "nobody", (("p5",), ("p4",)))]


class Seen:
    """A page with a notebook whose cells have all run.

    ``errors`` are the console's, ``elsewhere`` what was asked of other hosts.
    """

    def __init__(self, page: Page) -> None:
        self.page = page
        self.errors = []
        self.elsewhere = []
        page.on(
            "console", lambda message: message.type == "error" and self.errors.append(message.text)
        )
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("websocket", lambda websocket: self._is_away(websocket.url))
        page.route("**/*", self._stay_here)

    def _stay_here(self, route: Route) -> None:
        if self._is_away(route.request.url):
            route.abort()
        else:
            route.continue_()

    def _is_away(self, url: str) -> bool:
        away = urlsplit(url).hostname not in (None, "127.0.0.1")
        self.elsewhere += [url] if away else []
        return away


@pytest.fixture(scope="session")
def chromium() -> str:
    """The browser; skips where there is none."""
    path = (
        os.environ.get("KIT_CHROMIUM")
        or shutil.which("chromium")
        or shutil.which("chromium-browser")
    )
    if not path:
        pytest.skip("no Chromium (set KIT_CHROMIUM)")
    return path


@pytest.fixture
def opened(chromium: str) -> Iterator[Seen]:
    """A page to open files in."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        yield Seen(browser.new_page(viewport={"width": 1200, "height": 1000}))
        browser.close()


@pytest.fixture(scope="module")
def seen(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, chromium: str
) -> Iterator[Seen]:
    """A notebook with the test module's CELLS, open in JupyterLab and run."""
    folder = tmp_path_factory.mktemp("lab")
    cells = [nbformat.v4.new_code_cell(source) for source in request.module.CELLS.values()]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=kernel), folder / "seen.ipynb")
    with _jupyterlab(folder) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        page = browser.new_page(viewport={"width": 1300, "height": 1000})
        page.set_default_timeout(10_000)
        seen = Seen(page)
        page.goto(f"{address}/doc/tree/seen.ipynb", timeout=WAIT * 1000)
        page.wait_for_function(READY, timeout=WAIT * 1000)
        page.evaluate("() => void window.jupyterapp.commands.execute('notebook:run-all-cells')")
        page.wait_for_function(RUN, timeout=WAIT * 1000)
        page.wait_for_timeout(500)
        yield seen
        browser.close()


@pytest.fixture
def page(seen: Seen) -> Page:
    return seen.page


@contextmanager
def _jupyterlab(folder: Path) -> Iterator[str]:
    """A server on the loopback address without any settings of the user's."""
    private = folder / ".jupyter"
    runtime = private / "_RUNTIME_DIR"
    names = ("LAB_SETTINGS_DIR", "LAB_WORKSPACES_DIR", "_CONFIG_DIR", "_DATA_DIR", "_RUNTIME_DIR")
    environment = (
        os.environ
        | {f"JUPYTER{name}": str(private / name) for name in names}
        | {"IPYTHONDIR": str(private)}
    )
    settings = private / "LAB_SETTINGS_DIR" / "@jupyterlab" / "notebook-extension"
    settings.mkdir(parents=True)
    (settings / "tracker.jupyterlab-settings").write_text('{"windowingMode": "none"}')
    options = {
        "ServerApp.ip": "127.0.0.1",
        "ServerApp.root_dir": folder,
        "IdentityProvider.token": "",
        "LabApp.expose_app_in_browser": True,
        "LabApp.news_url": None,
        "LabApp.check_for_updates_class": "jupyterlab.NeverCheckForUpdate",
        "LabApp.extension_manager": "readonly",
    }
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"]
    command += [f"--{name}={value}" for name, value in options.items()]
    with (private / "log").open("wb") as log:
        server = subprocess.Popen(
            command, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log
        )
    try:
        deadline = time.monotonic() + WAIT
        while not [
            *runtime.glob("jpserver-*-open.html")
        ]:  # written last, when the address is known
            assert server.poll() is None and time.monotonic() < deadline, (
                private / "log"
            ).read_text()[-2000:]
            time.sleep(0.2)
        [server_file] = runtime.glob("jpserver-*.json")
        yield json.loads(server_file.read_text())["url"].rstrip("/")
    finally:
        server.terminate()  # it ends its kernels, then itself
        server.wait(30)
