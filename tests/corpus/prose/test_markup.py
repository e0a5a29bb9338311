"""Headings and paragraphs of plain text, Markdown and web pages."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.corpus.prose import PARSERS
from kit.corpus.prose.markup import parse_html, parse_markdown, parse_text


def told(parts) -> list[str]:
    """Each part, with the level of a heading before it."""
    return [f"{part.level}:{part.text}" if part.level else part.text for part in parts]


def test_plain_text():
    text = """
                       THE MILL OF
                         LOWICK

    It stands on the Ode,
    since 1820.
    - a wheel
    - a bell

    Later
    -----
    It burned.

    THE END

    Name     Value
    ====     =====
    wheel    2
    """
    assert told(parse_text(text)) == [
        "h1:THE MILL OF LOWICK",
        "It stands on the Ode, since 1820.",
        "- a wheel",
        "- a bell",
        "h2:Later",
        "It burned.",
        "h2:THE END",
        "Name Value",
        "wheel 2",
    ]


def test_a_text_that_begins_with_a_sentence_has_no_heading():
    assert told(parse_text("It stands on the Ode.\n\nIt burned.")) == [
        "It stands on the Ode.",
        "It burned.",
    ]


def test_markdown():
    text = """---
title: fields
---
# The *Mill* of [Lowick](https://a.b/c_(d) "town") #

[![badge](a.svg)](b) It **stands** on the `Ode`, <b>since</b> 1820 &amp; snake_case_name.<!-- no -->
It burned[^1].

Later
=====

* a \\*wheel\\*
1. a __bell__
   of brass

> quoted

| part | n |
| --- | --- |
| wheel | 2 |

```bash
# no heading
```

[ref]: https://a.b
"""
    assert told(parse_markdown(text)) == [
        "h1:The Mill of Lowick",
        "It stands on the Ode, since 1820 & snake_case_name. It burned[^1].",
        "h1:Later",
        "a *wheel*",
        "a bell of brass",
        "quoted",
        "part | n",
        "wheel | 2",
        "# no heading",
    ]


def test_a_web_page():
    text = """<!DOCTYPE html><html><head><title>Mill | Site</title><style>p {}</style>
    <script>if (a < b) "</p>";</script></head><body><![if IE]><div>menu
    <main><h1>The <i>Mill</i><a href="#m">¶</a></h1><p>It st<b>oo</b>d &amp; burned.<p>A<br>bell
    <table><tr><th>part<th>n</tr><tr><td>wheel</td><td>2</td></tr></table>
    <nav>next</nav><pre>x = 1</pre></main><footer>contact</footer></body>"""
    assert told(parse_html(text)) == [
        "title:Mill | Site",
        "h1:The Mill",
        "It stood & burned.",
        "A bell",
        "part | n",
        "wheel | 2",
        "x = 1",
    ]


def test_a_web_page_of_no_main_part_is_read_whole():
    assert told(parse_html("<div>One<div>Two</div><h2>Three</h2>four")) == [
        "One",
        "Two",
        "h2:Three",
        "four",
    ]


@pytest.mark.parametrize("ending", PARSERS)
@given(
    text=st.text(alphabet="ab#*_`~-=|<>/!?&;[](){}\"'.\\\n\t 1", max_size=80) | st.text(max_size=40)
)
def test_no_text_is_refused(ending, text):
    for part in PARSERS[ending](text):
        assert part.text.strip()
