"""What JupyterLab, begun in the checkout, does when it saves a notebook."""

from typing import Any


def forget_kernel(model: dict[str, Any], **_: Any) -> None:
    """Leave out which Python showed a notebook: opening one changes nothing in it.

    A hook of Jupyter's before a file is saved; ``jupyter_server_config.json`` names it.
    """
    if model["type"] == "notebook":
        metadata = model["content"]["metadata"]
        metadata["language_info"] = {"name": "python"}
        metadata["kernelspec"] = {
            "display_name": "Python 3",
            "language": "python",
            "name": "python3",
        }
