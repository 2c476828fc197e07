/* A branch for each letter of a word, for fuzzers to exchange. */
#include <stdio.h>
#include <unistd.h>

int main(void) {
    char text[16] = {0};
    ssize_t n = read(0, text, sizeof text - 1);
    if (n > 0 && text[0] == 'w') {
        putchar('1');
        if (text[1] == 'u') {
            putchar('2');
            if (text[2] == 'g') putchar('3');
        }
    }
    if (n > 0 && text[0] == '(') putchar('4');
    if (n > 0 && text[0] == 'z') putchar('5');
    return 0;
}
