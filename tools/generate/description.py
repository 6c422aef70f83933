"""What tools/describe prints, checked and put into words."""
NOTE = "Made by tools/generate from the field lists in src: edit those."


def lists(described):
    """(name, list) of every field list."""
    for name, value in described.items():
        if isinstance(value, list):
            for one in value:
                yield "%s %s" % (name, one["type"]), one
        else:
            yield name, value


def problems(described):
    """What is missing or does not agree, in words."""
    found = []
    names = [name for name, _ in lists(described)]
    found += ["%s: stands twice" % name for name in sorted(set(names)) if names.count(name) > 1]
    for name, one in lists(described):
        if not one["about"].strip() and name != "cell":
            found.append("%s: says nothing about itself: v.about(\"...\")" % name)
        fields = {f["key"]: f for f in one["fields"]}
        if len(fields) != len(one["fields"]):
            found.append("%s: a key stands twice" % name)
        for key, field in fields.items():
            where = "%s: \"%s\"" % (name, key)
            if not field["doc"].strip():
                found.append(where + " has no documentation: {.doc = \"...\"}")
            free = field.get("required") or "only" in field or name == "input"  # one of its keys
            if not free and not default_fits(field):
                found.append(where + ": its default is not in its own range")
            if "only" in field:
                found += ["%s: %s" % (where, text) for text in condition_problems(field, fields)]
    return found


def default_fits(field):
    value = field.get("default")
    if value in (None, [], ""):
        return True
    if "names" in field:
        return value in field["names"]
    return all(fits(v, field) for v in (value if isinstance(value, list) else [value]))


def fits(value, field):
    return not (
        "min" in field and value < field["min"] or "above" in field and value <= field["above"]
        or "max" in field and value > field["max"] or "below" in field and value >= field["below"])


def condition_problems(field, fields):
    only = field["only"]
    other = fields.get(only["key"])
    if other is None:
        return ["goes with \"%s\", which is no field" % only["key"]]
    unknown = [v for v in only["values"] if v is not True and v not in other.get("names", [])]
    return ["\"%s\" is no value of \"%s\"" % (v, only["key"]) for v in unknown]


def number(value):
    """As people write it: 1e-8, 0.5, 16777216."""
    if isinstance(value, bool) or isinstance(value, int):
        return str(value).lower() if isinstance(value, bool) else str(value)
    text = "%g" % value if float("%g" % value) == value else repr(value)
    if text.endswith(".0"):
        return text[:-2]
    mantissa, _, exponent = text.partition("e")
    return "%se%d" % (mantissa, int(exponent)) if exponent else text


def range_text(field):
    """"at least 1", "1 to 8", "above 0, at most 1"; empty where all numbers do."""
    if field.get("max", 0) >= 2**31 - 1:  # what fits anywhere
        field = {key: value for key, value in field.items() if key != "max"}
    if "min" in field and "max" in field:
        if field["min"] == field["max"]:
            return number(field["min"])
        return "%s to %s" % (number(field["min"]), number(field["max"]))
    words = (("min", "at least"), ("above", "above"), ("max", "at most"), ("below", "below"))
    return ", ".join("%s %s" % (word, number(field[k])) for k, word in words if k in field)


def condition_text(field):
    if "only" not in field:
        return ""
    values = field["only"]["values"]
    if values == [True]:
        return "with `%s`" % field["only"]["key"]
    return "with `%s` %s" % (field["only"]["key"], " or ".join("`%s`" % v for v in values))


def replaced(text, name, table):
    """The part of a document between <!-- generated NAME --> and <!-- end -->, made anew."""
    begin, end = "<!-- generated %s: %s -->\n" % (name, NOTE), "<!-- end -->\n"
    if begin not in text:
        raise SystemExit("no part %r in the document" % begin)
    head, rest = text.split(begin, 1)
    return head + begin + table + end + rest.split(end, 1)[1]
