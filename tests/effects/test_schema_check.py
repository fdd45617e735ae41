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
    overridden = set(schema("loop")["properties"]) - {"name", "prompt"}
    for key in overridden:  # in `defaults`, in a stage, and in a parallel one
        assert text.count(f'"loop.schema.json#/properties/{key}"') == 3, key


def test_every_setting_of_a_loop_is_a_key() -> None:
    assert set(schema("loop")["properties"]) == set(DEFAULTS) | {"name", "prompt"}
