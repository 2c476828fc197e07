/* A text in quotes, for tests. Its end is searched before anything in it is
 * looked at: `\n`, or `\u` and four characters. With -DBINARY it is B, NUL, x,
 * NUL and nothing else. */
#include <stdio.h>

int main(void) {
    static char text[1 << 12];
    size_t n = fread(text, 1, sizeof text - 1, stdin), end = 1;
#ifdef BINARY
    const char wanted[] = {'B', 0, 'x', 0};
    for (size_t i = 0; i < 4; i++) {
        if (i >= n) return 1;
        if (text[i] != wanted[i]) return 1;
    }
    return n != 4;
#endif
    if (n < 2 || text[0] != '"') return 1;
    while (end < n && text[end] != '"') {
        if (text[end] == '\\') end++;
        end++;
    }
    if (end + 1 != n) return 1;
    for (size_t i = 1; i < end; i++) {
        if (text[i] != '\\') continue;
        switch (text[++i]) {
        case 'n': break;
        case 'u':
            if (end - i < 5) return 1;
            i += 4;
            break;
        default: return 1;
        }
    }
    return 0;
}
