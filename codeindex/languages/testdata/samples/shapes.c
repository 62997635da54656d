#include <stdio.h>
#ifdef WIDE
#include "wide.h"
#endif

struct point {
	int x, y;
};

typedef enum { RED, GREEN } colour;

union PACKED either {
	int a;
	float b;
};

int prototype(void);

int
old_style(a, b)
	int a;
	char *b;
{
	return a;
}

#ifdef WIDE
static int width(void) { return 2; }
#else
static int width(void) { return 1; }
#endif

__attribute__((unused)) static inline char **names(struct point *p)
{
	return 0;
}
