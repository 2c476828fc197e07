/*
 * Abacus: a small language of numbers and arrays, as a target for the demo.
 *
 *     let a = [1, 2, 3];  push a, 4;  fn F(b) { return b * 2; }
 *     while a[0] < 9 { a[0] = a[0] + 1; }  print F(length(a));
 *
 * The text is read and carried out in one pass; what is skipped (a branch, the
 * body of a function) is read without effect. What makes no sense, such as an
 * item that is not there, counts as 0. There is one mistake in here
 * that reads and writes memory which is no longer there.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

enum { STEPS = 500, DEPTH = 60, BLOCKS = 64, PAGE = 4096, MOST = 500 };

/* A number, or an array: a view of memory that holds its items. */
typedef struct {
    int is_array;
    long number;
    long *items;
    int length, room;
} Value;

static const char *at, *end;
static int steps, depth, failed, returning;
static Value variables[26], result;
static const char *functions[26];

/* Items live in pages of their own, and what was given back is out of bounds
   until the end: so that a mistake shows at once. */
static long *blocks[BLOCKS];
static int used;

static long *take(void) {
    if (used == BLOCKS) return failed = 1, NULL;
    void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) return failed = 1, NULL;
    return blocks[used++] = page;
}

static void give(long *items) {
    mprotect(items, PAGE, PROT_NONE);
}

/* Room for one more item. */
static int grow(Value *array) {
    if (array->length < array->room) return 1;
    long *items = array->length < MOST ? take() : NULL;
    if (!items) return failed = 1, 0;
    memcpy(items, array->items, array->length * sizeof *items);
    give(array->items);
    array->items = items;
    array->room = array->room * 2 < MOST ? array->room * 2 : MOST;
    return 1;
}

static Value number(long n) {
    Value value = { .number = n };
    return value;
}

static void spaces(void) {
    while (at < end && (*at == ' ' || *at == '\n')) at++;
}

static int letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Reads a word or a sign, if it comes next. */
static int next(const char *word) {
    size_t length = strlen(word);
    spaces();
    if ((size_t)(end - at) < length || memcmp(at, word, length) != 0) return 0;
    if (letter(word[0]) && at + length < end && letter(at[length])) return 0;
    at += length;
    return 1;
}

static void expect(const char *word) {
    if (!next(word)) failed = 1;
}

/* Reads a name of one letter; its number, or -1. */
static int name(char first, char last) {
    spaces();
    if (at == end || *at < first || *at > last) return -1;
    if (at + 1 < end && letter(at[1])) return -1;
    return *at++ - first;
}

static Value expression(int run);
static void statement(int run);

static void block(int run) {
    expect("{");
    if (++depth > DEPTH) failed = 1;
    while (!failed && !next("}")) {
        if (at == end) failed = 1;
        statement(run && !returning);
    }
    depth--;
}

static Value call(int function, Value argument) {
    const char *back = at;
    if (!functions[function]) return number(0);
    if (++depth > DEPTH) return failed = 1, number(0);
    at = functions[function];
    result = number(0);
    int parameter = name('a', 'z');
    if (parameter < 0) return failed = 1, number(0);
    Value outside = variables[parameter];
    variables[parameter] = argument;
    expect(")");
    block(1);
    variables[parameter] = outside;
    returning = 0;
    depth--;
    at = back;
    return result;
}

/* An item of an array: where it is, if it is there. */
static long *item(Value *array, Value index) {
    if (!array->is_array || index.is_array) return NULL;
    if (index.number < 0 || index.number >= array->length) return NULL;
    return &array->items[index.number];
}

