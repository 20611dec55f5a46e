"""README: what its first lines print, its picture, and its figures."""

import contextlib
import gzip
import io
import re
import runpy
from pathlib import Path

import pytest
from PIL import Image

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
FIGURES = (ROOT / "docs" / "figures.md").read_text(encoding="utf-8")
NUMBER = r"\d+(?:\.\d+)?"


def test_the_first_lines_print_what_stands_below_them():
    code, shown = re.search(r"(?ms)^```python\n(.*?)^```.*?^```\n(.*?)^```", README).groups()
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(code, {})
    found = printed.getvalue()
    assert re.sub(NUMBER, "0", found) == re.sub(NUMBER, "0", shown)
    expected = [pytest.approx(float(number), rel=1e-6) for number in re.findall(NUMBER, shown)]
    assert [float(number) for number in re.findall(NUMBER, found)] == expected


def test_figures_are_those_of_the_page_of_figures():
    rows = re.findall(r"(?m)^\| (?!beside|\||-).*? \| .*? \| ([\d., ]+).*? \| .* \|$", README)
    numbers = [number for row in rows for number in re.findall(NUMBER, row)]
    assert len(numbers) > 10
    assert not [number for number in numbers if not re.search(rf"(?<![\d.]){re.escape(number)}(?![\d.])", FIGURES)]


def test_the_picture_is_small():
    picture = ROOT / "docs" / "_static" / "new-york.webp"
    assert f"({picture.relative_to(ROOT).as_posix()})" in README
    assert picture.stat().st_size < 150_000


def test_the_picture_is_drawn_from_files_of_dimacs(tmp_path):
    """Three crossings, of which two are near Times Square."""
    comments = "".join(f"c line {number}\n" for number in range(4))
    places = f"{comments}p aux sp co 3\nc\nc\nv 1 -73985700 40758000\nv 2 -73900000 40700000\nv 3 -70000000 40000000\n"
    (tmp_path / "roads.gr.gz").write_bytes(gzip.compress(b"p sp 3 4\na 1 2 9\na 2 1 9\na 2 3 5\na 3 2 5\n"))
    (tmp_path / "roads.co.gz").write_bytes(gzip.compress(places.encode()))
    script = runpy.run_path(str(ROOT / "docs" / "new_york.py"))
    script["main"](str(tmp_path / "roads.gr.gz"), tmp_path / "roads.webp")
    with Image.open(tmp_path / "roads.webp") as image:
        assert image.width == 900
        lowest, highest = zip(*image.convert("RGB").getextrema(), strict=True)
        assert max(highest) == 255 and min(lowest) < 100  # dark and bright crossings on white
