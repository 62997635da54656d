"""Prints what source files define and import, as the grammars on PyPI see it.

Reads one line per file, LANGUAGE TAB PATH, and prints one JSON object per file: definitions
([kind, first line, last line, name]), imports ([first line, last line]), and whether there are errors.
It is written apart from the program in C and the extraction in Go, from docs/localisation.md.
"""

import json
import re
import sys

import tree_sitter_c
import tree_sitter_cpp
import tree_sitter_java
import tree_sitter_javascript
import tree_sitter_php
import tree_sitter_ruby
import tree_sitter_rust
import tree_sitter_typescript
from ecmascript import extract_ecmascript
from tree_sitter import Language, Parser

GRAMMARS = {
    "java": tree_sitter_java.language,
    "rust": tree_sitter_rust.language,
    "c": tree_sitter_c.language,
    "cpp": tree_sitter_cpp.language,
    "ruby": tree_sitter_ruby.language,
    "php": tree_sitter_php.language_php,
    "javascript": tree_sitter_javascript.language,
    "typescript": tree_sitter_typescript.language_typescript,
    "tsx": tree_sitter_typescript.language_tsx,
}
PARSERS = {name: Parser(Language(grammar())) for name, grammar in GRAMMARS.items()}

CLASSES = {
    "java": {"class_declaration", "interface_declaration", "enum_declaration", "record_declaration", "annotation_type_declaration"},
    "rust": {"struct_item", "enum_item", "union_item", "trait_item", "mod_item"},
    "c": {"struct_specifier", "union_specifier", "enum_specifier", "class_specifier"},
    "ruby": {"class", "module"},
    "php": {"class_declaration", "interface_declaration", "trait_declaration", "enum_declaration"},
}
METHODS = {
    "java": {"method_declaration", "constructor_declaration", "compact_constructor_declaration", "annotation_type_element_declaration"},
    "php": {"method_declaration"},
}
FUNCTIONS = {"rust": {"function_item"}, "ruby": {"method"}, "php": {"function_definition"}}
IMPORTS = {
    "java": {"import_declaration"},
    "rust": {"use_declaration", "extern_crate_declaration"},
    "c": {"preproc_include"},
    "php": {"namespace_use_declaration", "require_expression", "require_once_expression", "include_expression", "include_once_expression"},
}
MACRO = re.compile(
    rb"\b(?:class|struct|union)\s+([A-Z_][A-Z0-9_]+(?:\([^()\n]*\))?)\s+[A-Za-z_][\w:]*(?:<[^<>{};]*>)?(?:\s+final)?\s*[:{]"
)


def text(node):
    return node.text.decode(errors="replace")


def clean(name, angles=True):
    """A name without arguments of templates and spaces that say nothing, with . for ::"""
    head, operator, tail = re.match(r"(?s)(.*?)(\boperator\b(?!\s*$))?((?<=operator).*|)$", name).groups()
    groups_head = head
    if not operator:
        head = name
    while angles and re.search(r"<[^<>]*>", head):
        head = re.sub(r"<[^<>]*>", "", head)
    head = re.sub(r"\s*::\s*", ".", head).lstrip(".")
    head = re.sub(r"\s+", " ", head).strip()
    head = re.sub(r"(?<!\w) | (?!\w)", "", head)
    if not operator:
        return head
    if re.search(r"\w$", head) and re.search(r"\w\s+$", groups_head):
        head += " "
    tail = tail.strip()
    if not tail.startswith("("):
        tail = tail.split("(")[0]
    tail = re.sub(r"\s+", " ", tail).strip()
    tail = re.sub(r"(?<!\w) | (?!\w)", "", tail)
    return head + "operator" + (" " if tail[:1].isalpha() or tail[:1] == "_" else "") + tail


def lines(first, node):
    start, end = first.start_point, node.end_point
    last = end[0] - 1 if end[1] == 0 and end[0] > start[0] else end[0]
    return start[0] + 1, last + 1


