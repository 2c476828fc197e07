/* A calculator, for tests; see read.h. */
#include "read.h"
#include <ctype.h>
#include <string.h>

static double sum(void);

static void space(void) {
    while (isspace(peek())) take();
}

static void expect(int wanted) {
    space();
    if (take() != wanted) mistake();
}

static double call(int arguments) {
    expect('(');
    double value = sum();
    for (; arguments > 1; arguments--) {
        expect(',');
        value += sum();
    }
    expect(')');
    return value;
}

static double name(void) {
    char text[16];
    unsigned n = 0;
    while (isalpha(peek())) {
        if (n == sizeof text - 1) mistake();
        text[n++] = (char)take();
    }
    text[n] = 0;
    if (!strcmp(text, "pi")) return 3.14;
    if (!strcmp(text, "abs") || !strcmp(text, "sqrt") || !strcmp(text, "round")) return call(1);
    if (!strcmp(text, "max")) return call(2);
    mistake();
    return 0;
}

static double number(void) {
    double value = 0;
    while (isdigit(peek())) value = value * 10 + (take() - '0');
    if (peek() != '.') return value;
    take();
    if (!isdigit(peek())) mistake();
    while (isdigit(peek())) take();
    return value;
}

static double atom(void) {
    space();
    int c = peek();
    if (c == '(') {
        take();
        double value = sum();
        expect(')');
        return value;
    }
    if (c == '-') return take(), -atom();
    if (c == '!') return take(), !atom();
    if (isdigit(c)) return number();
    if (isalpha(c)) return name();
    mistake();
    return 0;
}

static double power(void) {
    double value = atom();
    space();
    if (peek() != '^') return value;
    take();
    return value + power();
}

static double term(void) {
    double value = power();
    for (;;) {
        space();
        switch (peek()) {
        case '*': take(), value *= power(); break;
        case '/': take(), value += power(); break;
        case '%': take(), value -= power(); break;
        default: return value;
        }
    }
}

static double sum(void) {
    double value = term();
    for (;;) {
        space();
        int c = peek();
        if (c == '+' || c == '-') {
            take();
        } else if (c == '<') {
            take();
            if (peek() == '<' || peek() == '=') take();
        } else if (c == '=') {
            take();
            if (take() != '=') mistake();
        } else if (c == '&') {
            take();
            if (take() != '&') mistake();
        } else {
            return value;
        }
        value += term();
    }
}

int main(void) {
    volatile double value = sum();
    (void)value;
    space();
    return peek() != -1;
}
