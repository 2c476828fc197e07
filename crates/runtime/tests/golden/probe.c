/* One function for each way in which C programs look at their input. The
 * first byte of an input picks the function, the rest is the text. */
#define _GNU_SOURCE
#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

static volatile int sink;
static char text[256];
static size_t length;
static volatile const char other[] = "wham";

#define PROBE(name) __attribute__((noinline)) static void name(unsigned char c)

PROBE(equal_char) { if ((char)c == '(') sink = 1; }
PROBE(equal_int) { int n = c; if (n == '(') sink = 1; }
PROBE(unequal_short) { short n = c; if (n != 300) sink = 1; }
PROBE(equal_long) { long n = c; if (n == 1234567890123L) sink = 1; }
PROBE(equal_variables) { int n = c, m = text[1]; if (n == m) sink = 1; }
PROBE(constant_first) { if ('(' == c) sink = 1; }
PROBE(range) { int n = c; if (n >= '0' && n <= '9') sink = 1; }
PROBE(range_char) { if (c >= 'a' && c <= 'z') sink = 1; }
PROBE(less_unsigned) { unsigned n = c; if (n < 32u) sink = 1; }
PROBE(greater_signed) { signed char n = (signed char)c; if (n > -5) sink = 1; }
PROBE(truth) { if (c) sink = 1; }
PROBE(negation) { if (!c) sink = 1; }
PROBE(mask) { if ((c & 0xc0) == 0x80) sink = 1; }
PROBE(chain_of_or) { if (c == '+' || c == '-' || c == 'e') sink = 1; }
PROBE(white_space) { if (c == ' ' || c == '\t' || c == '\n' || c == '\r') sink = 1; }
PROBE(else_if) { if (c == 'a') sink = 1; else if (c == 'b') sink = 2; else sink = 3; }
PROBE(conditional) { sink = c == '?' ? 1 : 2; }
PROBE(value_of_comparison) { sink = c == '='; }
PROBE(while_loop) { int i = 0; while (text[i] == 'Q') i++; sink = i; }
PROBE(for_loop) { for (size_t i = 0; i < length; i++) sink += text[i]; }
PROBE(do_loop) { int i = 0; do i++; while (text[i] != 0); }
PROBE(switch_char) { switch ((char)c) { case 'b': sink = 1; break; case 'f': sink = 2; break; case '"': sink = 3; } }
PROBE(switch_range) { switch (c) { case '0': case '1': case '2': case '3': case '4': sink = 1; break; case '-': sink = 2; break; case '{': sink = 3; } }
PROBE(switch_two) { switch (c) { case '+': sink = 1; break; case '-': sink = 2; } }
PROBE(switch_default) { switch (c) { case 'x': sink = 1; break; default: sink = 2; } }
PROBE(switch_many) { switch (c) {
    case 1: sink = 1; break; case 3: sink = 3; break; case 5: sink = 5; break; case 7: sink = 7; break;
    case 9: sink = 9; break; case 11: sink = 11; break; case 13: sink = 13; break; case 15: sink = 15; break;
    case 17: sink = 17; break; case 19: sink = 19; break; case 21: sink = 21; break; case 23: sink = 23; break;
    case 25: sink = 25; break; case 27: sink = 27; } }
