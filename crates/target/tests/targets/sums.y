/* Sums, products and comparisons on lines of their own, for tests. The lexer
 * is that of sums.l with -DFLEX, else one by hand. */
%{
#include <ctype.h>
#include <stdio.h>
int yylex(void);
static void yyerror(const char *message) { (void)message; }
%}
%token NUMBER LESS
%left LESS
%left '+' '-'
%left '*' '/'
%%
input : %empty | input line ;
line : '\n' | sum '\n' ;
sum : NUMBER | sum '+' sum | sum '-' sum | sum '*' sum | sum '/' sum | sum LESS sum | '(' sum ')' ;
%%
#ifndef FLEX
int yylex(void) {
    int c = getchar();
    while (c == ' ' || c == '\t') c = getchar();
    if (c == EOF) return 0;
    if (isdigit(c)) {
        while (isdigit(c = getchar())) continue;
        ungetc(c, stdin);
        return NUMBER;
    }
    if (c != '<') return c;
    c = getchar();
    if (c == '=') return LESS;
    ungetc(c, stdin);
    return '<';
}
#endif
int main(void) { return yyparse(); }
