"""What JavaScript and TypeScript files define and import, from tree-sitter's trees."""

CLASSES = {"class_declaration", "abstract_class_declaration", "interface_declaration", "enum_declaration", "internal_module"}
FUNCTIONS = {
    "function_declaration",
    "generator_function_declaration",
    "function_signature",
}
VALUES = {"function_expression", "generator_function", "arrow_function"}
METHODS = {"method_definition", "method_signature", "abstract_method_signature"}
WRAPPED = {"parenthesized_expression", "as_expression", "satisfies_expression", "non_null_expression", "type_assertion"}
FIELDS = {"field_definition", "public_field_definition"}


def text(node):
    return node.text.decode(errors="replace")


def lines(node):
    start, end = node.start_point, node.end_point
    last = end[0] - 1 if end[1] == 0 and end[0] > start[0] else end[0]
    return [start[0] + 1, last + 1]


def unwrap(node):
    while node is not None and node.type in WRAPPED:
        inner = [c for c in node.named_children if c.type != "comment"]
        if not inner:
            return node
        node = inner[-1] if node.type == "type_assertion" else inner[0]
    return node


def join(scope, name):
    return f"{scope}.{name}" if scope and name else scope + name


def key(node):
    """The name of a member or a property."""
    if node is None:
        return ""
    if node.type == "string":
        return " ".join(text(node)[1:-1].split())
    if node.type == "computed_property_name":
        inner = node.named_children[0] if node.named_children else None
        return key(inner) if inner is not None and inner.type == "string" else " ".join(text(node).split())
    return text(node)


def chain(node):
    """a.b.c of an expression that is assigned to, or nothing."""
    parts = []
    while node.type == "member_expression":
        parts.append(text(node.child_by_field_name("property")))
        node = node.child_by_field_name("object")
    if node.type not in ("identifier", "this", "undefined"):
        return ""
    return ".".join([text(node), *reversed(parts)])


def outer(node):
    """The statement that exports or declares the node."""
    while node.parent is not None and node.parent.type in ("export_statement", "ambient_declaration"):
        node = node.parent
    if node.type == "internal_module" and node.parent is not None and node.parent.type == "expression_statement":
        return outer(node.parent)
    return node


def is_require(node):
    callee, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
    if callee is None or arguments is None:
        return False
    if callee.type == "import":
        return True
    given = [a for a in arguments.named_children if a.type != "comment"]
    if callee.type != "identifier" or text(callee) != "require" or len(given) != 1:
        return False
    plain = given[0].type == "template_string" and not any(c.type == "template_substitution" for c in given[0].named_children)
    return given[0].type == "string" or plain


def required(node):
    """The call that imports in the value of a variable."""
    while node is not None:
        node = unwrap(node)
        if node.type == "call_expression":
            if is_require(node):
                return node
            node = node.child_by_field_name("function")
        elif node.type in ("member_expression", "subscript_expression"):
            node = node.child_by_field_name("object")
        elif node.type == "await_expression":
            node = node.named_children[0] if node.named_children else None
        else:
            return None
    return None