PROBE(float_compare) { float f = c; if (f < 0.5f) sink = 1; }
PROBE(double_compare) { double d = c; if (d == 81.0) sink = 1; }
PROBE(table) { static const unsigned char member[256] = {['a'] = 1, ['_'] = 1}; if (member[c]) sink = 1; }
PROBE(pointer) { const char *p = text, *end = text + length; if (p == end) sink = 1; }
PROBE(is_digit) { if (isdigit(c)) sink = 1; }
PROBE(is_alpha) { if (isalpha(c)) sink = 1; }
PROBE(is_alnum) { if (isalnum(c)) sink = 1; }
PROBE(is_space) { if (isspace(c)) sink = 1; }
PROBE(is_xdigit) { if (isxdigit(c)) sink = 1; }
PROBE(is_upper) { if (isupper(c)) sink = 1; }
PROBE(is_lower) { if (islower(c)) sink = 1; }
PROBE(is_punct) { if (ispunct(c)) sink = 1; }
PROBE(is_print) { if (isprint(c)) sink = 1; }
PROBE(is_graph) { if (isgraph(c)) sink = 1; }
PROBE(is_cntrl) { if (iscntrl(c)) sink = 1; }
PROBE(is_blank) { if (isblank(c)) sink = 1; }
PROBE(to_lower) { if (tolower(c) == 'e') sink = 1; }
PROBE(to_upper) { if (toupper(c) == 'E') sink = 1; }
PROBE(string_equal) { sink = strcmp(text, "while"); }
PROBE(string_equal_short) { sink = strcmp(text, "a"); }
PROBE(string_prefix) { sink = strncmp(text, "null", 4); }
PROBE(string_prefix_variable) { sink = strncmp(text, (const char *)other, length); }
PROBE(string_no_case) { sink = strcasecmp(text, "YES"); }
PROBE(string_prefix_no_case) { sink = strncasecmp(text, "yes", 3); }
PROBE(memory_equal) { sink = memcmp(text, "true", 4); }
PROBE(memory_equal_bcmp) { sink = bcmp(text, "false", 5); }
PROBE(memory_equal_variable) { sink = memcmp(text, (const char *)other, length); }
PROBE(text_in_string) { sink = strstr(text, "foo") != NULL; }
PROBE(text_in_string_no_case) { sink = strcasestr(text, "foo") != NULL; }
PROBE(text_in_memory) { sink = memmem(text, length, "foo", 3) != NULL; }
PROBE(character_of_set) { sink = strchr("+-*/", c) != NULL; }
PROBE(last_character) { sink = strrchr(text, '.') != NULL; }
PROBE(character_in_memory) { sink = memchr(text, ';', length) != NULL; }
PROBE(span) { sink = (int)strspn(text, "PQR"); }
PROBE(span_until) { sink = (int)strcspn(text, ",;"); }
PROBE(any_of) { sink = strpbrk(text, ",;") != NULL; }
PROBE(end_by_read) { char b[4]; sink = (int)read(0, b, sizeof b); }
static FILE *nothing(void) { return fopen("/dev/null", "r"); }
PROBE(end_by_fgetc) { FILE *f = nothing(); sink = fgetc(f); fclose(f); }
PROBE(end_by_getc) { FILE *f = nothing(); sink = getc(f); fclose(f); }
PROBE(end_by_fread) { FILE *f = nothing(); char b[4]; sink = (int)fread(b, 1, sizeof b, f); fclose(f); }
PROBE(end_by_fgets) { FILE *f = nothing(); char b[4]; sink = fgets(b, sizeof b, f) != NULL; fclose(f); }
PROBE(end_by_feof) { FILE *f = nothing(); fgetc(f); sink = feof(f); fclose(f); }
PROBE(end_by_getline) { FILE *f = nothing(); char *l = NULL; size_t n = 0; sink = (int)getline(&l, &n, f); free(l); fclose(f); }
PROBE(end_by_getchar) { sink = getchar(); clearerr(stdin); }

static void (*const probes[])(unsigned char) = {
    equal_char, equal_int, unequal_short, equal_long, equal_variables, constant_first, range, range_char,
    less_unsigned, greater_signed, truth, negation, mask, chain_of_or, white_space, else_if, conditional,
    value_of_comparison, while_loop, for_loop, do_loop, switch_char, switch_range, switch_two, switch_default,
    switch_many, float_compare, double_compare, table, pointer, is_digit, is_alpha, is_alnum, is_space, is_xdigit,
    is_upper, is_lower, is_punct, is_print, is_graph, is_cntrl, is_blank, to_lower, to_upper, string_equal,
    string_equal_short, string_prefix, string_prefix_variable, string_no_case, string_prefix_no_case, memory_equal,
    memory_equal_bcmp, memory_equal_variable, text_in_string, text_in_string_no_case, text_in_memory,
    character_of_set, last_character, character_in_memory, span, span_until, any_of, end_by_read, end_by_fgetc,
    end_by_getc, end_by_fread, end_by_fgets, end_by_feof, end_by_getline, end_by_getchar,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    length = size - 1;
    memcpy(text, data + 1, length);
    text[length] = 0;
    probes[data[0]]((unsigned char)text[0]);
    return 0;
}
