/* Reads an expression and computes it in whole numbers; what is no
 * expression is refused. A division by zero is not looked for. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

static char text[1 << 20];
static char *at = text;

static void refuse(void) { exit(1); }

static long expr(int depth);

static long number(void) {
    unsigned long value = 0;
    if (!isdigit((unsigned char)*at)) refuse();
    while (isdigit((unsigned char)*at)) value = value * 10 + (unsigned long)(*at++ - '0');
    if (*at == '.') {
        at++;
        if (!isdigit((unsigned char)*at)) refuse();
        while (isdigit((unsigned char)*at)) at++;
    }
    return (long)(value % 1000003);
}

static long factor(int depth) {
    if (depth > 5000) refuse();
    if (*at == '+') return at++, factor(depth + 1);
    if (*at == '-') return at++, -factor(depth + 1);
    if (*at != '(') return number();
    at++;
    long value = expr(depth + 1);
    if (*at++ != ')') refuse();
    return value;
}

static long term(int depth) {
    long value = factor(depth);
    while (*at == '*' || *at == '/') {
        char operator = *at++;
        long other = factor(depth);
        value = operator == '*' ? value % 1000003 * (other % 1000003) % 1000003 : value / other;
    }
    return value;
}

static long expr(int depth) {
    long value = term(depth);
    while (*at == '+' || *at == '-') {
        char operator = *at++;
        long other = term(depth);
        value = (operator == '+' ? value + other : value - other) % 1000003;
    }
    return value;
}

int main(void) {
    text[fread(text, 1, sizeof text - 1, stdin)] = 0;
    volatile long value = expr(0);
    (void)value;
    return *at ? 1 : 0;
}
