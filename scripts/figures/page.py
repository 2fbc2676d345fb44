"""A page and what its specification says of the figures on it.

A number on a page is right if it is what the rows say, rounded to the digits that stand there. So a specification gives values, and pages
keep their digits. Every figure of a page is one of three things: computed; given (a goal, a setting or somebody else's published figure,
quoted); or without rows, for a reason that stands on the page.
"""

import math
import re

from figures.rows import ROOT, Wrong
from figures.scan import NUMBER, cells_of, figures, is_rule, lines_of

LEFT = object()  # a cell of which something else speaks
GIVEN = object()  # a goal or a setting: in a template or a cell, a number that no row holds


class UpTo(float):
    """A bound, as in "up to 23 %" and "within 2 %": rounded up."""


class Quoted(float):
    """A figure of another page, which has no rows for it; `reason` is why."""

    reason = ""


def quoted(name, template, reason):
    """The figures that another page has at the places @ of a sentence."""
    text = (ROOT / name).read_text()
    matches = list(re.finditer(pattern_of(template), text))
    if len(matches) != 1:
        raise Wrong(f"{name}: '{template}' stands there {len(matches)} times, and figures are quoted from it")
    found = []
    for group in matches[0].groups():
        found.append(Quoted(re.sub(r"[ ,\u202f]", "", group)))
        found[-1].reason = reason
    return found


def pattern_of(template):
    """A sentence as a regular expression: any white space, and a number for each @."""
    return r"\s+".join(re.escape(word).replace("@", f"({NUMBER})") for word in template.split())


