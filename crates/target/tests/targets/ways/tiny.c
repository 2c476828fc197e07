/* Statements as in tiny-C, behind a lexer, for tests; see read.h. */
#include "read.h"
#include <string.h>

enum token { DO, ELSE, IF, WHILE, NAME, NUMBER, LESS, PLUS, MINUS, EQUALS, OPEN, CLOSE, LEFT, RIGHT, SEMICOLON, END };
static const char *const words[] = {"do", "else", "if", "while"};
static enum token token;

static int is_letter(int c) { return c >= 'a' && c <= 'z'; }

static int is_digit(int c) { return c >= '0' && c <= '9'; }

static void word(void) {
    char text[16];
    unsigned n = 0;
    while (is_letter(peek())) {
        if (n == sizeof text - 1) mistake();
        text[n++] = (char)take();
    }
    text[n] = 0;
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
        if (!strcmp(text, words[i])) {
            token = (enum token)i;
            return;
        }
    if (n > 1) mistake();
    token = NAME;
}

static void advance(void) {
    while (peek() == ' ' || peek() == '\n') take();
    switch (peek()) {
    case -1: token = END; return;
    case '<': token = LESS; break;
    case '+': token = PLUS; break;
    case '-': token = MINUS; break;
    case '=': token = EQUALS; break;
    case '(': token = OPEN; break;
    case ')': token = CLOSE; break;
    case '{': token = LEFT; break;
    case '}': token = RIGHT; break;
    case ';': token = SEMICOLON; break;
    default:
        if (is_letter(peek())) {
            word();
        } else if (is_digit(peek())) {
            while (is_digit(peek())) take();
            token = NUMBER;
        } else {
            mistake();
        }
        return;
    }
    take();
}

static void expect(enum token wanted) {
    if (token != wanted) mistake();
    advance();
}

static void expression(void);

static void paren(void) {
    expect(OPEN);
    expression();
    expect(CLOSE);
}

static void term(void) {
    if (token == NAME || token == NUMBER) advance();
    else paren();
}

static void sum(void) {
    for (term(); token == PLUS || token == MINUS; term()) advance();
}

static void expression(void) {
    int name = token == NAME;
    sum();
    if (token == LESS) {
        advance();
        sum();
    } else if (name && token == EQUALS) {
        advance();
        expression();
    }
}

static void statement(void) {
    switch (token) {
    case IF:
        advance(), paren(), statement();
        if (token == ELSE) advance(), statement();
        return;
    case WHILE: advance(), paren(), statement(); return;
    case DO:
        advance(), statement(), expect(WHILE), paren(), expect(SEMICOLON);
        return;
    case SEMICOLON: advance(); return;
    case LEFT:
        for (advance(); token != RIGHT;) statement();
        advance();
        return;
    default: expression(), expect(SEMICOLON);
    }
}

int main(void) {
    advance();
    statement();
    return token != END;
}
