#include "extract.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

// A longer qualified name is not recorded. Without a limit, nested names are quadratic.
#define LONGEST_NAME 500
#define MOST_RECORDS (15 << 20)
#define NONE UINT32_MAX

struct scope {
	uint32_t depth;  // of the node that opened it
	size_t name;     // length of the qualified name outside of it
	bool class;
};

struct walk {
	const struct language *language;
	const char *source;
	struct buffer *records;
	struct buffer name;    // of the innermost scope
	struct buffer scopes;  // struct scope
	struct buffer starts;  // uint32_t for each depth: the line where the next definition starts, or NONE
	uint32_t depth;
};

void append(struct buffer *b, const void *data, size_t length) {
	if (b->length + length > b->room) {
		b->room = 2 * (b->length + length);
		b->data = realloc(b->data, b->room);
		if (b->data == NULL)
			abort();
	}
	memcpy(b->data + b->length, data, length);
	b->length += length;
}

static void append_number(struct buffer *b, uint32_t n) {
	unsigned char bytes[4] = {n, n >> 8, n >> 16, n >> 24};
	append(b, bytes, sizeof bytes);
}

static struct scope *innermost(struct walk *w) {
	if (w->scopes.length == 0)
		return NULL;
	return (struct scope *)(w->scopes.data + w->scopes.length) - 1;
}

static bool in_class(struct walk *w) {
	struct scope *s = innermost(w);
	return s != NULL && s->class;
}

static uint32_t *start_at(struct walk *w, uint32_t depth) {
	uint32_t none = NONE;
	while (w->starts.length <= depth * sizeof none)
		append(&w->starts, &none, sizeof none);
	return (uint32_t *)w->starts.data + depth;
}

static TSNode field(TSNode node, const char *name) {
	return ts_node_child_by_field_name(node, name, strlen(name));
}

static bool is(TSNode node, const char *type) {
	return !ts_node_is_null(node) && strcmp(ts_node_type(node), type) == 0;
}

static bool same_text(struct walk *w, TSNode node, const char *text, size_t length) {
	uint32_t begin = ts_node_start_byte(node);
	return ts_node_end_byte(node) - begin == length && memcmp(w->source + begin, text, length) == 0;
}

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_' || (c & 0x80); }

// The text up to here ends with the word operator.
static bool after_operator(const char *begin, const char *p) {
	return p - begin >= 8 && memcmp(p - 8, "operator", 8) == 0 && (p - begin == 8 || !is_word(p[-9])) && !is_word(*p);
}

// Appends a name to the name of the innermost scope: without spaces and arguments of templates,
// with . for ::. What an operator is called stays.
static void append_name(struct walk *w, const char *text, size_t length) {
	struct buffer *b = &w->name;
	size_t outside = b->length, operator = 0;  // where the operator begins
	int angles = 0;
	if (outside > 0)
		append(b, ".", 1);
	size_t first = b->length;
	for (const char *p = text, *end = text + length; p < end && b->length <= LONGEST_NAME; p++) {
		if (operator == 0 && after_operator(text, p))
			operator = b->length;
		if (operator > 0 && *p == '(' && b->length > operator)
			break;  // the parameters of a conversion
		if (isspace((unsigned char)*p)) {
			bool between = b->length > first && is_word(b->data[b->length - 1]) && p + 1 < end && is_word(p[1]);
			if (between && angles == 0)
				append(b, " ", 1);
		} else if (w->language->angles && operator == 0 && (*p == '<' || *p == '>')) {
			angles += *p == '<' ? 1 : -1;
		} else if (angles > 0) {
			continue;
		} else if (operator == 0 && *p == ':') {
			if (b->length > first && b->data[b->length - 1] != '.')
				append(b, ".", 1);
		} else {
			append(b, p, 1);
		}
	}
	if (b->length == first)
		b->length = outside;
}

static void open_scope(struct walk *w, size_t outside, bool class) {
	struct scope s = {.depth = w->depth, .name = outside, .class = class};
	append(&w->scopes, &s, sizeof s);
}

