"""``python -m kit`` is ``kit``."""

from kit.lab.cli import main

if __name__ == "__main__":
    main()