class Page:
    """A page while its specification is held against it."""

    def __init__(self, name, text=None):
        self.name = name
        self.text = (ROOT / name).read_text() if text is None else text
        stem = {"README.md": "readme", "docs/results/README.md": "results"}.get(name) or name.rsplit("/", 1)[-1][:-3].replace("-", "_")
        self.specification = f"scripts/figures/pages/{stem}.py"
        self.found = []  # what is wrong: (place, words)
        self.changes = []  # (start, end, the text that is right)
        self.computed, self.given_at, self.made_at, self.without = set(), set(), set(), {}
        self.all = figures(self.text)

    # What is wrong

    def line(self, place):
        return self.text.count("\n", 0, place) + 1

    def wrong(self, place, words):
        self.found.append((place, words))

    # What a specification says

    def says(self, template, *values, times=1):
        """The page says this, each @ being one of the values, in order. Space is any white space."""
        matches = list(re.finditer(pattern_of(template), self.text))
        if len(matches) != times:
            return self.wrong(
                0,
                f"the words '{template}' stand {len(matches)} times on the page, not {times}; if they changed, change {self.specification} too",
            )
        for match in matches:
            if len(match.groups()) != len(values):
                raise Wrong(f"{self.name}: '{template}' has {len(match.groups())} places for {len(values)} values")
            for index, value in enumerate(values, 1):
                self.hold(match.span(index), value)

    def table(self, *columns, skip=0):
        """The table whose header has these words; `skip` passes over as many before it."""
        lines = list(lines_of(self.text))
        for index, (at, line) in enumerate(lines[:-1]):
            if is_rule(lines[index + 1][1]) and all(column in line for column in columns):
                if skip == 0:
                    body = []
                    for place, row in lines[index + 2 :]:
                        if not row.startswith("|"):
                            break
                        body.append((place, row))
                    return Table(self, body)
                skip -= 1
        raise Wrong(f"{self.name}: no table has {', '.join(map(repr, columns))} in its header")

    def block(self, block):
        """These lines stand on the page as they are: tables that a script prints."""
        wanted = block.strip("\n")
        at = self.text.find(wanted + "\n")
        if at >= 0 and not self.text.startswith("|", at + len(wanted) + 1):
            return self.computed.update(span for span in self.all if at <= span[0] < at + len(wanted))
        head = wanted.splitlines()[0]
        at = self.text.find(head)
        if at < 0:
            return self.wrong(0, f"the table that begins with '{head}' is not on the page; {self.specification} speaks of it")
        for place, line in lines_of(self.text[at:]):
            if not line.startswith("|"):
                break
            end = place + len(line)
        self.changes.append((at, at + end, wanted + "\n"))
        stands = self.text[at : at + end].splitlines()
        for index, line in enumerate(wanted.splitlines()):
            if index >= len(stands) or stands[index].strip() != line.strip():
                shown = stands[index] if index < len(stands) else "nothing"
                return self.wrong(
                    at + len("".join(f"{row}\n" for row in stands[:index])), f"'{shown}' stands there, and the rows say '{line}'"
                )
        return self.wrong(at + end, "the table is longer than the rows say")

    def made(self, *parts):
        """Figures that another test of the repository writes and holds. No part is the whole page."""
        for start, end in [self.part(part) for part in parts] or [(0, len(self.text))]:
            self.made_at.update(span for span in self.all if start <= span[0] < end)

    def given(self, *parts):
        """Goals, settings and figures that others published: all figures within these words, from words to words, or below a heading."""
        for part in parts:
            for start, end in [self.part(part)] if isinstance(part, tuple) or part.startswith("#") else self.places(part):
                self.given_at.update(span for span in self.all if start <= span[0] < end)

    def no_rows(self, reason, *parts, on=None):
        """Figures that cannot be computed again, for a reason that stands on the page (or on another). A part is a heading (its section),
        words within a line (the line), the first words of a paragraph or a table (all of it, after `¶`), or (words, words), from the first to
        the last. No part is all that is left of the page."""
        words = " ".join(reason.split())
        if words not in " ".join(((ROOT / on).read_text() if on else self.text).split()):
            self.wrong(0, f"figures have no rows, and {on or 'the page'} must say why: '{words}'")
        held = self.without.setdefault(words, set())
        if not parts:
            held.update(self.all)
        for part in parts:
            start, end = self.part(part)
            held.update(span for span in self.all if start <= span[0] < end)

    # How

    def places(self, template):
        """Where words stand on the page: at least once."""
        found = [match.span() for match in re.finditer(pattern_of(template), self.text)]
        if not found:
            self.wrong(0, f"the words '{template}' are not on the page; if they changed, change {self.specification} too")
        return found

    def part(self, part):
        """From where to where a part goes."""
        if isinstance(part, tuple):
            first, last = self.places(part[0]), self.places(part[1])
            return (first[0][0], next((b for a, b in last if a >= first[0][0]), 0)) if first and last else (0, 0)
        found = self.places(part.lstrip("¶"))
        if not found:
            return 0, 0
        start, end = found[0]
        if part.startswith("#"):
            level = len(part) - len(part.lstrip("#"))
            after = re.compile(rf"^#{{1,{level}}} ", re.M).search(self.text, start + level)
        elif part.startswith("¶"):
            after = re.compile(r"\n\s*\n").search(self.text, start)
        else:
            start, after = self.text.rfind("\n", 0, start) + 1, re.compile("\n").search(self.text, end)
        return start, after.start() if after else len(self.text)

    def hold(self, span, value):
        """Holds the number at a place against a value."""
        if value is GIVEN:
            return self.given_at.add(span)
        if isinstance(value, Quoted):
            self.without.setdefault(value.reason, set()).add(span)
        else:
            self.computed.add(span)
        stands = self.text[slice(*span)]
        right = as_it_stands(stands, value)
        if right is not None:
            self.changes.append((*span, right))
            who = "the page that it is quoted from says" if isinstance(value, Quoted) else "the rows say"
            self.wrong(span[0], f"'{stands}' stands there, and {who} {right} ({value:.6g}), in '{self.around(span)}'")

    def around(self, span):
        """Some words about a place."""
        start, end = max(span[0] - 30, self.text.rfind("\n", 0, span[0]) + 1), span[1] + 25
        return " ".join(self.text[start:end].split("\n")[0].split())

    def report(self):
        """What is said of the figures: how many are computed, held by another test, given; without rows by reason; the places that are left."""
        left, counts, without = set(self.all), [], {}

        def take(spans):
            found = {span for span in left if any(start < span[1] and span[0] < end for start, end in spans)}
            left.difference_update(found)
            return found

        beside = [span for span in self.computed if not any(span[0] < end and start < span[1] for start, end in self.all)]
        for spans in (self.computed, self.made_at, self.given_at):
            counts.append(len(take(spans)))
        for reason, spans in self.without.items():
            without[reason] = take(spans)
        return counts[0] + len(beside), counts[1], counts[2], without, sorted(left)

    def mended(self):
        """The page with every figure as the rows say."""
        text = self.text
        for start, end, right in sorted(self.changes, reverse=True):
            text = text[:start] + right + text[end:]
        return text


