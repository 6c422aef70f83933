"""The options of loom.json's "structs": as structs of C (include/loom/options.h), as aggregates of
C++ (include/loom/options.hpp), and as the table by which the library reads them. Which members a
struct has, and in which order, stands in loom.json, since that is the binary interface; what each
one is (type, default, range, text) comes from the schemas that tools/generate makes of the field
lists in src."""
import json
import pathlib
import re
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools/generate"))
from description import number, range_text  # noqa: E402

WIDTH = 100
LIMITS = (("minimum", "min"), ("exclusiveMinimum", "above"), ("maximum", "max"),
          ("exclusiveMaximum", "below"))
# Kind of a member: its type in C, in C++, and what stands where it is not given.
KINDS = {"integer": ("int64_t ", "std::int64_t ", "0"), "number": ("double ", "double ", "0"),
         "flag": ("int32_t ", "bool ", "0"), "text": ("const char* ", "std::string ", "NULL"),
         "texts": ("const char* const* ", "std::vector<std::string> ", "NULL"),
         "ids": ("const int32_t* ", "std::vector<std::int32_t> ", "NULL")}
LISTS = ("texts", "ids")
SPEC = {"description": "a training spec as JSON, docs/reference/training-spec.md, for what no "
                       "member says; a key that is given in both is refused",
        "type": "string"}


class Member:
    def __init__(self, name, path, field, required, only):
        self.name, self.path, self.field = name, path, field
        self.required, self.only = required, only
        self.kind = kind_of(name, field)
        default = field.get("default")
        assert self.kind not in LISTS or not default, name + ": a list begins empty"
        if self.kind in ("integer", "number"):
            self.initial = number(default) if default is not None else "0"
        else:
            self.initial = str(int(default)) if self.kind == "flag" else KINDS[self.kind][2]
        optional = self.kind in ("integer", "number") and default is None
        # 0 says "not given", so it must not be a value.
        assert not optional or field.get("minimum", 0) > 0, name + ": how is it not given?"
        self.optional = optional

    def about(self):
        """What it is, for a comment of code."""
        field = self.field
        text = re.sub(r"\[([^]]*)\]\(([^)]*)\)", r"\1 (docs/reference/\2)", field["description"])
        text = text.replace(", see below", "").replace("absent:",
                                                       "0:" if self.optional else "absent:")
        parts = [text]
        if "enum" in field and "`%s`" % field["enum"][0] not in text:
            parts.append("one of " + ", ".join(n for n in field["enum"] if n))
        if self.only:
            parts.append("of " + ", ".join(self.only))
        limits = range_text({short: field[key] for key, short in LIMITS if key in field})
        parts += ["else " + limits if self.optional else limits] if limits else []
        if self.kind in ("integer", "number", "flag") and not self.optional:
            parts.append("default " + (self.initial if self.kind != "flag" else ("false", "true")[
                int(self.initial)]))
        if self.kind == "text" and field.get("default"):
            parts.append("not given: " + field["default"])
        if self.required:
            parts.append("must be given")
        return "; ".join(parts).replace("`", "")


def kind_of(name, field):
    if field.get("type") in ("integer", "number", "boolean"):
        return "flag" if field["type"] == "boolean" else field["type"]
    if field.get("type") == "string":
        return "text"
    item = field.get("items") or next((o["items"] for o in field.get("oneOf", ()) if "items" in o),
                                      {})
    assert item.get("type") in ("string", "integer"), name + ": no kind of member"
    return "texts" if item["type"] == "string" else "ids"


class Struct:
    def __init__(self, described):
        self.name, self.doc = described["name"], described["doc"]
        self.c = "loom_" + self.name
        words = self.name.replace("seq2seq", "seq2_seq").split("_")
        self.cpp = "".join(word.capitalize() for word in words)
        fields = fields_of(described["options"])
        self.versions = []
        for members in described["versions"]:
            self.versions.append([self.member(one, fields) for one in members])
        for member in (m for version in self.versions[1:] for m in version):
            # An older library takes a newer struct where what it does not know is zero.
            assert member.initial in ("0", "NULL"), member.name + ": a later member begins at 0"
        self.members = [m for version in self.versions for m in version]
        left = set(fields) - {m.path for m in self.members}
        if described["options"] != "training" and left:
            sys.exit("api/loom.json: %s lacks %s: put them into a new version of it"
                     % (self.name, ", ".join(sorted(left))))
        lists = [m for m in self.members if m.kind == "texts"]
        assert len(lists) < 2, self.name + ": options.hpp has room for one list of texts"

    def member(self, one, fields):
        name, path = one if isinstance(one, list) else (one, one)
        if path not in fields:
            sys.exit("api/loom.json: %s: no option is called %s" % (self.name, path))
        return Member(name, path, *fields[path])

    def macro(self):
        return self.c.upper() + "_INIT"


