/* Linked into traced executables, unless a sanitizer has these functions:
 * comparisons and searches that log their arguments. They take the place of
 * libc's for the whole process, so that those made inside libstdc++ are seen
 * too. Weak: a program that defines one keeps its own. */
#define _GNU_SOURCE
#include "internal.h"
#include <ctype.h>

#define ALL ((size_t)1 << 16)
#define OURS EXPORTED WEAK
typedef unsigned char byte;

extern HIDDEN int wug_texts;
HIDDEN void wug_text(uintptr_t pc, unsigned function, const void *x, size_t nx, const void *y, size_t ny, int equal);
HIDDEN void wug_set(uintptr_t pc, unsigned function, int character, const void *set, size_t n, int found);

static size_t until(const char *s, size_t n) {
    size_t i = 0;
    while (i < n && s[i]) i++;
    return i;
}

/* Compares up to n bytes, or to a 0 if the texts end there. */
static int order(const char *x, const char *y, size_t n, int ends, int folds) {
    for (size_t i = 0; i < n; i++) {
        int a = (byte)x[i], b = (byte)y[i];
        int c = folds ? tolower(a) : a, d = folds ? tolower(b) : b;
        if (c != d) return c - d;
        if (ends && a == 0) return 0;
    }
    return 0;
}

OURS int strcmp(const char *x, const char *y) {
    int r = order(x, y, (size_t)-1, 1, 0);
    if (wug_texts) wug_text(SITE, WUG_FN_STRCMP, x, until(x, ALL), y, until(y, ALL), r == 0);
    return r;
}
OURS int strncmp(const char *x, const char *y, size_t n) {
    int r = order(x, y, n, 1, 0);
    if (wug_texts) wug_text(SITE, WUG_FN_STRNCMP, x, until(x, n), y, until(y, n), r == 0);
    return r;
}
OURS int strcasecmp(const char *x, const char *y) {
    int r = order(x, y, (size_t)-1, 1, 1);
    if (wug_texts) wug_text(SITE, WUG_FN_STRCASECMP, x, until(x, ALL), y, until(y, ALL), r == 0);
    return r;
}
OURS int strncasecmp(const char *x, const char *y, size_t n) {
    int r = order(x, y, n, 1, 1);
    if (wug_texts) wug_text(SITE, WUG_FN_STRNCASECMP, x, until(x, n), y, until(y, n), r == 0);
    return r;
}
OURS int memcmp(const void *x, const void *y, size_t n) {
    int r = order(x, y, n, 0, 0);
    if (wug_texts) wug_text(SITE, WUG_FN_MEMCMP, x, n, y, n, r == 0);
    return r;
}
OURS int bcmp(const void *x, const void *y, size_t n) {
    int r = order(x, y, n, 0, 0);
    if (wug_texts) wug_text(SITE, WUG_FN_MEMCMP, x, n, y, n, r == 0);
    return r;
}

static void *find(const void *x, size_t nx, const void *y, size_t ny, int folds) {
    const char *text = x;
    for (size_t i = 0; ny <= nx && i <= nx - ny; i++)
        if (order(text + i, y, ny, 0, folds) == 0) return (void *)(text + i);
    return 0;
}

OURS char *strstr(const char *x, const char *y) {
    char *r = find(x, until(x, (size_t)-1), y, until(y, (size_t)-1), 0);
    if (wug_texts) wug_text(SITE, WUG_FN_STRSTR, x, until(x, ALL), y, until(y, ALL), r != 0);
    return r;
}
OURS char *strcasestr(const char *x, const char *y) {
    char *r = find(x, until(x, (size_t)-1), y, until(y, (size_t)-1), 1);
    if (wug_texts) wug_text(SITE, WUG_FN_STRCASESTR, x, until(x, ALL), y, until(y, ALL), r != 0);
    return r;
}
OURS void *memmem(const void *x, size_t nx, const void *y, size_t ny) {
    void *r = find(x, nx, y, ny, 0);
    if (wug_texts) wug_text(SITE, WUG_FN_MEMMEM, x, nx, y, ny, r != 0);
    return r;
}

static char *first(const char *s, int c) {
    for (;; s++) {
        if (*s == (char)c) return (char *)s;
        if (!*s) return 0;
    }
}
static char *last(const char *s, int c) {
    char *r = 0;
    for (;; s++) {
        if (*s == (char)c) r = (char *)s;
        if (!*s) return r;
    }
}

OURS char *strchr(const char *s, int c) {
    char *r = first(s, c);
    if (wug_texts) wug_set(SITE, WUG_FN_STRCHR, c, s, until(s, ALL), r != 0);
    return r;
}
OURS char *index(const char *s, int c) {
    char *r = first(s, c);
    if (wug_texts) wug_set(SITE, WUG_FN_STRCHR, c, s, until(s, ALL), r != 0);
    return r;
}
OURS char *strrchr(const char *s, int c) {
    char *r = last(s, c);
    if (wug_texts) wug_set(SITE, WUG_FN_STRRCHR, c, s, until(s, ALL), r != 0);
    return r;
}
OURS char *rindex(const char *s, int c) {
    char *r = last(s, c);
    if (wug_texts) wug_set(SITE, WUG_FN_STRRCHR, c, s, until(s, ALL), r != 0);
    return r;
}
OURS void *memchr(const void *s, int c, size_t n) {
    const byte *p = s;
    void *r = 0;
    for (size_t i = 0; i < n && !r; i++)
        if (p[i] == (byte)c) r = (void *)(p + i);
    if (wug_texts) wug_set(SITE, WUG_FN_MEMCHR, c, s, n, r != 0);
    return r;
}

/* How many leading bytes are in the set, or are not. */
static size_t span(const char *s, const char *set, int inside) {
    size_t i = 0;
    while (s[i] && (first(set, s[i]) != 0) == inside) i++;
    return i;
}

OURS size_t strspn(const char *s, const char *set) {
    size_t n = span(s, set, 1);
    if (wug_texts) wug_set(SITE, WUG_FN_STRSPN, s[n], set, until(set, ALL), 0);
    return n;
}
OURS size_t strcspn(const char *s, const char *set) {
    size_t n = span(s, set, 0);
    if (wug_texts) wug_set(SITE, WUG_FN_STRCSPN, s[n], set, until(set, ALL), s[n] != 0);
    return n;
}
OURS char *strpbrk(const char *s, const char *set) {
    size_t n = span(s, set, 0);
    if (wug_texts) wug_set(SITE, WUG_FN_STRPBRK, s[n], set, until(set, ALL), s[n] != 0);
    return s[n] ? (char *)s + n : 0;
}
