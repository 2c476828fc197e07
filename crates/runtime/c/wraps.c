/* Linked into every traced module, whose calls of these functions the linker
 * leads here (--wrap): classes of characters, and reads that meet the end of
 * a file. Calls from this file are led here too, so they name the real ones. */
#define _GNU_SOURCE
#include "internal.h"
#include <stdio.h>
#include <sys/types.h>

/* No text: a library has no place for texts of ours. */
HIDDEN const char wug_is_traced[1] = {1};

#define NOTE(kind, fn, a, b, flags) \
    if (wug_hooks->note) wug_hooks->note(&wug_self, SITE, kind, fn, (uint64_t)(a), (uint64_t)(b), flags)

#define CLASS(name, number)                                                                          \
    extern int __real_is##name(int);                                                                 \
    HIDDEN int __wrap_is##name(int c) {                                                              \
        int r = __real_is##name(c);                                                                  \
        NOTE(WUG_EVENT_CLASS, number, (unsigned)c, 0, r ? WUG_FLAG_EQUAL : 0);                       \
        return r;                                                                                    \
    }
CLASS(alnum, WUG_CLASS_ALNUM)
CLASS(alpha, WUG_CLASS_ALPHA)
CLASS(blank, WUG_CLASS_BLANK)
CLASS(cntrl, WUG_CLASS_CNTRL)
CLASS(digit, WUG_CLASS_DIGIT)
CLASS(graph, WUG_CLASS_GRAPH)
CLASS(lower, WUG_CLASS_LOWER)
CLASS(print, WUG_CLASS_PRINT)
CLASS(punct, WUG_CLASS_PUNCT)
CLASS(space, WUG_CLASS_SPACE)
CLASS(upper, WUG_CLASS_UPPER)
CLASS(xdigit, WUG_CLASS_XDIGIT)

#define FOLD(name)                                                                                   \
    extern int __real_##name(int);                                                                   \
    HIDDEN int __wrap_##name(int c) {                                                                \
        int r = __real_##name(c);                                                                    \
        NOTE(WUG_EVENT_FOLD, 0, (unsigned)c, (unsigned)r, r == c ? WUG_FLAG_EQUAL : 0);              \
        return r;                                                                                    \
    }
FOLD(tolower)
FOLD(toupper)

#define END(fn, asked, fd) NOTE(WUG_EVENT_END, fn, asked, (unsigned)(fd), 0)

extern ssize_t __real_read(int, void *, size_t);
HIDDEN ssize_t __wrap_read(int fd, void *to, size_t n) {
    ssize_t r = __real_read(fd, to, n);
    if (r == 0 && n) END(WUG_FN_READ, n, fd);
    return r;
}
extern ssize_t __real_pread(int, void *, size_t, off_t);
HIDDEN ssize_t __wrap_pread(int fd, void *to, size_t n, off_t at) {
    ssize_t r = __real_pread(fd, to, n, at);
    if (r == 0 && n) END(WUG_FN_READ, n, fd);
    return r;
}

extern int __real_feof(FILE *);

#define FREAD(name)                                                                                  \
    extern size_t __real_##name(void *, size_t, size_t, FILE *);                                     \
    HIDDEN size_t __wrap_##name(void *to, size_t size, size_t n, FILE *file) {                       \
        size_t r = __real_##name(to, size, n, file);                                                 \
        if (r < n && __real_feof(file)) END(WUG_FN_FREAD, size *n, fileno(file));                           \
        return r;                                                                                    \
    }
FREAD(fread)
FREAD(fread_unlocked)

#define FGETC(name)                                                                                  \
    extern int __real_##name(FILE *);                                                                \
    HIDDEN int __wrap_##name(FILE *file) {                                                           \
        int r = __real_##name(file);                                                                 \
        if (r == EOF) END(WUG_FN_FGETC, 1, fileno(file));                                            \
        return r;                                                                                    \
    }
FGETC(fgetc)
FGETC(getc)
FGETC(fgetc_unlocked)
FGETC(getc_unlocked)

#define GETCHAR(name)                                                                                \
    extern int __real_##name(void);                                                                  \
    HIDDEN int __wrap_##name(void) {                                                                 \
        int r = __real_##name();                                                                     \
        if (r == EOF) END(WUG_FN_FGETC, 1, 0);                                                       \
        return r;                                                                                    \
    }
GETCHAR(getchar)
GETCHAR(getchar_unlocked)

#define FGETS(name)                                                                                  \
    extern char *__real_##name(char *, int, FILE *);                                                 \
    HIDDEN char *__wrap_##name(char *to, int n, FILE *file) {                                        \
        char *r = __real_##name(to, n, file);                                                        \
        if (__real_feof(file)) END(WUG_FN_FGETS, n, fileno(file));                                          \
        return r;                                                                                    \
    }
FGETS(fgets)
FGETS(fgets_unlocked)

HIDDEN int __wrap_feof(FILE *file) {
    int r = __real_feof(file);
    if (r) END(WUG_FN_FEOF, 0, fileno(file));
    return r;
}

extern ssize_t __real_getline(char **, size_t *, FILE *);
HIDDEN ssize_t __wrap_getline(char **line, size_t *room, FILE *file) {
    ssize_t r = __real_getline(line, room, file);
    if (__real_feof(file)) END(WUG_FN_GETLINE, 0, fileno(file));
    return r;
}
extern ssize_t __real_getdelim(char **, size_t *, int, FILE *);
HIDDEN ssize_t __wrap_getdelim(char **line, size_t *room, int end, FILE *file) {
    ssize_t r = __real_getdelim(line, room, end, file);
    if (__real_feof(file)) END(WUG_FN_GETLINE, 0, fileno(file));
    return r;
}