def fields_of(name):
    """(schema of the key, whether it must be given, of which types alone) of an object's keys. Of
    training: the keys of a spec, those of its objects by type as "schedule.lr", the spec itself,
    and "options.threads": where a trainer works."""
    options = json.loads((ROOT / "docs/reference/options.schema.json").read_text())["$defs"]

    def plain(one):
        return {key: (field, key in one.get("required", ()), ())
                for key, field in one["properties"].items()}

    if name != "training":
        return plain(options[name])
    spec = json.loads((ROOT / "docs/reference/training-spec.schema.json").read_text())
    out = {"options." + key: value for key, value in plain(options["trainer_create"]).items()}
    out["spec"] = (SPEC, False, ())
    for key, (field, _, _) in plain(spec).items():
        kinds = {v["properties"]["type"]["const"]: v for v in field.get("oneOf", ())
                 if "type" in v.get("properties", ())}
        if not kinds:
            out[key] = (field, False, ())
            continue
        usual = next(k for k, v in kinds.items() if "type" not in v.get("required", ()))
        about = kinds[usual]["properties"]["type"].get("description", "")
        out[key + ".type"] = ({"type": "string", "enum": list(kinds), "description": about,
                               "default": usual}, False, ())
        for inner in {k: 0 for v in kinds.values() for k in v["properties"] if k != "type"}:
            having = [k for k, v in kinds.items() if inner in v["properties"]]
            every = [kinds[k]["properties"][inner] for k in having]
            if len({json.dumps(f.get("default")) for f in every}) == 1:  # else no one default
                out[key + "." + inner] = (every[0], False, having if len(having) < len(kinds)
                                          else ())
    return out


def load(api):
    return [Struct(one) for one in api["structs"]]


# ---- what is written

def wrapped_comment(text, indent, opening, line, closing):
    """One comment in lines of the width."""
    lines = textwrap.wrap(text, WIDTH - len(indent) - 6, break_on_hyphens=False)
    return indent + opening + ("\n" + indent + line).join(lines) + closing + "\n"


def c_member(member):
    text = "  %s%s;" % (KINDS[member.kind][0], member.name)
    count = "  size_t %s_count;\n" % member.name if member.kind in LISTS else ""
    one = "%s /* %s */" % (text, member.about())
    if len(one) <= WIDTH:
        return one + "\n" + count
    return wrapped_comment(member.about(), "  ", "/* ", " * ", " */") + text + "\n" + count


def c_struct(struct):
    out = [wrapped_comment(struct.doc, "", "/* ", " * ", " */"), "typedef struct %s {\n" % struct.c,
           "  size_t size; /* sizeof(%s), as the initializer has it */\n" % struct.c]
    out += [c_member(m) for m in struct.members] + ["} %s;\n" % struct.c]
    values = ["sizeof(%s)" % struct.c]
    for m in struct.members:
        values += [m.initial] + (["0"] if m.kind in LISTS else [])
    lines = textwrap.wrap(", ".join(values), WIDTH - 6)
    out.append("#define %s \\\n  {%s}\n" % (struct.macro(), " \\\n   ".join(lines)))
    return "".join(out)


C_HEAD = """/* %s */
/* Options as structs, beside the JSON form: a part of loom/loom.h, which includes it. Begin with
 * the initializer, which holds the defaults, and set what differs:
 *
 *   loom_session_options options = LOOM_SESSION_OPTIONS_INIT;
 *   options.max_rows = 256;
 *   loom_session_create_with(network, &options, &session, &error);
 *
 * NULL stands for a struct as its initializer has it. A member that is as there is not given;
 * others are read as the JSON key of that name is, with the same refusals. Texts end with a zero.
 * Flags are 0 or 1. Everything is copied. `size` says which members the caller knows: those
 * that an older program lacks have their defaults; a newer program's are LOOM_UNSUPPORTED here
 * unless they are zero. */
#ifndef LOOM_OPTIONS_H
#define LOOM_OPTIONS_H

#include <loom/loom.h>

#ifdef __cplusplus
extern "C" {
#endif

"""


def c_header(structs, note, prototypes):
    return (C_HEAD % note + "\n".join(c_struct(s) for s in structs) + prototypes
            + "\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n")


def table(structs, note):
    """What src/c_api/options/structs.cpp reads structs by."""
    out = ["// %s\n" % note]
    for s in structs:
        out.append("\nconst %s k_%s = %s;\n" % (s.c, s.name, s.macro()))
        out.append("const Member k_%s_members[] = {\n" % s.name)
        for m in s.members:
            count = "offsetof(%s, %s_count)" % (s.c, m.name) if m.kind in LISTS else "0"
            kind = "Kind::" + m.kind
            outer, _, key = m.path.rpartition(".")
            out.append('    {"%s", "%s", "%s", %s, offsetof(%s, %s), %s},\n'
                       % (m.name, outer, key, kind, s.c, m.name, count))
        out.append("};\nconstexpr std::size_t k_%s_sizes[] = {\n" % s.name)
        for version in s.versions:
            last = version[-1].name + ("_count" if version[-1].kind in LISTS else "")
            out.append("    size_of_version<%s>(offsetof(%s, %s) + sizeof(%s::%s)),\n"
                       % (s.c, s.c, last, s.c, last))
        out.append("};\nstatic_assert(ascending(k_%s_sizes));\n" % s.name)
        out.append("const OptionStruct k_%s_struct = {\"%s\", \"%s\", &k_%s, k_%s_members,\n"
                   "    k_%s_sizes};\n" % (s.name, s.c, s.macro(), s.name, s.name, s.name))
        out.append("const OptionStruct& option_struct(const %s*) { return k_%s_struct; }\n"
                   % (s.c, s.name))
    return "".join(out)


