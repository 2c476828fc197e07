/* cJSON: the whole input must be one value. */
#include "cJSON.h"
#include <stdio.h>
#include <stdlib.h>

static char text[1 << 16];

int main(void) {
    size_t n = fread(text, 1, sizeof text - 1, stdin);
    text[n] = 0;
    cJSON *value = cJSON_ParseWithOpts(text, 0, 1);
    if (!value) return 1;
    cJSON_Delete(value);
    return 0;
}