class Extraction:
    def __init__(self, language):
        self.language = language
        self.family = "c" if language == "cpp" else language
        self.definitions = []
        self.imports = []

    def walk(self, node, scope, in_class, first):
        """The nodes below node; first is where a definition that is node itself starts."""
        name, kind = self.defines(node, in_class)
        inner, inside = scope, in_class
        if name:
            inner = scope + "." + name if scope else name
            if kind in "fm" and not scope and "." in name and self.language == "cpp":
                kind = "m"
            if kind:
                self.definitions.append([kind, *lines(first, node), inner])
            inside = kind in ("c", "")
        elif self.is_import(node):
            self.imports.append(list(lines(first, node)))
        self.typedef(node, scope, first)
        attribute = None
        for child in node.children:
            if child.type == "attribute_item":
                attribute = attribute or child
                continue
            if "comment" in child.type:
                continue
            start = attribute or (first if node.type == "template_declaration" else child)
            self.walk(child, inner, inside, start)
            attribute = None

    def defines(self, node, in_class):
        kind, family = node.type, self.family
        named = node.child_by_field_name("name")
        if not node.is_named:
            return None, ""
        if kind in CLASSES[family]:
            if kind == "mod_item" and not node.child_by_field_name("body"):
                return None, ""
            if family == "c" and not node.child_by_field_name("body"):
                return None, ""
            return named and self.clean(text(named)), "c"
        if kind in METHODS.get(family, ()):
            return named and self.clean(text(named)), "m"
        if kind in FUNCTIONS.get(family, ()):
            return named and self.clean(text(named)), "m" if in_class else "f"
        if family == "c" and kind == "function_definition":
            return self.declared(node.child_by_field_name("declarator")), "m" if in_class else "f"
        if kind == "function_signature_item" and in_class:
            return self.clean(text(named)), "m"
        if kind == "impl_item":
            return self.implemented(node.child_by_field_name("type")), ""
        if kind == "type_definition":
            tag = node.child_by_field_name("type")
            name = node.child_by_field_name("declarator")
            if name and name.type == "type_identifier" and tag.child_by_field_name("body") and not tag.child_by_field_name("name"):
                return self.clean(text(name)), "c"
        if kind == "singleton_method":
            return self.singleton(node), "m"
        return None, ""

    def declared(self, node):
        name, function = None, False
        while node is not None:
            if name is None or name.type != "qualified_identifier":
                name = node
            function = function or node.type in ("function_declarator", "operator_cast")
            if node.type == "operator_cast":
                break
            if node.type == "qualified_identifier":
                node = node.child_by_field_name("name")
                continue
            inner = node.child_by_field_name("declarator")
            if inner is None and "declarator" in node.type:
                names = ("declarator", "identifier", "_name", "operator_cast", "template_function", "template_method")
                inner = next((c for c in node.named_children if any(n in c.type for n in names)), None)
            node = inner
        return self.clean(text(name)) if function and name else None

    def implemented(self, node):
        while True:
            inner = node.child_by_field_name("name" if node.type == "scoped_type_identifier" else "type")
            if inner is None:
                return self.clean(text(node))
            node = inner

    def singleton(self, node):
        owner, name = node.child_by_field_name("object"), self.clean(text(node.child_by_field_name("name")))
        if owner.type == "self":
            return name
        scope = node.parent
        while scope is not None and scope.type not in ("class", "module", "method", "singleton_method"):
            scope = scope.parent
        outer = scope and scope.child_by_field_name("name")
        if outer is not None and self.clean(text(outer)).split(".")[-1] == text(owner):
            return name
        return self.clean(text(owner)) + "." + name

    def clean(self, name):
        return clean(name, self.language in ("rust", "c", "cpp"))

    def typedef(self, node, scope, first):
        if node.type != "type_definition":
            return
        tag, name = node.child_by_field_name("type"), node.child_by_field_name("declarator")
        named = tag and tag.child_by_field_name("body") and tag.child_by_field_name("name")
        if named and name and name.type == "type_identifier" and text(named) != text(name):
            self.definitions.append(["c", *lines(first, node), (scope + "." if scope else "") + self.clean(text(name))])

    def is_import(self, node):
        if not node.is_named:
            return False
        if node.type in IMPORTS.get(self.family, ()):
            return True
        if node.type == "mod_item":
            return node.child_by_field_name("body") is None
        if node.type == "call" and self.language == "ruby":
            method = node.child_by_field_name("method")
            alone = node.child_by_field_name("receiver") is None and method is not None and method.type == "identifier"
            return alone and text(method) in ("require", "require_relative")
        return False


def prepared(language, source):
    if language in ("c", "cpp"):
        return MACRO.sub(lambda m: m[0].replace(m[1], b" " * len(m[1]), 1), source)
    if language in ("java", "php"):
        return re.sub(rb"\r(?!\n)", b"\n", source)
    return source


def main():
    sys.setrecursionlimit(100000)
    for line in sys.stdin:
        language, path = line.rstrip("\n").split("\t")
        with open(path, "rb") as f:
            source = f.read().decode(errors="replace").encode()
        tree = PARSERS[language].parse(prepared(language, source))
        if language in ("javascript", "typescript", "tsx"):
            definitions, imports = extract_ecmascript(tree.root_node)
        else:
            e = Extraction(language)
            e.walk(tree.root_node, "", False, tree.root_node)
            definitions, imports = e.definitions, e.imports
        print(json.dumps({"definitions": definitions, "imports": imports, "errors": tree.root_node.has_error}), flush=True)


main()
