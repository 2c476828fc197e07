/* A small language, for tests: `let a = (1 + b); print a;`
 *
 *   program   = statement*
 *   statement = "let" name "=" sum ";" | "print" sum ";" | "{" program "}"
 *   sum       = term ("+" term)*
 *   term      = name | digit+ | "(" sum ")"
 *
 * Names are one capital letter. Words are looked up by length first. With
 * -DHARNESS it is a harness in the manner of libFuzzer; with an argument it
 * reads that file, else standard input, character by character. `{{{` at the
 * beginning of a valid program makes it run for ever. */
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint8_t *text, *end;
static FILE *file;
static int character;
static jmp_buf wrong;
enum { END, LET, PRINT, NAME, NUMBER, WRONG };
static int token;

static int next(void) {
    if (file) return character = getc(file);
    return character = text < end ? *text++ : EOF;
}

static void word(void) {
    static const char *const words[] = {"let", "print"};
    char buffer[8];
    size_t n = 0;
    for (; character >= 'a' && character <= 'z'; next())
        if (n < sizeof buffer) buffer[n++] = (char)character;
    token = WRONG;
    for (int i = 0; i < 2; i++)
        if (n == strlen(words[i]) && strncmp(buffer, words[i], n) == 0) token = LET + i;
}

static void advance(void) {
    while (character == ' ') next();
    if (character == EOF) token = END;
    else if (character >= 'a' && character <= 'z') word();
    else if (character >= 'A' && character <= 'Z') token = NAME, next();
    else if (character >= '0' && character <= '9') {
        for (token = NUMBER; character >= '0' && character <= '9';) next();
    } else if (strchr("=+;(){}", character)) token = character, next();
    else token = WRONG;
}

static void expect(int wanted) {
    if (token != wanted) longjmp(wrong, 1);
    advance();
}

static void sum(void) {
    for (;;) {
        if (token == NAME || token == NUMBER) advance();
        else {
            expect('(');
            sum();
            expect(')');
        }
        if (token != '+') return;
        advance();
    }
}

static void statement(void) {
    if (token == LET) {
        advance();
        expect(NAME);
        expect('=');
        sum();
        expect(';');
    } else if (token == PRINT) {
        advance();
        sum();
        expect(';');
    } else if (token == '{') {
        advance();
        while (token != '}') statement();
        expect('}');
    } else longjmp(wrong, 1);
}

static int parse(void) {
    if (setjmp(wrong)) return 1;
    next();
    advance();
    while (token != END) statement();
    return 0;
}

#ifdef HARNESS
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    text = data, end = data + size;
    return parse() ? -1 : 0;
}
#else
int main(int argc, char **argv) {
    file = argc > 1 ? fopen(argv[1], "rb") : stdin;
    if (!file) return 2;
    if (parse()) {
        fputs("no\n", stderr);
        return 1;
    }
#ifdef HANGS
    static volatile int for_ever = 1;
    char start[3] = "";
    rewind(file);
    if (fread(start, 1, 3, file) == 3 && !memcmp(start, "{{{", 3))
        while (for_ever) {}
#endif
    return 0;
}
#endif
