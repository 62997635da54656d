"""Writes the parts of the functions of Python files (codeindex.Parts) as JSON.

Runs in the container of a repository, whose Python is the one that the files are written for.
Usage: parts.py IN OUT. IN is a JSON list of sources in base64; OUT becomes a list of their parts.
"""
import ast
import base64
import hashlib
import io
import json
import sys
import tokenize

BODIES = ("body", "orelse", "finalbody")


class Dissection(ast.NodeVisitor):
    """Collects the parts of one file."""

    def __init__(self, source, tree):
        self.starts = [0]
        for line in source.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))
        self.lines = source.splitlines(keepends=True)
        self.tokens = self.operator_tokens(source)
        self.steps, self.parts = [], []
        self.step = None  # the innermost step around a node; None outside of functions
        self.visit(tree)

    def operator_tokens(self, source):
        """Returns (start, end, text) of all operators and keywords but brackets."""
        found = []
        for token in tokenize.tokenize(io.BytesIO(source).readline):
            if token.type in (tokenize.OP, tokenize.NAME) and token.string not in ("(", ")"):
                found.append((self.byte(token.start), self.byte(token.end), token.string))
        return found

    def byte(self, position):
        """Returns the offset of a token's position, whose column counts characters."""
        line, column = position
        text = self.lines[line - 1].decode("utf-8") if line <= len(self.lines) else ""
        return self.starts[line - 1] + len(text[:column].encode("utf-8"))

    def span(self, node):
        return {"start": self.starts[node.lineno - 1] + node.col_offset,
                "end": self.starts[node.end_lineno - 1] + node.end_col_offset}

    def add(self, kind, start, end, **more):
        self.parts.append({"kind": kind, "start": start, "end": end, "step": self.step, **more})

    def add_node(self, kind, node, **more):
        span = self.span(node)
        self.add(kind, span["start"], span["end"], **more)

    def add_operator(self, left, right):
        """Adds the operator between two nodes: all tokens there that are not brackets."""
        start, end = self.span(left)["end"], self.span(right)["start"]
        between = [t for t in self.tokens if start <= t[0] and t[1] <= end]
        if between:
            self.add("operator", between[0][0], between[-1][1])

    def function(self, node):
        """Visits the body of a function; its decorators, defaults and annotations have no parts."""
        outer, self.step = self.step, None
        body = node.body
        if isinstance(body[0], ast.Expr) and isinstance(getattr(body[0], "value", None), ast.Constant):
            body = body[1:]  # documentation
        self.statements(body, len(node.body))
        self.step = outer

    visit_FunctionDef = function
    visit_AsyncFunctionDef = function

    def visit_ClassDef(self, node):
        outer, self.step = self.step, None
        for child in node.body:
            self.visit(child)
        self.step = outer

    def statements(self, body, count):
        outer = self.step
        for node in body:
            span = self.span(node)
            self.step = len(self.steps)
            self.steps.append({**span, "line": node.lineno, "value": False})
            if removable(node):
                self.add_node("statement", node, alone=count == 1)
            self.visit(node)
        self.step = outer

    def generic_visit(self, node):
        if self.step is None:
            super().generic_visit(node)
            return
        for name, value in ast.iter_fields(node):
            if name in ("annotation", "returns"):
                continue
            if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                self.statements(value, len(value))
            elif isinstance(value, list):
                for item in value:
                    if isinstance(item, ast.AST):
                        self.visit(item)
            elif isinstance(value, ast.AST):
                self.visit(value)

    def visit_JoinedStr(self, node):
        """Leaves out f-strings: before Python 3.12 the positions inside of them are wrong."""

    def take(self, node):
        if self.step is not None:
            self.parts_of(node)
        self.generic_visit(node)

    def parts_of(self, node):
        if isinstance(node, ast.BinOp):
            if not (isinstance(node.op, (ast.Add, ast.Mod)) and (is_text(node.left) or is_text(node.right))):
                self.add_operator(node.left, node.right)
        elif isinstance(node, ast.BoolOp):
            if len(node.values) == 2:
                self.add_operator(*node.values)
        elif isinstance(node, ast.Compare):
            for left, right in zip([node.left] + node.comparators, node.comparators):
                self.add_operator(left, right)
        elif isinstance(node, ast.AugAssign):
            self.add_operator(node.target, node.value)
        elif isinstance(node, (ast.If, ast.While, ast.IfExp)):
            self.add_node("condition", node.test)
        elif isinstance(node, ast.Constant):
            if isinstance(node.value, bool):
                self.add_node("boolean", node)
            elif isinstance(node.value, int):
                self.add_node("number", node)
        elif isinstance(node, ast.Call):
            for first, second in zip(node.args, node.args[1:]):
                if not isinstance(first, ast.Starred) and not isinstance(second, ast.Starred):
                    self.add_node("arguments", first, next=self.span(second))

    visit_BinOp = visit_BoolOp = visit_Compare = visit_AugAssign = visit_If = visit_While = take
    visit_IfExp = visit_Constant = visit_Call = take


def is_text(node):
    """Reports whether + or % with this operand makes text, as far as can be seen."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return is_text(node.left) or is_text(node.right)
    return isinstance(node, ast.JoinedStr) or isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes))


def removable(node):
    """Reports whether a function without a statement defines the same names."""
    if isinstance(node, ast.Assign):
        return all(isinstance(t, (ast.Attribute, ast.Subscript)) for t in node.targets)
    if isinstance(node, ast.Expr):
        return isinstance(node.value, (ast.Call, ast.Await))
    if isinstance(node, ast.If):
        return not node.orelse and not defines(node)
    return isinstance(node, (ast.AugAssign, ast.Delete, ast.Raise, ast.Return, ast.Break, ast.Continue))


def defines(node):
    """Reports whether something in a statement gives a name its value."""
    return any(isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store) for n in ast.walk(node))


def parts(source):
    try:
        text = source.decode("utf-8")
        if text.startswith("\ufeff") or "\f" in text or "\r" in text.replace("\r\n", ""):
            return {"problem": "not_text"}  # whose lines or offsets are others than those of ast
        tree = ast.parse(source)
        found = Dissection(source, tree)
    except UnicodeDecodeError:
        return {"problem": "not_text"}
    except (SyntaxError, ValueError, tokenize.TokenError):
        return {"problem": "syntax"}
    except RecursionError:
        return {"problem": "too_large"}
    digest = hashlib.sha256(ast.dump(tree).encode("utf-8", "surrogatepass")).hexdigest()[:32]
    return {"steps": found.steps, "parts": found.parts, "tree": digest, "problem": ""}


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        sources = json.load(file)
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        json.dump([parts(base64.b64decode(s)) for s in sources], file)


main()
