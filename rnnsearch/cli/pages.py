"""The HTML pages of an evaluation: written, linked, and told where they are."""

import sys
from collections.abc import Callable
from pathlib import Path

from rnnsearch import checkpoint as files
from rnnsearch.errors import UserError, printable
from rnnsearch.wholefiles import write_text


def write_page(path: Path, page: Callable[[], str], *, link: Path | None = None) -> None:
    """Write a page and say where it is; one that fails must not fail the evaluation.

    Args:
        path: of the page.
        page: makes its text.
        link: of the run folder, to be pointed at it.
    """
    try:
        write_text(path, page())
        if link is not None:
            files.point(link, f"evaluations/{path.parent.name}/{path.name}")
    except (OSError, UserError) as error:
        print(f"warning: {printable(str(path))}: no report: {error}", file=sys.stderr)
        drop_page(path, link=link)
    else:
        print(f"report: {printable(str(path))}", file=sys.stderr)


def drop_page(path: Path, *, link: Path | None = None) -> None:
    """Remove the page and link of an earlier evaluation, which would pass for those of this one."""
    for old in (path, link):
        try:
            if old is not None:
                old.unlink(missing_ok=True)
        except OSError as error:
            print(f"warning: {printable(str(old))}: out of date ({error})", file=sys.stderr)
