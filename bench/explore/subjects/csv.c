/* libcsv, strict: quotes must be where quotes belong. */
#include "csv.h"
#include <stdio.h>

static char text[1 << 16];

int main(void) {
    struct csv_parser parser;
    size_t n = fread(text, 1, sizeof text, stdin);
    if (csv_init(&parser, CSV_STRICT | CSV_STRICT_FINI)) return 2;
    if (csv_parse(&parser, text, n, 0, 0, 0) != n) return 1;
    return csv_fini(&parser, 0, 0, 0) != 0;
}
