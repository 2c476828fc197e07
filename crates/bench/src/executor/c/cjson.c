/* Parses, prints and frees, as cJSON's own fuzzing harness does. */
#include "cJSON.h"
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static int body(const uint8_t *data, size_t length) {
    char *text = malloc(length + 1);
    cJSON *json;
    if (!text) abort();
    memcpy(text, data, length);
    text[length] = 0;
    json = cJSON_Parse(text);
    if (json) {
        char *printed = cJSON_PrintUnformatted(json);
        free(printed);
        cJSON_Delete(json);
    }
    free(text);
    return 0;
}

#include "body.h"
