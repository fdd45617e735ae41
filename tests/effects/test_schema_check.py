import json

from jsonschema import Draft202012Validator

from looptasks.core.pipeline import DEFAULTS
from tests.support.declared_project import schema


def test_every_key_has_a_description_and_examples_that_hold() -> None:
    for key, value in schema("loop")["properties"].items():
        assert value["description"], key
        for sample in value["examples"]:
            Draft202012Validator(value).validate(sample)
    text = json.dumps(schema("pipeline"))
    assert text.count('"$ref": "loop.schema.json#/properties/') == 27 * 3


def test_every_setting_of_a_loop_is_a_key() -> None:
    more = {"name", "prompt", "each", "isolation", "gate", "artifact"}
    assert set(schema("loop")["properties"]) == set(DEFAULTS) | more
