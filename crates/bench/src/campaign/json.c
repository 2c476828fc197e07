/* Reads JSON, for `wug bench campaign`: many branches, little work. */
#include <stddef.h>
#include <stdint.h>

static const uint8_t *at, *end;

static int value(int depth);

static void space(void) {
    while (at < end && (*at == ' ' || *at == '\n' || *at == '\t' || *at == '\r')) at++;
}

static int word(const char *text) {
    for (; *text; text++, at++)
        if (at == end || *at != (uint8_t)*text) return 0;
    return 1;
}

static int digits(void) {
    const uint8_t *from = at;
    while (at < end && *at >= '0' && *at <= '9') at++;
    return at > from;
}

static int number(void) {
    if (at < end && *at == '-') at++;
    if (!digits()) return 0;
    if (at < end && *at == '.') {
        at++;
        if (!digits()) return 0;
    }
    if (at < end && (*at == 'e' || *at == 'E')) {
        at++;
        if (at < end && (*at == '+' || *at == '-')) at++;
        if (!digits()) return 0;
    }
    return 1;
}

static int string(void) {
    for (at++; at < end && *at != '"'; at++)
        if (*at == '\\') {
            if (++at == end) return 0;
            switch (*at) {
            case 'b': case 'f': case 'n': case 'r': case 't': case '"': case '/': case '\\': break;
            case 'u':
                if (end - at < 5) return 0;
                at += 4;
                break;
            default: return 0;
            }
        } else if (*at < 0x20)
            return 0;
    if (at == end) return 0;
    at++;
    return 1;
}

static int list(int depth, uint8_t close, int named) {
    at++;
    space();
    if (at < end && *at == close) {
        at++;
        return 1;
    }
    while (at < end) {
        if (named) {
            if (*at != '"' || !string()) return 0;
            space();
            if (at == end || *at++ != ':') return 0;
        }
        if (!value(depth + 1)) return 0;
        if (at == end) return 0;
        if (*at == close) {
            at++;
            return 1;
        }
        if (*at++ != ',') return 0;
        space();
    }
    return 0;
}

static int value(int depth) {
    int good;
    if (depth > 200) return 0;
    space();
    if (at == end) return 0;
    switch (*at) {
    case '{': good = list(depth, '}', 1); break;
    case '[': good = list(depth, ']', 0); break;
    case '"': good = string(); break;
    case 't': good = word("true"); break;
    case 'f': good = word("false"); break;
    case 'n': good = word("null"); break;
    default: good = number();
    }
    space();
    return good;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    at = data, end = data + size;
    return value(0) && at == end ? 0 : 0;
}
