// relabel-parsers says what source files define and import, for relabel.
//
// A request on the standard input is the number of a language (one byte), the length of the source
// (32 bits, little-endian) and the source. The answer is an outcome (one byte), the length of the
// records and the records: see extract.h. It ends when its input ends, or when a file takes too long
// or too much memory.
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "extract.h"

#define MARK "relabel-parsers/1"  // relabel looks for this version in the file
#define LONGEST_SOURCE (64u << 20)
#define SECONDS 30  // for one file; relabel's own limit is shorter
#define MEMORY (1ul << 30)

static void limit(int resource, rlim_t most) {
	struct rlimit l = {.rlim_cur = most, .rlim_max = most};
	if (setrlimit(resource, &l) != 0)
		exit(1);
}

static bool read_all(void *data, size_t length) { return fread(data, 1, length, stdin) == length; }

static void answer(enum outcome outcome, const struct buffer *records) {
	uint32_t n = records->length;
	unsigned char header[5] = {outcome, n, n >> 8, n >> 16, n >> 24};
	fwrite(header, 1, sizeof header, stdout);
	fwrite(records->data, 1, records->length, stdout);
	if (fflush(stdout) != 0)
		exit(1);
}

static void serve(unsigned number, const char *source, size_t length) {
	const struct language *l = find_language(number);
	TSParser *parser = ts_parser_new();
	if (l == NULL || !ts_parser_set_language(parser, l->loaded))
		exit(1);
	TSTree *tree = ts_parser_parse_string(parser, NULL, source, length);
	if (tree == NULL)
		exit(1);
	struct buffer records = {0};
	enum outcome outcome = extract(l, tree, source, &records);
	if (outcome == TOO_MUCH)
		records.length = 0;
	answer(outcome, &records);
	free(records.data);
	ts_tree_delete(tree);
	ts_parser_delete(parser);
}

int main(int argc, char **argv) {
	(void)argv;
	if (argc > 1)
		return puts(MARK) < 0;
	limit(RLIMIT_CORE, 0);
	limit(RLIMIT_NOFILE, 3);
	limit(RLIMIT_AS, MEMORY);
	unsigned char header[5];
	while (read_all(header, sizeof header)) {
		size_t length = header[1] | header[2] << 8 | header[3] << 16 | (size_t)header[4] << 24;
		char *source = length <= LONGEST_SOURCE ? malloc(length + 1) : NULL;
		if (source == NULL || !read_all(source, length))
			return 1;
		alarm(SECONDS);
		serve(header[0], source, length);
		alarm(0);
		free(source);
	}
	return 0;
}
