"""The browser that pages are tested with sees what is wrong with them."""

import pytest

pytestmark = pytest.mark.browser

PAGE = """<!doctype html><meta charset="utf-8"><title>A page</title><style>
:root { color-scheme: light dark } body { background: Canvas; color: CanvasText }
.faint { color: #999 } .wide { width: 600px } @media (prefers-color-scheme: dark) { .faint { color: #aaa } }
</style><body>"""


@pytest.fixture
def written(tmp_path):
    def written(body):
        (tmp_path / "page.html").write_text(PAGE + body, encoding="utf-8")
        return tmp_path / "page.html"

    return written


def test_a_page_without_faults(written, visit):
    seen = visit(written("<p>Text</p><svg><text y='20' fill='currentColor'>drawn</text></svg>"), width=375)
    assert (seen.requests, seen.errors, seen.overflow, seen.faint()) == ([], [], 0, [])


def test_what_a_page_asks_for_and_gets_wrong(written, visit):
    seen = visit(written("<script>missing()</script><img src='absent.png' alt=''><p class='wide'>wide</p>"), width=375)
    assert [address.rpartition("/")[2] for address in seen.requests] == ["absent.png"]
    assert any("missing is not defined" in error for error in seen.errors)
    assert seen.overflow > 200


def test_contrast_in_light_and_dark(written, visit):
    file = written("<p>readable</p><p class='faint'>pale</p><svg><text y='9' fill='#888'>grey</text></svg>")
    assert {text.partition(":")[0] for text in visit(file).faint()} == {"pale", "grey"}
    assert visit(file, dark=True).faint() == []


def test_without_scripts(written, visit):
    file = written("<script>document.body.textContent = 'by a script'</script><noscript>by hand</noscript>")
    assert visit(file).page.inner_text("body") == "by a script"
    assert visit(file, scripts=False).page.inner_text("body") == "by hand"
