#include <stdlib.h>
#include <string.h>

#include "languages.h"

const TSLanguage *tree_sitter_java(void);
const TSLanguage *tree_sitter_rust(void);
const TSLanguage *tree_sitter_c(void);
const TSLanguage *tree_sitter_cpp(void);
const TSLanguage *tree_sitter_ruby(void);
const TSLanguage *tree_sitter_php(void);

static const struct rule java[] = {
	{"class_declaration", CLASS},
	{"interface_declaration", CLASS},
	{"enum_declaration", CLASS},
	{"record_declaration", CLASS},
	{"annotation_type_declaration", CLASS},
	{"method_declaration", METHOD},
	{"constructor_declaration", METHOD},
	{"compact_constructor_declaration", METHOD},
	{"annotation_type_element_declaration", METHOD},
	{"import_declaration", IMPORT},
	{NULL, NOTHING},
};

static const struct rule rust[] = {
	{"struct_item", CLASS},
	{"enum_item", CLASS},
	{"union_item", CLASS},
	{"trait_item", CLASS},
	{"mod_item", MODULE},
	{"impl_item", RUST_IMPL},
	{"function_item", FUNCTION},
	{"function_signature_item", SIGNATURE},
	{"use_declaration", IMPORT},
	{"extern_crate_declaration", IMPORT},
	{"attribute_item", ATTRIBUTE},
	{"line_comment", COMMENT},
	{"block_comment", COMMENT},
	{NULL, NOTHING},
};

static const struct rule c[] = {
	{"struct_specifier", C_TYPE},
	{"union_specifier", C_TYPE},
	{"enum_specifier", C_TYPE},
	{"class_specifier", C_TYPE},  // C++
	{"type_definition", TYPEDEF},
	{"function_definition", C_FUNCTION},
	{"template_declaration", TEMPLATE},  // C++
	{"preproc_include", IMPORT},
	{NULL, NOTHING},
};

static const struct rule ruby[] = {
	{"class", CLASS},
	{"module", CLASS},
	{"method", FUNCTION},
	{"singleton_method", RUBY_OBJECT},
	{"call", RUBY_CALL},
	{NULL, NOTHING},
};

static const struct rule php[] = {
	{"class_declaration", CLASS},
	{"interface_declaration", CLASS},
	{"trait_declaration", CLASS},
	{"enum_declaration", CLASS},
	{"function_definition", FUNCTION},
	{"method_declaration", METHOD},
	{"namespace_use_declaration", IMPORT},
	{"require_expression", IMPORT},
	{"require_once_expression", IMPORT},
	{"include_expression", IMPORT},
	{"include_once_expression", IMPORT},
	{NULL, NOTHING},
};

// The numbers are those of the protocol.
static struct language languages[] = {
	{.grammar = tree_sitter_java, .rules = java},
	{.grammar = tree_sitter_rust, .rules = rust, .angles = true},
	{.grammar = tree_sitter_c, .rules = c, .templates = true, .angles = true},
	{.grammar = tree_sitter_cpp, .rules = c, .templates = true, .angles = true},
	{.grammar = tree_sitter_ruby, .rules = ruby},
	{.grammar = tree_sitter_php, .rules = php},
};

static void load(struct language *l) {
	l->loaded = l->grammar();
	l->actions = calloc(1 << 16, 1);
	if (l->actions == NULL)
		abort();
	for (const struct rule *r = l->rules; r->type != NULL; r++)
		l->actions[ts_language_symbol_for_name(l->loaded, r->type, strlen(r->type), true)] = r->action;
	l->actions[0] = NOTHING;  // types that the language lacks
}

const struct language *find_language(unsigned number) {
	if (number >= sizeof languages / sizeof languages[0])
		return NULL;
	if (languages[number].actions == NULL)
		load(&languages[number]);
	return &languages[number];
}
