/* Ways to read standard input, for tests: one parser is built with each, by
 * -DWAY=NAME. `peek()` and `take()` give the next byte, or -1 at the end. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#ifdef __cplusplus
#include <iostream>
#include <iterator>
#include <string>
#endif

/* Byte by byte, when the parser asks. */
#define GETCHAR 1
#define FGETC 2
#define GETC 3
#define GETC_UNLOCKED 4
#define GETCHAR_UNLOCKED 5
#define READ 6
#define UNGETC 7
#define CIN_GET 8
#define CIN_PEEK 9
#define STREAMBUF 10
/* Line by line, when the parser asks. */
#define FGETS 11
#define GETLINE 12
/* All of it, before the parser begins. */
#define FREAD 20
#define GETCHAR_ALL 21
#define FGETC_FEOF_ALL 22
#define GETC_LINES_ALL 23
#define READ_SKIP_ALL 24
#define FGETS_ALL 25
#define GETLINE_ALL 26
#define SCANF_ALL 27
#define FREAD_CHECKED 28
#define CIN_GET_ALL 29
#define STREAMBUF_ALL 30
#define STD_GETLINE_ALL 31

#if WAY >= FREAD
static unsigned char in_text[1 << 12];
static size_t in_size, in_at;
static void put(int c) {
    if (in_size < sizeof in_text) in_text[in_size++] = (unsigned char)c;
}
static void read_all(void) {
#if WAY == FREAD
    in_size = fread(in_text, 1, sizeof in_text, stdin);
#elif WAY == GETCHAR_ALL
    int c;
    while ((c = getchar()) != EOF) put(c);
#elif WAY == FGETC_FEOF_ALL
    for (;;) {
        int c = fgetc(stdin);
        if (feof(stdin)) break;
        put(c);
    }
#elif WAY == GETC_LINES_ALL
    int c, lines = 0;
    do {
        c = getc(stdin);
        if (c == '\n') lines++;
        if (c != EOF) put(c);
    } while (c != EOF);
#elif WAY == READ_SKIP_ALL
    char c;
    while (read(0, &c, 1) == 1)
        if (c != '\r') put(c);
#elif WAY == FGETS_ALL
    char line[64];
    while (fgets(line, sizeof line, stdin))
        for (const char *p = line; *p; p++) put(*p);
#elif WAY == GETLINE_ALL
    char *line = NULL;
    size_t room = 0;
    ssize_t n;
    while ((n = getline(&line, &room, stdin)) > 0)
        for (ssize_t i = 0; i < n; i++) put(line[i]);
    free(line);
#elif WAY == SCANF_ALL
    char c;
    while (scanf("%c", &c) == 1) put(c);
#elif WAY == FREAD_CHECKED
    size_t n = fread(in_text, 1, sizeof in_text, stdin);
    for (in_size = 0; in_size < n; in_size++)
        if (in_text[in_size] == 0 || in_text[in_size] > 0x7f) exit(1);
#elif WAY == CIN_GET_ALL
    char c;
    while (std::cin.get(c)) put(c);
#elif WAY == STREAMBUF_ALL
    std::string all((std::istreambuf_iterator<char>(std::cin)), std::istreambuf_iterator<char>());
    for (char c : all) put(c);
#elif WAY == STD_GETLINE_ALL
    std::string line;
    while (std::getline(std::cin, line)) {
        for (char c : line) put(c);
        if (!std::cin.eof()) put('\n');
    }
#endif
}
static int next(void) {
    static int done;
    if (!done) read_all();
    done = 1;
    return in_at < in_size ? in_text[in_at++] : -1;
}
#elif WAY == FGETS
static int next(void) {
    static char line[64];
    static int at;
    if (!line[at]) {
        at = 0;
        if (!fgets(line, sizeof line, stdin)) return line[0] = 0, -1;
    }
    return (unsigned char)line[at++];
}
#elif WAY == GETLINE
static int next(void) {
    static char *line;
    static size_t room;
    static ssize_t size, at;
    if (at >= size) {
        at = 0;
        size = getline(&line, &room, stdin);
        if (size <= 0) return size = 0, -1;
    }
    return (unsigned char)line[at++];
}
#elif WAY == READ
static int next(void) {
    unsigned char c;
    return read(0, &c, 1) == 1 ? c : -1;
}
#elif WAY == STREAMBUF
static int next(void) {
    static std::istreambuf_iterator<char> in(std::cin), end;
    return in == end ? -1 : (unsigned char)*in++;
}
#elif WAY == GETCHAR || WAY == UNGETC
static int next(void) { return getchar(); }
#elif WAY == FGETC
static int next(void) { return fgetc(stdin); }
#elif WAY == GETC
static int next(void) { return getc(stdin); }
#elif WAY == GETC_UNLOCKED
static int next(void) { return getc_unlocked(stdin); }
#elif WAY == GETCHAR_UNLOCKED
static int next(void) { return getchar_unlocked(); }
#elif WAY == CIN_GET || WAY == CIN_PEEK
static int next(void) { return std::cin.get(); }
#endif

#if WAY == UNGETC
static int peek(void) {
    int c = next();
    if (c != EOF) ungetc(c, stdin);
    return c;
}
static int take(void) { return next(); }
#elif WAY == CIN_PEEK
static int peek(void) { return std::cin.peek(); }
static int take(void) { return next(); }
#else
static int ahead = -2;
static int peek(void) {
    if (ahead == -2) ahead = next();
    return ahead;
}
static int take(void) {
    int c = peek();
    ahead = -2;
    return c;
}
#endif

static void mistake(void) { exit(1); }