static void close_scopes(struct walk *w) {
	for (struct scope *s = innermost(w); s != NULL && s->depth == w->depth; s = innermost(w)) {
		w->name.length = s->name;
		w->scopes.length -= sizeof *s;
	}
}

static void record(struct walk *w, TSNode node, char kind, size_t name) {
	TSPoint start = ts_node_start_point(node), end = ts_node_end_point(node);
	uint32_t first = *start_at(w, w->depth);
	if (end.column == 0 && end.row > start.row)
		end.row--;  // it ends with the end of a line
	append(w->records, &kind, 1);
	append_number(w->records, (first == NONE ? start.row : first) + 1);
	append_number(w->records, end.row + 1);
	append_number(w->records, name);
	append(w->records, w->name.data, name);
}

// Records a definition that is called as the source from begin to end, and opens its scope.
static void define(struct walk *w, TSNode node, char kind, TSNode name) {
	size_t outside = w->name.length;
	if (ts_node_is_null(name))
		return;
	uint32_t begin = ts_node_start_byte(name);
	append_name(w, w->source + begin, ts_node_end_byte(name) - begin);
	if (w->name.length == outside || w->name.length > LONGEST_NAME) {
		w->name.length = outside;
		return;
	}
	if (kind == 'f' && outside == 0 && memchr(w->name.data, '.', w->name.length) != NULL)
		kind = 'm';  // Class::method
	if (kind != 0)
		record(w, node, kind, w->name.length);
	open_scope(w, outside, kind == 'c' || kind == 0);
}

static bool names_something(const char *type) {
	static const char *const parts[] = {"declarator", "identifier", "_name", "operator_cast", "template_function", "template_method"};
	for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
		if (strstr(type, parts[i]) != NULL)
			return true;
	return false;
}

// The declarator in a declarator, or null.
static TSNode inner_declarator(TSNode node) {
	TSNode inner = field(node, "declarator");
	if (!ts_node_is_null(inner) || strstr(ts_node_type(node), "declarator") == NULL)
		return inner;
	uint32_t count = ts_node_named_child_count(node);
	for (uint32_t i = 0; i < count; i++) {
		TSNode child = ts_node_named_child(node, i);
		if (names_something(ts_node_type(child)))
			return child;
	}
	return inner;
}

// The name in a declarator, and whether that of a function: with parameters, or a conversion.
static TSNode declared(TSNode node, bool *function) {
	TSNode name = node;
	*function = false;
	for (TSNode inner = node; !ts_node_is_null(inner);) {
		if (!is(name, "qualified_identifier"))
			name = inner;
		*function = *function || is(inner, "function_declarator") || is(inner, "operator_cast");
		if (is(inner, "operator_cast"))
			break;
		inner = is(inner, "qualified_identifier") ? field(inner, "name") : inner_declarator(inner);
	}
	return name;
}

static void c_function(struct walk *w, TSNode node) {
	bool function;
	TSNode name = declared(field(node, "declarator"), &function);
	if (function)
		define(w, node, in_class(w) ? 'm' : 'f', name);
}

// typedef struct … { … } Name;
static void c_typedef(struct walk *w, TSNode node) {
	TSNode type = field(node, "type"), name = field(node, "declarator"), tag = field(type, "name");
	if (!is(name, "type_identifier") || ts_node_is_null(field(type, "body")))
		return;
	if (ts_node_is_null(tag)) {
		define(w, node, 'c', name);
	} else if (!same_text(w, tag, w->source + ts_node_start_byte(name), ts_node_end_byte(name) - ts_node_start_byte(name))) {
		define(w, node, 'c', name);
		close_scopes(w);  // what is inside belongs to the tag
	}
}

static void rust_impl(struct walk *w, TSNode node) {
	TSNode type = field(node, "type");
	for (;;) {
		TSNode inner = is(type, "scoped_type_identifier") ? field(type, "name") : field(type, "type");
		if (ts_node_is_null(inner))
			break;
		type = inner;
	}
	define(w, node, 0, type);
}

