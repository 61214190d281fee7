#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_schema.py SCHEMA: reads lines of NAME, a tab and JSON, and prints what does not follow #/$defs/NAME. A field
that the schema does not name is a fault here: it allows more, so that old schemas fit new versions. Ends with 77
where python3-jsonschema is not installed."""
import json
import sys

try:
    from jsonschema import Draft202012Validator
except ImportError:
    print("python3-jsonschema (4 or newer) is not installed")
    sys.exit(77)


def close(schema):
    if isinstance(schema, dict):
        if "properties" in schema:
            schema.setdefault("additionalProperties", False)
        for value in schema.values():
            close(value)
    elif isinstance(schema, list):
        for value in schema:
            close(value)


def main(path):
    with open(path, encoding="utf-8") as file:
        schema = json.load(file)
    Draft202012Validator.check_schema(schema)
    close(schema["$defs"])
    checked = set()
    for line in sys.stdin.buffer:
        name, _, text = line.decode("utf-8").partition("\t")
        checked.add(name)
        validator = Draft202012Validator({"$ref": "#/$defs/" + name, "$defs": schema["$defs"]})
        for error in list(validator.iter_errors(json.loads(text)))[:5]:
            print(f"{name} at /{'/'.join(map(str, error.absolute_path))}: {error.message[:300]}")
    for reference in schema["anyOf"]:
        name = reference["$ref"].rpartition("/")[2]
        if name not in checked:
            print(f"{name}: no output was checked")


if __name__ == "__main__":
    main(sys.argv[1])
