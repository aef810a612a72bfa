from __future__ import annotations

import pytest

from agents.errors import UnreadableReply
from agents.shapes import LONGEST, NUMBERS, TEXT, Shape, build_list_schema, build_object_schema

SHAPE = Shape("found", {"name": TEXT, "places": NUMBERS}, {"places": []})
NESTED = Shape(
    "judged",
    {"items": build_list_schema(build_object_schema({"number": {"type": "integer"}, "holds": {"type": "boolean"}}))},
    {},
)


@pytest.mark.parametrize(
    "reply",
    [
        '{"name": "云", "places": [1, 2]}',
        '```json\n{"name": "云", "places": [1, 2]}\n```\n希望有帮助。',
        "好的：{'name': '云', 'places': [1, 2,],}。",
        "{“name”：“云”，“places”：［1，2］}",
        '[{"name": "云", "places": [1, 2]}]',
        '{"name": "云", "places": [1, 2], "more": true}',
        '{"name": "云", "places": [1, 2',
    ],
)
def test_an_object_is_read_whatever_surrounds_it(reply: str) -> None:
    assert SHAPE.read(reply) == {"name": "云", "places": [1, 2]}


@pytest.mark.parametrize(
    "reply", ["", "云", "[]", "{}", '{"places": [1]}', '{"name": 3}', '{"name": null}', "{" * 9000]
)
def test_what_lacks_a_field_that_may_not_lack_is_unreadable(reply: str) -> None:
    with pytest.raises(UnreadableReply):
        SHAPE.read(reply)


@pytest.mark.parametrize("places", ['"1"', "[true]", '["1"]', "{}", "null"])
def test_a_field_that_may_lack_is_as_if_it_lacked_where_it_is_filled_badly(places: str) -> None:
    assert SHAPE.read(f'{{"name": "云", "places": {places}}}') == {"name": "云", "places": []}


def test_what_is_nested_has_all_of_its_fields() -> None:
    assert NESTED.read('{"items": [{"number": 1, "holds": true}]}')["items"] == [{"number": 1, "holds": True}]
    for item in ('{"number": 1}', '{"number": true, "holds": true}', '{"number": 1, "holds": "true"}', "1"):
        with pytest.raises(UnreadableReply):
            NESTED.read(f'{{"items": [{item}]}}')


def test_of_an_endless_reply_the_beginning_is_looked_at() -> None:
    assert SHAPE.read('{"name": "云"}' + " {" * LONGEST) == {"name": "云", "places": []}