class Table:
    """The rows of a table, read from above."""

    def __init__(self, page, body):
        self.page, self.body, self.at = page, body, 0

    def row(self, label, *cells):
        """The next row whose first cell is this has these cells: a number, several of them in order, words, GIVEN for a goal, LEFT for what is marked, or None for
        a cell without figures. Words in braces are a scheme, which is written anew."""
        while self.at < len(self.body):
            place, line = self.body[self.at]
            self.at += 1
            found = cells_of(line)
            if found and plain(found[0][1]) == label:
                break
        else:
            return self.page.wrong(
                self.body[0][0] if self.body else 0,
                f"the table has no row '{label}' here; {self.page.specification} says which rows it has",
            )
        if len(found) != len(cells) + 1:
            return self.page.wrong(place, f"the row '{label}' has {len(found) - 1} cells, and {len(cells)} in {self.page.specification}")
        for (start, cell), wanted in zip(found[1:], cells):
            self.cell(label, place + start, cell, wanted)

    def cell(self, label, place, cell, wanted):
        end = place + len(cell)
        spans = [span for span in self.page.all if place <= span[0] < end]
        if wanted is LEFT:
            return None
        if wanted is GIVEN:
            return self.page.given_at.update(spans)
        wanted = [] if wanted is None else list(wanted) if isinstance(wanted, (tuple, list)) else [wanted]
        for words in (one for one in wanted if isinstance(one, str)):
            scheme = re.search(r"\{[^{}]*\}", cell)
            if words.startswith("{") and scheme and scheme.group() != words:
                self.page.changes.append((place + scheme.start(), place + scheme.end(), words))
                self.page.wrong(place, f"'{scheme.group()}' stands in the row '{label}', and the rows say {words}")
            elif words not in cell:
                self.page.wrong(place, f"'{cell.strip()}' stands in the row '{label}', and the rows say '{words}'")
        values = [one for one in wanted if not isinstance(one, str)]
        if len(values) != len(spans):
            return self.page.wrong(
                place, f"'{cell.strip()}' in the row '{label}' has {len(spans)} figures, and {len(values)} in {self.page.specification}"
            )
        for span, value in zip(spans, values):
            self.page.hold(span, value)


def plain(cell):
    return cell.replace("*", "").replace("`", "").strip()


def as_it_stands(stands, value):
    """The value with the digits that a number stands with, or None if that is what stands."""
    digits = re.sub(r"[ ,\u202f]", "", stands)
    exponent = re.fullmatch(r"([-+]?\d+(?:\.(\d+))?)e([-+]?\d+)", digits)
    if exponent:
        right = f"{value:.{len(exponent[2] or '')}e}"
        mantissa, power = right.split("e")
        right = f"{mantissa}e{int(power)}"
        return None if float(right) == float(digits) else right
    decimals = len(digits.partition(".")[2])
    if isinstance(value, UpTo):
        value = math.ceil(value * 10**decimals - 1e-6) / 10**decimals
    if abs(float(digits) - value) <= 0.5 * 10.0**-decimals + 1e-12 * max(1.0, abs(value)):
        return None
    right = f"{value:.{decimals}f}"
    separator = re.search(r"\d([ ,\u202f])\d", stands)
    if separator:
        whole, point, rest = right.partition(".")
        right = re.sub(r"(?<=\d)(?=(\d{3})+$)", separator[1], whole) + point + rest
    return right