// def self.x in a class X is X.x, as is def X.x.
static void ruby_object(struct walk *w, TSNode node) {
	TSNode object = field(node, "object");
	struct scope *s = innermost(w);
	const char *own = w->name.data;
	for (size_t i = 0; i < w->name.length; i++)
		if (w->name.data[i] == '.')
			own = w->name.data + i + 1;
	bool same = is(object, "self") || (s != NULL && same_text(w, object, own, w->name.data + w->name.length - own));
	if (!same)
		define(w, object, 0, object);
	define(w, node, 'm', field(node, "name"));
}

static void ruby_call(struct walk *w, TSNode node) {
	TSNode method = field(node, "method");
	if (!ts_node_is_null(field(node, "receiver")) || !is(method, "identifier"))
		return;
	if (same_text(w, method, "require", 7) || same_text(w, method, "require_relative", 16))
		record(w, node, 'i', 0);
}

static void visit(struct walk *w, TSNode node, enum action action) {
	switch (action) {
	case CLASS:
		define(w, node, 'c', field(node, "name"));
		break;
	case C_TYPE:
		if (!ts_node_is_null(field(node, "body")))
			define(w, node, 'c', field(node, "name"));
		break;
	case TYPEDEF:
		c_typedef(w, node);
		break;
	case MODULE:
		if (ts_node_is_null(field(node, "body")))
			record(w, node, 'i', 0);
		else
			define(w, node, 'c', field(node, "name"));
		break;
	case FUNCTION:
		define(w, node, in_class(w) ? 'm' : 'f', field(node, "name"));
		break;
	case METHOD:
		define(w, node, 'm', field(node, "name"));
		break;
	case SIGNATURE:
		if (in_class(w))
			define(w, node, 'm', field(node, "name"));
		break;
	case C_FUNCTION:
		c_function(w, node);
		break;
	case RUBY_OBJECT:
		ruby_object(w, node);
		break;
	case RUBY_CALL:
		ruby_call(w, node);
		break;
	case RUST_IMPL:
		rust_impl(w, node);
		break;
	case IMPORT:
		record(w, node, 'i', 0);
		break;
	default:
		break;
	}
}

// Remembers where the definition starts that a template or an attribute belongs to.
static void carry_start(struct walk *w, TSNode node, enum action action) {
	uint32_t row = ts_node_start_point(node).row;
	uint32_t start = *start_at(w, w->depth);
	if (start != NONE)
		row = start;
	*start_at(w, w->depth + 1) = action == TEMPLATE ? row : NONE;
	if (action == ATTRIBUTE)
		*start_at(w, w->depth) = row;
}

static void enter(struct walk *w, TSNode node) {
	enum action action = w->language->actions[ts_node_symbol(node)];
	visit(w, node, action);
	carry_start(w, node, action);
}

static void leave(struct walk *w, TSNode node) {
	enum action action = w->language->actions[ts_node_symbol(node)];
	close_scopes(w);
	if (!w->language->templates && action != ATTRIBUTE && action != COMMENT)
		*start_at(w, w->depth) = NONE;
}

static void walk_tree(struct walk *w, TSTreeCursor *cursor) {
	for (;;) {
		enter(w, ts_tree_cursor_current_node(cursor));
		if (w->records->length > MOST_RECORDS)
			return;
		if (ts_tree_cursor_goto_first_child(cursor)) {
			w->depth++;
			continue;
		}
		leave(w, ts_tree_cursor_current_node(cursor));
		while (!ts_tree_cursor_goto_next_sibling(cursor)) {
			if (!ts_tree_cursor_goto_parent(cursor))
				return;
			w->depth--;
			leave(w, ts_tree_cursor_current_node(cursor));
		}
	}
}

enum outcome extract(const struct language *l, const TSTree *tree, const char *source, struct buffer *records) {
	struct walk w = {.language = l, .source = source, .records = records};
	TSNode root = ts_tree_root_node(tree);
	TSTreeCursor cursor = ts_tree_cursor_new(root);
	walk_tree(&w, &cursor);
	ts_tree_cursor_delete(&cursor);
	free(w.name.data);
	free(w.scopes.data);
	free(w.starts.data);
	if (records->length > MOST_RECORDS)
		return TOO_MUCH;
	return ts_node_has_error(root) ? SYNTAX_ERRORS : WELL;
}