def cpp_member(member):
    initial = {"integer": " = " + member.initial, "number": " = " + member.initial,
               "flag": " = " + ("true" if member.initial == "1" else "false")}.get(member.kind, "")
    text = "  %s%s%s;" % (KINDS[member.kind][1], member.name, initial)
    # A default in braces: without one, compilers warn of members that an initializer leaves out.
    text = text if initial else text[:-1] + "{};"
    one = "%s  // %s" % (text, member.about())
    if len(one) <= WIDTH:
        return one + "\n"
    return wrapped_comment(member.about(), "  ", "// ", "// ", "") + text + "\n"


def cpp_struct(struct):
    return (wrapped_comment(struct.doc, "", "// ", "// ", "") + "struct %s {\n" % struct.cpp
            + "".join(cpp_member(m) for m in struct.members) + "};\n")


def cpp_conversion(struct):
    out = ["inline %s to_c(const %s& o, std::vector<const char*>&%s) {\n"
           % (struct.c, struct.cpp, " texts" if any(m.kind == "texts" for m in struct.members)
              else ""),
           "  %s c = %s;\n" % (struct.c, struct.macro())]
    for m in struct.members:
        if m.kind == "text":
            out.append('  c.%s = c_text(o.%s, "%s");\n' % (m.name, m.name, m.name))
        elif m.kind == "texts":
            out.append('  for (const std::string& s : o.%s) texts.push_back(c_text(s, "%s"));\n'
                       "  c.%s = texts.data();\n  c.%s_count = texts.size();\n"
                       % (m.name, m.name, m.name, m.name))
        elif m.kind == "ids":
            out.append("  c.%s = o.%s.data();\n  c.%s_count = o.%s.size();\n" % ((m.name,) * 4))
        else:
            out.append("  c.%s = o.%s;\n" % (m.name, m.name))
    return "".join(out) + "  return c;\n}\n"


CPP_HEAD = """// %s
// Options as C++20 takes them, a part of loom.hpp: designated initializers in the order of the
// members, each with its default where it is left out.
//
//   loom::Session session(network, {.max_rows = 256, .device = "gpu"});
#ifndef LOOM_OPTIONS_HPP
#define LOOM_OPTIONS_HPP

#include <cstdint>
#include <string>
#include <vector>

#include "error.hpp"
#include "loom.h"

namespace loom {
inline namespace api {

"""


def cpp_header(structs, note):
    return (CPP_HEAD % note + "\n".join(cpp_struct(s) for s in structs) + """
namespace detail {

// A text as C has it: it ends with a zero, so it holds none. NULL: not given.
inline const char* c_text(const std::string& text, const char* name) {
  if (text.find('\\0') != std::string::npos)
    throw Error(LOOM_INVALID_ARGUMENT, std::string("options: \\"") + name + "\\" has a zero in it");
  return text.empty() ? nullptr : text.c_str();
}
// The structs of loom/options.h. They point into the options and into `texts`.
""" + "".join(cpp_conversion(s) for s in structs)
            + "\n}  // namespace detail\n}  // namespace api\n}  // namespace loom\n\n#endif\n")


def reference(structs):
    """The section of docs/reference/c-api.md."""
    out = ["\n## Structs of options\n\n",
           "Beside the JSON form, `loom/options.h` has structs for functions whose names end in\n"
           "`_with`. Each begins with its initializer, `LOOM_SESSION_OPTIONS_INIT`, which holds "
           "the\n"
           "size and the defaults. A member that stands as the initializer has it is not given.\n"
           "Others are read as the [JSON key](options.md) of that name is. `NULL` stands for a\n"
           "struct as its initializer has it.\n"]
    for s in structs:
        out.append("\n### %s\n\n%s\n\n" % (s.c, s.doc))
        out.append("| member | initial value | meaning |\n|---|---|---|\n")
        for m in s.members:
            out.append("| `%s%s` | `%s` | %s |\n"
                       % (KINDS[m.kind][0], m.name, m.initial, m.about().replace("|", "\\|")))
            if m.kind in LISTS:
                out.append("| `size_t %s_count` | `0` | of `%s` |\n" % (m.name, m.name))
    return "".join(out)
