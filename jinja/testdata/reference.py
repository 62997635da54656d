"""Renders templates with the Jinja2 environment of transformers.

A line of JSON in, a line out. In: {"template", "variables": JSON text, "chat": whether
the variables are those of a conversation}. Out: {"text"} or {"error", "raised"}, raised
where the template called raise_exception. The clock stands still.
"""

import datetime
import io
import json
import sys

import jinja2
import transformers.utils.chat_template_utils as utils

sys.set_int_max_str_digits(4300)
sys.setrecursionlimit(3000)


class Still(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return cls(2025, 3, 7, 4, 5, 6)


utils.datetime = Still
compile = utils._compile_jinja_template
compiled = {}


def template(source):
    if source not in compiled:
        if len(compiled) > 500:
            compiled.clear()
        compiled[source] = compile(source)
    return compiled[source]


def render(request):
    variables = json.loads(request["variables"])
    if not request.get("chat"):
        return template(request["template"]).render(**variables)
    messages = variables.pop("messages")
    texts, _ = utils.render_jinja_template([messages], chat_template=request["template"], **variables)
    return texts[0]


def answer(line):
    try:
        text = render(json.loads(line))
        # What Python prints with an address is no rendering.
        if " object at 0x" in text or " at 0x" in text:
            return {"error": "an address was printed", "raised": False}
        return {"text": text}
    except RecursionError as e:
        return {"error": "RecursionError", "raised": False}
    except jinja2.exceptions.TemplateError as e:
        return {"error": str(e), "raised": type(e) is jinja2.exceptions.TemplateError}
    except Exception as e:
        return {"error": f"{type(e).__name__}: {e}", "raised": False}


utils._compile_jinja_template = template


def main():
    out = io.TextIOWrapper(sys.stdout.buffer, encoding="ascii", write_through=True)
    for line in sys.stdin.buffer:
        print(json.dumps(answer(line.decode())), file=out, flush=True)


main()
