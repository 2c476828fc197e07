/* A parser behind a lexer, for tests: it compares codes of tokens, and no text.
 *
 *   program   = statement*
 *   statement = "begin" program "finish" | "call" name ";" | name ":=" name ";"
 *
 * Keywords are known by a hash: nothing tells them but their codes. */
#include <stdio.h>
#include <stdlib.h>

enum { END = 300, NAME, BEGIN, FINISH, CALL, BECOMES };
static const char *const words[] = {"begin", "finish", "call"};
static int character, token;

static unsigned add(unsigned hash, int c) { return (hash ^ (unsigned)c) * 16777619u; }

static unsigned hash_of(const char *word) {
    unsigned hash = 7;
    while (*word) hash = add(hash, *word++);
    return hash;
}

static void advance(void) {
    while (character == ' ') character = getchar();
    if (character >= 'a' && character <= 'z') {
        unsigned hash = 7;
        for (; character >= 'a' && character <= 'z'; character = getchar()) hash = add(hash, character);
        token = NAME;
        for (int i = 0; i < 3; i++)
            if ((hash ^ hash_of(words[i])) == 0) token = BEGIN + i;
        return;
    }
    token = character == EOF ? END : character;
    if (character == EOF) return;
    character = getchar();
    if (token == ':' && character == '=') token = BECOMES, character = getchar();
}

static void expect(int wanted) {
    if (token != wanted) exit(1);
    advance();
}

static void program(void) {
    for (;;) switch (token) {
        case BEGIN:
            advance();
            program();
            expect(FINISH);
            break;
        case CALL:
            advance();
            expect(NAME);
            expect(';');
            break;
        case NAME:
            advance();
            expect(BECOMES);
            expect(NAME);
            expect(';');
            break;
        default: return;
        }
}

int main(void) {
    character = getchar();
    advance();
    program();
    return token != END;
}
