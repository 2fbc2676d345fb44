"""Which numbers of a page are figures: those that somebody measured or counted, not sizes, dates, schemes and names.

In sentences a figure is a number with a unit, and the numbers that share one ("3 to 14 %"). In tables it is every number of a cell, but for
the first column, where units are asked for too. Code, links, braces, dates and powers have none.
"""

import re

NUMBER = r"[-+]?\d+(?:[ \u202f,](?=\d{3}(?!\d))\d{3})*(?:\.\d+)?(?:e[-+]?\d+)?"
UNIT = (
    r"(?:\s?(?:%|ppm\b|ms\b|µs\b|us\b|ns\b|s\b|J\b|W\b|[KMGT]i?B\b|[KMGT]i?B/s|GB/s|Gpixel/s|Gcells?/s|Tcells?/s|bytes\b|kB\b)"
    r"|\s(?:times\b|seconds\b|minutes\b|CPU-seconds\b|CPU\sseconds\b)|x(?![\w]))"
)
JOIN = r"\s?(?:to|and|or|,|/|against|\[)\s?"
HIDDEN = [
    re.compile(r"^```.*?^```", re.M | re.S),
    re.compile(r"<!--.*?-->", re.S),
    re.compile(r"`[^`\n]*`"),
    re.compile(r"\]\([^)]*\)"),
    re.compile(r"\{[^{}\n]*\}"),
    re.compile(r"\b\d{4}-\d\d-\d\d\b"),
    re.compile(r"H100 80GB HBM3"),
    re.compile(r"^#.*$", re.M),
]
IN_TEXT = re.compile(rf"(?<![\w.^=·]){NUMBER}(?={UNIT})(?!\d|\.\d)")
CHAIN = re.compile(rf"(?<![\w.^])(?<!\bat ){NUMBER}\s?(?:{UNIT})?{JOIN}$")
IN_CELL = re.compile(rf"(?<![\w.^=·]){NUMBER}(?!\d|\.\d|-[A-Z])(?:(?=x(?!\w))|(?![\w^²³⁴⁵⁶⁷⁸¹⁰]))")


def hide(text):
    """The text with all that holds no figures blanked, and every place kept."""
    for rule in HIDDEN:
        text = rule.sub(lambda found: re.sub(r"[^\n]", " ", found.group()), text)
    return text


def lines_of(text):
    """Each line with the place of its first character."""
    at = 0
    for line in text.splitlines(keepends=True):
        yield at, line
        at += len(line)


def cells_of(line):
    """The cells of a table's line as (start, text); what is between two bars."""
    bars = [found.start() for found in re.finditer(r"(?<!\\)\|", line)]
    return [(a + 1, line[a + 1 : b]) for a, b in zip(bars, bars[1:])]


def is_rule(line):
    """Whether a line is the one below a table's header."""
    return line.startswith("|") and set(line.strip()) <= set("|-: ")


def figures(text):
    """The places (start, end) of all figures of a page, in order."""
    shown, found = hide(text), set()
    lines = list(lines_of(shown))
    prose = list(shown)
    for index, (at, line) in enumerate(lines):
        if not line.startswith("|"):
            continue
        prose[at : at + len(line)] = [" " if letter != "\n" else letter for letter in line]
        if is_rule(line) or (index + 1 < len(lines) and is_rule(lines[index + 1][1])):
            continue
        for column, (start, cell) in enumerate(cells_of(line)):
            rule = IN_CELL if column else IN_TEXT
            found |= {(at + start + one.start(), at + start + one.end()) for one in rule.finditer(cell)}
    prose = "".join(prose)
    for one in IN_TEXT.finditer(prose):
        found.add(one.span())
        before = prose[: one.start()]
        while chained := CHAIN.search(before[-60:]):
            start = len(before) - len(before[-60:]) + chained.start()
            found.add((start, start + re.match(NUMBER, before[start:]).end()))
            before = before[:start]
    return sorted(found)
