#!/usr/bin/env python3
"""Tests of what computes figures: a planted wrong digit is found, in words of its own and on every page of the repository.

python3 scripts/figures/test_figures.py
"""

import importlib
import json
import pathlib
import re
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from figures.page import GIVEN, Page, UpTo, as_it_stands  # noqa: E402
from figures.rows import ROOT, Row, Rows, Wrong, table_rows  # noqa: E402
from figures.scan import figures  # noqa: E402

TEXT = """# A page

The stream takes 9.97 ms, 2.24 times less than exhaustive, and up to 13 % of it.
It was aimed at 9 ms. By hand it was 3.5 s: no rows were kept.

| field | exhaustive | stream |
|---|--:|--:|
| julibrot 256^4 | 22.31 | **9.971** {32, 2, 1} |
| | 27 512 | |
"""


def found(seconds, **case):
    return Row(
        "rows.jsonl:1",
        {
            "case": case,
            "samples": {"clock": "device", "median": sorted(seconds)[len(seconds) // 2], "device": seconds},
            "run": {"g": [32, 32], "r": [2, 2], "B": 1},
        },
    )


ROWS = Rows([found([0.0223, 0.02231, 0.0224], strategy="exhaustive"), found([0.00997, 0.009971, 0.01], strategy="ask")], "rows.jsonl")


def specification(page):
    every, ask = ROWS.ms("strategy=exhaustive"), ROWS.one("strategy=ask")
    page.says("takes @ ms, @ times less", ask.ms, every / ask.ms)
    page.says("up to @ % of it", UpTo(12.1))
    page.given("aimed at 9 ms")
    page.no_rows("no rows were kept", "By hand it was")
    table = page.table("exhaustive", "stream")
    table.row("julibrot 256^4", every, (ask.ms, ask.scheme))
    table.row("", 27512, None)


def held(text):
    page = Page("page.md", text)
    specification(page)
    return page


class Mechanism(unittest.TestCase):
    def test_a_page_that_its_rows_made_passes(self):
        page = held(TEXT)
        self.assertEqual(page.found, [])
        computed, made, given, without, left = page.report()
        self.assertEqual((computed, made, given, sum(map(len, without.values())), left), (6, 0, 1, 1, []))

    def test_every_planted_digit_is_found_named_and_mended(self):
        for wrong, right in [
            ("9.97 ms", "9.87 ms"),
            ("2.24 times", "2.42 times"),
            ("13 %", "12 %"),
            ("22.31", "22.13"),
            ("9.971", "9.917"),
            ("27 512", "27 521"),
            ("{32, 2, 1}", "{32, 2, 2}"),
        ]:
            page = held(TEXT.replace(wrong, right))
            self.assertEqual(len(page.found), 1, wrong)
            place, words = page.found[0]
            number = re.match(r"\{.*\}|[\d. ]*\d", wrong).group()
            self.assertIn(number, words)
            self.assertEqual(
                TEXT.splitlines()[page.line(place) - 1].replace(wrong, ""), page.text.splitlines()[page.line(place) - 1].replace(right, "")
            )
            self.assertEqual(page.mended(), TEXT)

    def test_a_figure_that_nothing_speaks_of_is_left(self):
        page = held(TEXT + "\nAnd in 4-D it takes 77 ms.\n")
        self.assertEqual([page.text[slice(*span)] for span in page.report()[-1]], ["77"])

    def test_words_that_are_gone_a_lost_row_and_a_hidden_reason_are_found(self):
        for gone in ("times less", "no rows were kept", "aimed at", "julibrot 256^4"):
            self.assertTrue(held(TEXT.replace(gone, "something else")).found, gone)

    def test_a_figure_is_of_one_row_whose_samples_have_its_median(self):
        with self.assertRaisesRegex(Wrong, "2 rows fit"):
            ROWS.ms("")
        with self.assertRaisesRegex(Wrong, "no row fits"):
            ROWS.ms("strategy=dp")
        tampered = Row("rows.jsonl:9", json.loads(json.dumps(ROWS.rows[0].found)))
        tampered.found["samples"]["median"] = 0.02
        with self.assertRaisesRegex(Wrong, "rows.jsonl:9: the row has the median 0.02"):
            tampered.ms

    def test_digits_separators_and_exponents_stay(self):
        for stands, value, right in [
            ("0.520", 0.5199, None),
            ("0.52", 0.5199, None),
            ("0.51", 0.5199, "0.52"),
            ("1,366", 1367, "1,367"),
            ("27 512", 2751, "2 751"),
            ("6.9e10", 64**6, None),
            ("6.8e10", 64**6, "6.9e10"),
            ("14", UpTo(14.08), "15"),
            ("15", UpTo(14.08), None),
            ("3", 3.0, None),
            ("3 355 756 557", 3355756559, "3 355 756 559"),
        ]:
            self.assertEqual(as_it_stands(stands, value), right, stands)

    def test_what_is_a_figure(self):
        for text, wanted in [
            ("3 to 14 % of 65536^2 u16", ["3", "14"]),
            ("by 19 and 17 % at 2048^3", ["19", "17"]),
            ("`--timeout 0.15 s`, 2026-11-24, D = 512 and {16, 4, 8}", []),
            ("[a 5 ms](x-7ms.md) in 4-D", ["5"]),
            ("| n | t |\n|---|---|\n| 1024 | 0.07, 1.05x {64, 2, 8} in 2-D at 512^3 |\n", ["0.07", "1.05"]),
            ("```\n5 ms\n```\n", []),
        ]:
            self.assertEqual([text[slice(*span)] for span in figures(text)], wanted, text)

    def test_tables_in_text_files_are_rows(self):
        found = Rows(
            table_rows("t.txt", ["| n | g, r, B | median ± standard error |", "|---|---|---|", "| 1024 | 64, 4, 16 | 0.065 ± 0.001 ms |"]),
            "t.txt",
        )
        self.assertEqual(found.where(n=1024, grb="64, 4, 16").fastest().ms, 0.065)


class Pages(unittest.TestCase):
    def test_a_wrong_digit_in_any_page_is_found(self):
        pages = pathlib.Path(__file__).resolve().parent / "pages"
        for path in sorted(pages.glob("[a-z]*.py")):
            module = importlib.import_module(f"figures.pages.{path.stem}")
            name = {"readme": "README.md", "results": "docs/results/README.md"}.get(
                path.stem, f"docs/results/{path.stem.replace('_', '-')}.md"
            )
            right = Page(name)
            module.figures(right)
            self.assertEqual(right.found, [], name)
            spans = sorted(right.computed)
            for start, end in spans[:: max(1, len(spans) // 3)]:
                stands = right.text[start:end]
                digit = next(at for at, letter in enumerate(stands) if letter.isdigit())
                planted = stands[:digit] + str((int(stands[digit]) + 1) % 10) + stands[digit + 1 :]
                page = Page(name, right.text[:start] + planted + right.text[end:])
                module.figures(page)
                self.assertTrue(page.found, f"{name}: {planted} instead of {stands} is not found")


if __name__ == "__main__":
    unittest.main()
