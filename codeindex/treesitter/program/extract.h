// What a source file defines and imports.
#ifndef EXTRACT_H
#define EXTRACT_H

#include <stddef.h>
#include <stdint.h>

#include "languages.h"

// How a file was read; part of the protocol.
enum outcome {
	WELL = 0,
	SYNTAX_ERRORS = 1,
	TOO_MUCH = 2,
};

// Bytes that grow.
struct buffer {
	char *data;
	size_t length, room;
};

void append(struct buffer *b, const void *data, size_t length);

// Appends the records of the tree in its order: kind (c, f, m or i), first and last line, length of
// the name, and the qualified name. Numbers are 32 bits, little-endian.
enum outcome extract(const struct language *l, const TSTree *tree, const char *source, struct buffer *records);

#endif
