#!/usr/bin/env python3
"""What Jinja makes of the chat templates of the test material: makes
tests/golden/chat_templates.json for text_test, with the `jinja2` package set up as transformers
sets it up.

usage: chat_templates.py [--data DIR] [--check]
--check: compares with the file that is there; exit code 1 where they differ, 77 without material.
"""
import argparse
import datetime
import hashlib
import json
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
GOLDEN = HERE.parents[1] / "golden" / "chat_templates.json"
DATE = "2026-11-24"
TOKENS = {"bos_token": "<s>", "eos_token": "</s>"}


def turns(*messages):
    return [{"role": role, "content": content} for role, content in messages]


SYSTEM, HELLO = ("system", "You are a helpful assistant"), ("user", "Hello")
CONVERSATIONS = {
    "question": (turns(HELLO), True, {}),
    "system": (turns(SYSTEM, HELLO), True, {}),
    "turns": (turns(HELLO, ("assistant", "Hi there"), ("user", "Who are you?")), True, {}),
    "system and turns": (turns(SYSTEM, HELLO, ("assistant", "Hi"), ("user", "And?")), True, {}),
    "answered": (turns(HELLO, ("assistant", "Hi there")), False, {}),
    "white space": (turns(("system", " \n be brief\t"), ("user", "\n a  b \u3000"),
                          ("assistant", " \u2003c "), ("user", "d\n")), True, {}),
    "thoughts": (turns(HELLO, ("assistant", "<think>\nhm\n</think>\n\nHi"), ("user", "So?")), True,
                 {}),
    "two thoughts": (turns(HELLO, ("assistant", "a</think>b</think>c"), ("user", "</think>")), True,
                     {}),
    "letters": (turns(("system", "\u00e9\U0001f600"), ("user", "'\"\\ {{ x }} {% if %}"),
                      ("assistant", "\u4f60\u597d"), ("user", "/no_think [INST]")), True, {}),
    "no thinking": (turns(SYSTEM, HELLO), True, {"enable_thinking": False, "thinking": False}),
    "thinking": (turns(SYSTEM, HELLO), True, {"enable_thinking": True, "thinking": True}),
    "system alone": (turns(SYSTEM), True, {}),
    "system last": (turns(HELLO, SYSTEM), True, {}),
    "answer first": (turns(("assistant", "Hi")), True, {}),
    "user twice": (turns(HELLO, ("user", "Hello?")), True, {}),
    "answer last": (turns(SYSTEM, HELLO, ("assistant", "Hi")), True, {}),
    "developer": (turns(("developer", "be brief"), HELLO), True, {}),
    "tool": (turns(HELLO, ("assistant", "42?"), ("tool", "42")), True, {}),
    "nothing": ([], True, {}),
}


def environment():
    import jinja2
    import jinja2.ext
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    class Generation(jinja2.ext.Extension):
        """{% generation %} marks answers; transformers keeps what stands in it."""
        tags = {"generation"}

        def parse(self, parser):
            line = next(parser.stream).lineno
            body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
            return jinja2.nodes.CallBlock(self.call_method("_keep"), [], [], body).set_lineno(line)

        def _keep(self, caller):
            return caller()

    def raise_exception(message):
        raise jinja2.exceptions.TemplateError(message)

    def tojson(value, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
        return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators,
                          sort_keys=sort_keys)

    env = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True,
                                        extensions=[Generation, jinja2.ext.loopcontrols])
    env.filters["tojson"] = tojson
    env.globals["raise_exception"] = raise_exception
    env.globals["strftime_now"] = datetime.date.fromisoformat(DATE).strftime
    return env


def templates(data):
    for path in sorted((data / "jinja").glob("*.jinja")):
        yield path.name, path.read_bytes().decode("utf-8")
    cases = json.loads((data / "llamacpp_cases_2025-02.json").read_text())["cases"]
    for case in cases:
        yield case["name"], case["template"]
    yield "gemma3", json.loads((data / "gemma3_chat_template.json").read_text())["chat_template"]


def rendered(env, source, conversation):
    messages, prompt, variables = conversation
    try:
        text = env.from_string(source).render(messages=messages, add_generation_prompt=prompt,
                                              tools=None, documents=None, **TOKENS, **variables)
    except Exception as error:  # whatever a template does wrong
        return "error", type(error).__name__ + ": " + str(error)
    return hashlib.sha256(text.encode()).hexdigest()[:16], text


def small_cases(env, data):
    """Micro cases whose context holds data alone."""
    for name, case in json.loads((data / "hf_jinja_micro.json").read_text()).items():
        try:
            text = env.from_string(case["template"]).render(**case["context"])
        except Exception:
            yield name, "error"
        else:
            yield name, hashlib.sha256(text.encode()).hexdigest()[:16]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=pathlib.Path,
                        default=HERE.parents[3] / "shared" / "data" / "chat_templates")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--show", nargs=2, metavar=("TEMPLATE", "CONVERSATION"))
    args = parser.parse_args()
    if not args.data.exists():
        print("test material is absent")
        return 77
    env = environment()
    if args.show:
        print(rendered(env, dict(templates(args.data))[args.show[0]],
                       CONVERSATIONS[args.show[1]])[1])
        return 0
    golden = {
        "date": DATE,
        "conversations": [{"name": name, "messages": messages, "add_generation_prompt": prompt,
                           "variables": variables}
                          for name, (messages, prompt, variables) in CONVERSATIONS.items()],
        "templates": [{"name": name, "renders": " ".join(rendered(env, source, c)[0]
                                                          for c in CONVERSATIONS.values())}
                      for name, source in templates(args.data)],
        "small": dict(small_cases(env, args.data)),
    }
    text = json.dumps(golden, indent=1, ensure_ascii=False) + "\n"
    if args.check:
        return int(GOLDEN.read_text(encoding="utf-8") != text)
    GOLDEN.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
