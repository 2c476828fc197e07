/* Names and members: `name`, `name.name` and texts in quotes. What a name stands
 * for is looked up when all was read, and its members only then, by length first. */
#include <stdio.h>
#include <string.h>

struct thing {
    const char *name, *members[3];
};
static const struct thing things[] = {{"math", {"floor", "round", 0}}, {"file", {"close", "remove", 0}}};

static char text[1 << 12];

static int name(const char **at) {
    const char *from = *at;
    while (**at >= 'a' && **at <= 'z') (*at)++;
    return (int)(*at - from);
}

static int is(const char *word, const char *from, int length) {
    return strlen(word) == (size_t)length && memcmp(word, from, (size_t)length) == 0;
}

int main(void) {
    text[fread(text, 1, sizeof text - 1, stdin)] = 0;
    const char *at = text, *first = text, *second = 0;
    int length, other = 0;
    if (*at == '\'') {
        for (at++; *at != '\''; at++)
            if (!*at) return 1;
        return at[1] != 0;
    }
    length = name(&at);
    if (!length) return 1;
    if (*at == '.') {
        second = ++at;
        other = name(&at);
        if (!other) return 1;
    }
    if (*at) return 1;
    for (int i = 0; i < 2; i++)
        if (is(things[i].name, first, length) && second)
            for (int j = 0; things[i].members[j]; j++)
                if (is(things[i].members[j], second, other)) return 0;
    return 0;
}
