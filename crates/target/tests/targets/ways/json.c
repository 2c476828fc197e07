/* JSON, for tests; see read.h. */
#include "read.h"

static void value(void);

static void space(void) {
    while (peek() == ' ' || peek() == '\n' || peek() == '\t' || peek() == '\r') take();
}

static void word(const char *text) {
    for (; *text; text++)
        if (take() != *text) mistake();
}

static int is_hex(int c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

static void escape(void) {
    switch (take()) {
    case '"': case '\\': case '/': case 'b': case 'f': case 'n': case 'r': case 't': break;
    case 'u':
        for (int i = 0; i < 4; i++)
            if (!is_hex(take())) mistake();
        break;
    default: mistake();
    }
}

static void string(void) {
    take();
    for (;;) {
        int c = take();
        if (c == '"') return;
        if (c < 0x20) mistake();
        if (c == '\\') escape();
    }
}

static void digits(void) {
    if (peek() < '0' || peek() > '9') mistake();
    while (peek() >= '0' && peek() <= '9') take();
}

static void number(void) {
    if (peek() == '-') take();
    digits();
    if (peek() == '.') take(), digits();
    if (peek() == 'e' || peek() == 'E') {
        take();
        if (peek() == '+' || peek() == '-') take();
        digits();
    }
}

static void list(void) {
    take(), space();
    if (peek() == ']') {
        take();
        return;
    }
    for (;;) {
        value(), space();
        int c = take();
        if (c == ']') return;
        if (c != ',') mistake();
        space();
    }
}

static void object(void) {
    take(), space();
    if (peek() == '}') {
        take();
        return;
    }
    for (;;) {
        if (peek() != '"') mistake();
        string(), space();
        if (take() != ':') mistake();
        space(), value(), space();
        int c = take();
        if (c == '}') return;
        if (c != ',') mistake();
        space();
    }
}

static void value(void) {
    switch (peek()) {
    case '{': object(); break;
    case '[': list(); break;
    case '"': string(); break;
    case 't': word("true"); break;
    case 'f': word("false"); break;
    case 'n': word("null"); break;
    default: number();
    }
}

int main(void) {
    space(), value(), space();
    return peek() != -1;
}
