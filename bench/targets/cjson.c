/* Reads JSON, prints it, and reads it again. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "cJSON.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = malloc(size + 1), *printed;
    cJSON *value;
    if (!text) return 0;
    memcpy(text, data, size);
    text[size] = 0;
    value = cJSON_Parse(text);
    if (value) {
        printed = cJSON_Print(value);
        if (printed) cJSON_Minify(printed);
        free(printed);
        free(cJSON_PrintUnformatted(value));
        cJSON_Delete(cJSON_Duplicate(value, 1));
    }
    cJSON_Delete(value);
    free(text);
    return 0;
}
