/* A small language of our own, with the tokens of the well-known tiny C:
 *
 *   program    = statement
 *   statement  = "if" paren statement ("else" statement)?
 *              | "while" paren statement
 *              | "do" statement "while" paren ";"
 *              | "{" statement* "}" | expression ";" | ";"
 *   paren      = "(" expression ")"
 *   expression = name "=" expression | test
 *   test       = sum ("<" sum)?
 *   sum        = term (("+" | "-") term)*
 *   term       = name | number | paren
 *
 * Names are one letter, from a to z. A program that parses is run, and may
 * run for ever. Read character by character; exits with 1 on a mistake. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum token { DO, ELSE, IF, WHILE, NAME, NUMBER, LESS, PLUS, MINUS, EQUALS, OPEN, CLOSE, LEFT, RIGHT, SEMICOLON, END };
static const char *const words[] = {"do", "else", "if", "while"};

enum kind { ASSIGN, LOAD, CONSTANT, ADD, SUBTRACT, LESS_THAN, BRANCH, LOOP, LOOP_ONCE, SEQUENCE, NOTHING };
struct tree {
    enum kind kind;
    int value;
    struct tree *a, *b, *c;
};

static int character = ' ';
static enum token token;
static int value;
static int variables[26];

static void mistake(const char *what) {
    fprintf(stderr, "mistake: %s\n", what);
    exit(1);
}

static void next_character(void) { character = getchar(); }

static int letter(void) { return character >= 'a' && character <= 'z'; }

static int digit(void) { return character >= '0' && character <= '9'; }

static void word(void) {
    char text[16];
    unsigned n = 0;
    for (; letter(); next_character()) {
        if (n == sizeof text - 1) mistake("a long word");
        text[n++] = (char)character;
    }
    text[n] = 0;
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(text, words[i]) == 0) {
            token = (enum token)i;
            return;
        }
    if (n > 1) mistake("an unknown word");
    token = NAME;
    value = text[0] - 'a';
}

static void number(void) {
    value = 0;
    for (; digit(); next_character()) value = (int)((unsigned)value * 10 + (unsigned)(character - '0'));
    token = NUMBER;
}

static void next_token(void) {
    while (character == ' ' || character == '\n') next_character();
    switch (character) {
    case EOF: token = END; return;
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
        if (letter()) word();
        else if (digit()) number();
        else mistake("a character");
        return;
    }
    next_character();
}

static struct tree *make(enum kind kind, struct tree *a, struct tree *b, struct tree *c) {
    struct tree *tree = calloc(1, sizeof *tree);
    if (!tree) exit(2);
    tree->kind = kind, tree->value = value, tree->a = a, tree->b = b, tree->c = c;
    return tree;
}

static void expect(enum token wanted) {
    if (token != wanted) mistake("another token");
    next_token();
}

static struct tree *expression(void);

static struct tree *paren(void) {
    expect(OPEN);
    struct tree *tree = expression();
    expect(CLOSE);
    return tree;
}

static struct tree *term(void) {
    if (token == NAME || token == NUMBER) {
        struct tree *tree = make(token == NAME ? LOAD : CONSTANT, 0, 0, 0);
        next_token();
        return tree;
    }
    return paren();
}

static struct tree *sum(void) {
    struct tree *tree = term();
    while (token == PLUS || token == MINUS) {
        enum kind kind = token == PLUS ? ADD : SUBTRACT;
        next_token();
        tree = make(kind, tree, term(), 0);
    }
    return tree;
}

static struct tree *test(void) {
    struct tree *tree = sum();
    if (token == LESS) {
        next_token();
        tree = make(LESS_THAN, tree, sum(), 0);
    }
    return tree;
}

static struct tree *expression(void) {
    if (token != NAME) return test();
    struct tree *tree = test();
    if (tree->kind == LOAD && token == EQUALS) {
        next_token();
        struct tree *from = expression();
        tree->kind = ASSIGN, tree->a = from;
    }
    return tree;
}

static struct tree *statement(void) {
    struct tree *tree, *a;
    switch (token) {
    case IF:
        next_token();
        a = paren();
        tree = make(BRANCH, a, statement(), 0);
        if (token == ELSE) {
            next_token();
            tree->c = statement();
        }
        return tree;
    case WHILE:
        next_token();
        a = paren();
        return make(LOOP, a, statement(), 0);
    case DO:
        next_token();
        a = statement();
        expect(WHILE);
        tree = make(LOOP_ONCE, a, paren(), 0);
        expect(SEMICOLON);
        return tree;
    case SEMICOLON: next_token(); return make(NOTHING, 0, 0, 0);
    case LEFT:
        next_token();
        for (tree = make(NOTHING, 0, 0, 0); token != RIGHT;) tree = make(SEQUENCE, tree, statement(), 0);
        next_token();
        return tree;
    default:
        tree = expression();
        expect(SEMICOLON);
        return tree;
    }
}

static int run(const struct tree *tree) {
    switch (tree->kind) {
    case ASSIGN: return variables[tree->value] = run(tree->a);
    case LOAD: return variables[tree->value];
    case CONSTANT: return tree->value;
    case ADD: return (int)((unsigned)run(tree->a) + (unsigned)run(tree->b));
    case SUBTRACT: return (int)((unsigned)run(tree->a) - (unsigned)run(tree->b));
    case LESS_THAN: return run(tree->a) < run(tree->b);
    case BRANCH:
        if (run(tree->a)) run(tree->b);
        else if (tree->c) run(tree->c);
        return 0;
    case LOOP:
        while (run(tree->a)) run(tree->b);
        return 0;
    case LOOP_ONCE:
        do run(tree->a);
        while (run(tree->b));
        return 0;
    case SEQUENCE:
        run(tree->a);
        run(tree->b);
        return 0;
    case NOTHING: return 0;
    }
    return 0;
}

int main(void) {
    next_token();
    struct tree *program = statement();
    if (token != END) mistake("more than a statement");
    run(program);
    return 0;
}
