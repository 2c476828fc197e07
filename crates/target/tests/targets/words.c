/* Texts in data of all kinds. */
const char keyword[] = "procedure";
const char *pair[] = {"begin", "if", "end"};
const unsigned char table[] = {1, 'o', 'd', 'd', 2, 'x', 'y', 3};
const char message[] = "This is a message for people, and much too long for a token.";
char variable[] = "assigned";
const char again[] = "begin";
const char own[] = "__AFL_SHM_ID";

int main(int argc, char **argv) {
    return keyword[argc] + pair[argc % 3][0] + table[argc] + message[argc] + variable[argc] + again[argc] + own[argc];
}
