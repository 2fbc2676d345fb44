"""Texts for notebooks: tables, and the page of ``orthant tree view``."""

from __future__ import annotations

import base64
import html
import subprocess
import sys


class Page:
    """A page that needs nothing else: slices, and labels in 3-D. A notebook shows it where it is.

    ``text`` is the page as HTML; `save` writes it into a file.
    """

    def __init__(self, text: str, height: int = 600):
        self.text = text
        self.height = height

    def save(self, path):
        """Writes the page into a file, which any browser opens."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.text)

    def _repr_html_(self):
        page = html.escape(self.text, quote=True)
        return f'<iframe srcdoc="{page}" style="width: 100%; height: {self.height}px; border: 0"></iframe>'

    def __repr__(self):
        return f"Page of {len(self.text)} characters; save(path) writes it, and a notebook shows it"


def command(*arguments):
    """What a command of the command line prints. Its message is an exception if it fails."""
    run = [sys.executable, "-m", "pyorthant", *map(str, arguments)]
    done = subprocess.run(run, capture_output=True, text=True, encoding="utf-8")
    if done.returncode:
        from ._errors import OrthantError

        raise OrthantError(done.stderr.strip() or f"orthant {arguments[0]} ended with code {done.returncode}")
    return done.stdout


def table(title, facts, picture=None):
    """A small table, with a picture beside it."""
    rows = "".join(
        f"<tr><th style='text-align: left'>{html.escape(str(name))}</th>"
        f"<td style='text-align: left'>{html.escape(str(value))}</td></tr>"
        for name, value in facts.items()
    )
    image = ""
    if picture:
        image = f"<td><img style='max-width: 256px' src='data:image/png;base64,{base64.b64encode(picture).decode()}'></td>"
    return f"<table><tr><td><strong>{html.escape(title)}</strong><table>{rows}</table></td>{image}</tr></table>"
