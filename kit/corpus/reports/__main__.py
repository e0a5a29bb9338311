"""``python -m kit.corpus.reports``: write ``data/reports`` again."""

from kit.corpus.reports import write
from kit.paths import ROOT

for path in write(ROOT / "data" / "reports"):
    print(path.relative_to(ROOT))
