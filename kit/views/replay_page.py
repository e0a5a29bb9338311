"""Replays as one HTML page to keep and share: what the canvas shows, without a kernel.

The page asks no host for anything. Text from a corpus stands in it as data, and enters what is seen
as text nodes only (canvas.js).
"""

from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from msgspec import to_builtins

from kit.views.replay import GOLD, GOLD_RIM, HALO, SHADES, Replay
from kit.views.style import look

_FOLDER = Path(__file__).parent
CANVAS_STYLE = (_FOLDER / "canvas.css").read_text("utf-8")
CANVAS_SCRIPT = "\n".join(
    (_FOLDER / name).read_text("utf-8") for name in ("shapes.js", "canvas.js")
)
_PAGE_SCRIPT = (_FOLDER / "page.js").read_text("utf-8")
_PAGE_STYLE = """
:root { color-scheme: light dark; }
[data-jp-theme-light="false"] { background: #111; color: #e4e4e4; }
h1 { margin: 0 0 6px; font-size: 16px; }
body { display: flex; flex-wrap: wrap; gap: 8px; margin: 8px; font-family: system-ui, sans-serif; }
.kit-canvas button { border: 1px solid #999; border-radius: 3px; line-height: 20px; }
.kit-place { flex: 1 1 460px; min-width: 0; }
"""
_FRAME_STYLE = "width: 100%; border: 1px solid #bbb"

Content = dict[str, Any]  # of a canvas: what its model holds, ready for JSON


class OfflinePage(NamedTuple):
    """``html`` is the page, ``height`` what it takes in a notebook, in pixels.

    In Jupyter its scripts run in a frame that sees neither the notebook nor the server.
    """

    html: str
    height: int = 600

    def __repr__(self) -> str:
        return f"OfflinePage of {len(self.html):,} characters"

    def _repr_html_(self) -> str:
        style = f"{_FRAME_STYLE}; height: {self.height}px"
        page = f'srcdoc="{escape(self.html)}" style="{style}"'
        return (
            '<div class="kit-page">'
            f'<iframe sandbox="allow-scripts" loading="lazy" {page}></iframe></div>'
        )


def canvas_content(replay: Replay) -> Content:
    """A replay and how its kinds of nodes and edges look, as canvas.js reads them."""
    content = to_builtins(replay)
    content["nodes"] = {node.id: to_builtins(node) | {"label": node.label} for node in replay.nodes}
    looks = {
        "roles": replay.roles,
        "kinds": {kind: look(kind) for kind in replay.kinds},
        "halo": HALO,
        "gold": {"label": GOLD, "rim": GOLD_RIM},
        "scale": None,
        "shaded": replay.shaded_roles,
    }
    if replay.scale:
        looks["scale"] = content["scale"] | {"shades": SHADES}
    return {"replay": content, "looks": to_builtins(looks)}


def replay_page(replay: Replay, name: str) -> OfflinePage:
    """A replay as a page with a step slider and keys; ``name`` is its heading."""
    return page_of([(name, canvas_content(replay))])


def page_of(canvases: Sequence[tuple[str, Content]]) -> OfflinePage:
    """Headings and what canvases hold as a page; several stand side by side, at the same step."""
    models = [{"index": 0, "problem": "", **content, "name": name} for name, content in canvases]
    # "<" would end the script: so text can't become markup.
    data = msgspec.json.encode(models).decode().replace("<", "\\u003c")
    title = escape(" | ".join(name for name, _ in canvases))
    html = f"""<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><title>{title}</title><style>{CANVAS_STYLE}{_PAGE_STYLE}</style></head>
<body><script type="application/json" id="replays">{data}</script>
<script type="module">{CANVAS_SCRIPT}{_PAGE_SCRIPT}</script></body>
</html>
"""
    has_rankings = any(frame["columns"] for model in models for frame in model["replay"]["frames"])
    return OfflinePage(html, height=900 if has_rankings else 720)