static Value value(int run) {
    int which;
    if (next("(")) {
        Value inner = expression(run);
        expect(")");
        return inner;
    }
    if (next("[")) {
        Value array = { .is_array = 1, .room = 1, .items = run ? take() : NULL };
        while (!failed && !next("]")) {
            Value one = expression(run);
            if (run && !failed && !one.is_array && grow(&array)) array.items[array.length++] = one.number;
            if (next("]")) break;
            expect(",");
        }
        return array;
    }
    if (next("length")) {
        expect("(");
        Value array = expression(run);
        expect(")");
        return number(array.length);
    }
    if ((which = name('a', 'z')) >= 0) {
        if (!next("[")) return run ? variables[which] : number(0);
        Value index = expression(run);
        expect("]");
        if (!run || failed) return number(0);
        long *place = item(&variables[which], index);
        return number(place ? *place : 0);
    }
    if ((which = name('A', 'Z')) >= 0) {
        expect("(");
        Value argument = expression(run);
        expect(")");
        return run && !failed ? call(which, argument) : number(0);
    }
    long n = 0;
    const char *from = at;
    while (at < end && *at >= '0' && *at <= '9' && at - from < 9) n = n * 10 + (*at++ - '0');
    if (at == from) failed = 1;
    return number(n);
}

static Value product(int run) {
    Value left = value(run);
    while (!failed) {
        if (next("*")) {
            left = number((unsigned long)left.number * value(run).number);
        } else if (next("/")) {
            long by = value(run).number;
            left = number(by > 0 ? left.number / by : 0);
        } else {
            break;
        }
    }
    return left;
}

static Value sum(int run) {
    Value left = product(run);
    while (!failed) {
        if (next("+")) left = number((unsigned long)left.number + product(run).number);
        else if (next("-")) left = number((unsigned long)left.number - product(run).number);
        else break;
    }
    return left;
}

static Value expression(int run) {
    if (++depth > DEPTH || ++steps > STEPS) return failed = 1, number(0);
    Value left = sum(run);
    if (next("<")) left = number(left.number < sum(run).number);
    else if (next(">")) left = number(left.number > sum(run).number);
    else if (next("==")) left = number(left.number == sum(run).number);
    depth--;
    return left;
}

static void assign(int variable, int run) {
    if (next("[")) {
        Value index = expression(run);
        expect("]");
        expect("=");
        Value new = expression(run);
        Value *array = &variables[variable];
        if (!run || failed || new.is_array) return;
        long *place = item(array, index);
        if (place) *place = new.number;
        return;
    }
    expect("=");
    Value new = expression(run);
    if (run && !failed) variables[variable] = new;
}

static void push(int run) {
    int variable = name('a', 'z');
    expect(",");
    Value new = expression(run);
    expect(";");
    if (!run || failed || variable < 0) return;
    Value *array = &variables[variable];
    if (array->is_array && !new.is_array && grow(array)) array->items[array->length++] = new.number;
}

static void loop(int run) {
    const char *from = at;
    for (int again = run; !failed; at = from) {
        again = again && expression(1).number != 0 && !returning;
        if (!again) break;
        block(1);
    }
    at = from;
    expression(0);
    block(0);
}

static void statement(int run) {
    int which;
    if (++steps > STEPS) failed = 1;
    if (failed) return;
    if (next("if")) {
        int yes = expression(run).number != 0;
        block(run && yes);
        if (next("else")) block(run && !yes);
    } else if (next("while")) {
        loop(run);
    } else if (next("fn")) {
        if ((which = name('A', 'Z')) < 0) failed = 1;
        expect("(");
        if (!failed && run) functions[which] = at;
        if (name('a', 'z') < 0) failed = 1;
        expect(")");
        block(0);
    } else if (next("return")) {
        Value value = expression(run);
        expect(";");
        if (run) result = value, returning = 1;
    } else if (next("push")) {
        push(run);
    } else if (next("print")) {
        expression(run);
        expect(";");
    } else {
        next("let");
        if ((which = name('a', 'z')) < 0) failed = 1;
        if (!failed) assign(which, run);
        expect(";");
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    at = (const char *)data;
    end = at + size;
    steps = depth = failed = returning = 0;
    memset(variables, 0, sizeof variables);
    memset(functions, 0, sizeof functions);
    for (spaces(); at < end && !failed && !returning; spaces()) statement(1);
    while (used > 0) munmap(blocks[--used], PAGE);
    return 0;
}
