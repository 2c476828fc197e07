/* Next to nothing: what is measured is the way to the target and back. */
#include <stddef.h>
#include <stdint.h>

static volatile unsigned sink;

static int body(const uint8_t *data, size_t length) {
    for (size_t i = 0; i < length && i < 8; i++) {
        if (data[i] == '{') sink += 1;
        else if (data[i] == '"') sink += 2;
    }
    return 0;
}

#include "body.h"
