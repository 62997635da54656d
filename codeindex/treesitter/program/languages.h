// What the trees of each language mean.
#ifndef LANGUAGES_H
#define LANGUAGES_H

#include <stdbool.h>

#include <tree_sitter/api.h>

// What a node of a type is.
enum action {
	NOTHING,
	CLASS,
	C_TYPE,       // a class if it has a body
	TYPEDEF,      // a class if it names one that is defined in it
	MODULE,       // a class with a body, an import without one
	FUNCTION,     // a method inside of a class
	METHOD,       // a method anywhere
	SIGNATURE,    // a method inside of a class, else nothing
	C_FUNCTION,   // its name is in its declarator
	RUBY_OBJECT,  // def self.x, def X.y
	RUBY_CALL,    // an import if it requires
	RUST_IMPL,    // the scope of a type's methods
	IMPORT,
	TEMPLATE,     // the definition in it starts where it does
	ATTRIBUTE,    // the next node starts where it does
	COMMENT,
};

struct rule {
	const char *type;
	enum action action;
};

struct language {
	const TSLanguage *(*grammar)(void);
	const struct rule *rules;
	bool templates;  // else attributes
	bool angles;     // names may have arguments in <>
	const TSLanguage *loaded;
	unsigned char *actions;  // the action of each symbol
};

// Returns the language with the number, loaded, or NULL.
const struct language *find_language(unsigned number);

#endif
