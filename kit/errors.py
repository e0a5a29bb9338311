"""The one exception that a user is meant to read."""


class InputError(ValueError):
    """Bad input, told in one plain line: where (file, record, field) and what was expected.

    The command line prints the line and exits with status 2; nothing has been written by then.
    """

    def __init__(
        self, expected: str, *, file: object = None, record: object = None, field: object = None
    ) -> None:
        where = [str(file)] if file is not None else []
        where += [
            f"{what} {name}"
            for what, name in (("record", record), ("field", field))
            if name is not None
        ]
        line = f"{', '.join(where)}: {expected}" if where else expected
        plain = " ".join(line.split())
        super().__init__(plain.encode("utf-8", "backslashreplace").decode())  # as a file's name is