class Walk:
    def __init__(self):
        self.definitions, self.imports, self.statements = [], [], {}

    def children(self, node, scope, in_class):
        for child in node.children:
            self.visit(child, scope, in_class)

    def define(self, kind, name, whole, inside, scope):
        if not name:
            return self.children(inside, scope, False)
        self.definitions.append([kind, *lines(whole), join(scope, name)])
        self.children(inside, join(scope, name), kind == "c")

    def visit(self, node, scope, in_class):
        kind = node.type
        if not node.is_named:
            return
        name = node.child_by_field_name("name")
        if kind in CLASSES or kind == "module":
            self.container(node, name, scope, in_class)
        elif kind == "decorator":
            self.children(node, "", False)
        elif kind in FUNCTIONS:
            self.define("m" if in_class else "f", key(name) or "default", outer(node), node, scope)
        elif kind in METHODS:
            if kind == "method_signature" and node.parent.type not in ("interface_body", "class_body"):
                return self.children(node, scope, in_class)
            self.define("m", key(name), self.member(node), node, scope)
        elif kind in VALUES or kind == "class":
            self.expression(node, name, scope)
        elif kind in ("lexical_declaration", "variable_declaration"):
            self.variables(node, scope, in_class)
        elif kind in FIELDS:
            for child in node.children:
                if child.type in ("decorator", "type_annotation"):
                    self.visit(child, scope, in_class)
            label = name or node.child_by_field_name("property")
            self.bind(key(label), self.member(node), node.child_by_field_name("value"), scope, in_class)
        elif kind == "pair":
            self.bind(key(node.child_by_field_name("key")), node, node.child_by_field_name("value"), scope, in_class)
        elif kind == "assignment_expression":
            statement = node.parent if node.parent.type == "expression_statement" else node
            self.assign(node, statement, scope, in_class)
        elif kind == "export_statement":
            self.export_statement(node, scope, in_class)
        else:
            self.imported(node)
            self.children(node, scope, in_class)

    def member(self, node):
        """tree-sitter has decorators of methods beside them."""
        first = node
        while first.prev_sibling is not None and first.prev_sibling.type in ("decorator", "comment"):
            first = first.prev_sibling
        while first.type == "comment":
            first = first.next_sibling
        if first == node:
            return node
        return Span(first, node)

    def container(self, node, name, scope, in_class):
        if kind_of_module(node, name):
            return self.children(node, scope, in_class)
        parts = key(name).split(".") if node.type in ("internal_module", "module") else [key(name) or "default"]
        for i, part in enumerate(parts):
            last = i == len(parts) - 1
            whole = outer(node) if i == 0 else Span(name, node)
            if last:
                return self.define("c", part, whole, node, scope)
            self.definitions.append(["c", *lines(whole), join(scope, part)])
            scope = join(scope, part)

    def expression(self, node, name, scope):
        if name is None:
            return self.children(node, scope, False)
        self.define("c" if node.type == "class" else "f", key(name), node, node, scope)

    def bind(self, name, whole, value, scope, in_class):
        if value is None:
            return
        value = unwrap(value)
        if not name and value.type != "object":
            self.visit(value, scope, in_class)
        elif value.type in VALUES:
            self.define("m" if in_class or "." in name else "f", name, whole, value, scope)
        elif value.type == "class":
            self.define("c", name, whole, value, scope)
        elif value.type == "object":
            self.children(value, join(scope, name), True)
        else:
            self.visit(value, scope, in_class)

    def variables(self, node, scope, in_class):
        declared = [c for c in node.named_children if c.type == "variable_declarator"]
        loop = node.parent is not None and node.parent.type in ("for_statement", "for_in_statement")
        for d in declared:
            whole = outer(node) if len(declared) == 1 else d
            name, value = d.child_by_field_name("name"), d.child_by_field_name("value")
            if loop:
                self.children(d, scope, in_class)
                continue
            call = required(value)
            if call is not None:
                self.statements[call.id] = whole
            if d.child_by_field_name("type") is not None:
                self.visit(d.child_by_field_name("type"), scope, in_class)
            if name is not None and name.type != "identifier":
                self.visit(name, scope, in_class)
                name = None
            self.bind(text(name) if name is not None else "", whole, value, scope, in_class)

    def assign(self, node, whole, scope, in_class):
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        name = chain(left)
        if name in ("module.exports", "exports"):
            return self.export("module.exports", whole, right, scope, in_class)
        if not name:
            self.visit(left, scope, in_class)
        in_class = in_class or name.startswith("this.")
        for prefix in ("module.exports.", "exports.", "this."):
            if name.startswith(prefix):
                name = name[len(prefix) :]
                break
        name = name.removesuffix(".prototype").replace(".prototype.", ".")
        self.bind(name, whole, right, scope, in_class)

    def export(self, name, whole, value, scope, in_class):
        value = unwrap(value)
        own = value.child_by_field_name("name")
        if value.type == "object":
            name = ""
        elif own is not None and value.type in ("function_expression", "generator_function", "class"):
            name = key(own)
        if value.type in VALUES:
            return self.define("f", name, whole, value, scope)
        self.bind(name, whole, value, scope, in_class)

    def export_statement(self, node, scope, in_class):
        if node.child_by_field_name("source") is not None:
            self.imports.append(lines(node))
        value = node.child_by_field_name("value")
        if value is None and any(c.type == "=" for c in node.children):
            value = node.named_children[-1]
        for child in node.children:
            if value is not None and child == value:
                if value.type in ("function_expression", "generator_function", "class") and value.child_by_field_name("name") is None:
                    kind = "c" if value.type == "class" else "m" if in_class else "f"
                    self.define(kind, "default", node, value, scope)
                else:
                    self.export("default", node, value, scope, in_class)
            else:
                self.visit(child, scope, in_class)

    def imported(self, node):
        if node.type == "import_statement":
            alias = any(c.type == "=" for c in node.children)
            if not alias or any(c.type == "import_require_clause" for c in node.children):
                self.imports.append(lines(node))
        elif node.type == "call_expression" and is_require(node):
            self.imports.append(lines(self.statements.get(node.id, node)))


class Span:
    """The lines from one node to another."""

    def __init__(self, first, last):
        self.start_point, self.end_point = first.start_point, last.end_point


def kind_of_module(node, name):
    return node.type in ("internal_module", "module") and name is not None and name.type == "string"


def extract_ecmascript(root):
    w = Walk()
    w.children(root, "", False)
    return w.definitions, w.imports
