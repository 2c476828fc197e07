// Twenty crashes in three functions of a C++ program, most of them exceptions
// that nobody catches. An input is `!`, a letter from a to t that says which,
// and a digit.
#include <any>
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <functional>
#include <map>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#define APART __attribute__((noinline))

static volatile int sink, zero;
static int *volatile null_pointer;

struct Shape {
    virtual int area() { return 1; }
    virtual ~Shape() = default;
};
struct Square : Shape {};
static Shape *volatile no_shape;

APART static void tables(int letter, int digit) {
    std::vector<int> row(3), other(4);
    std::map<int, int> map;
    std::string text = "abc";
    std::size_t beyond = static_cast<std::size_t>(digit);
    if (letter == 'a') sink += row.at(beyond);
    sink++;
    if (letter == 'b') sink += other.at(beyond);
    if (letter == 'c') sink += map.at(digit);
    if (letter == 'd') sink += text.at(beyond);
    if (letter == 'e') sink += std::stoi("no number");
    if (letter == 'f') throw std::runtime_error("one of two");
    if (letter == 'g') throw std::runtime_error("two of two");
    sink++;
}

APART static void values(int letter, int digit) {
    std::optional<int> nothing;
    std::variant<int, std::string> either = digit;
    std::function<int(int)> function;
    if (letter == 'h') sink += nothing.value();
    if (letter == 'i') sink += static_cast<int>(std::get<std::string>(either).size());
    if (letter == 'j') sink += function(digit);
    if (letter == 'k') sink += std::any_cast<int>(std::any());
    if (letter == 'l') {
        Shape shape;
        Shape *volatile pointer = &shape;
        sink += dynamic_cast<Square &>(*pointer).area();
    }
    if (letter == 'm') sink += *new (std::nothrow) char[1] + *static_cast<char *>(::operator new(SIZE_MAX / 4 - static_cast<std::size_t>(zero)));
    if (letter == 'n') std::terminate();
    sink++;
}

APART static int shapes(int letter, int depth) noexcept {
    volatile char space[256];
    space[depth & 255] = static_cast<char>(depth);
    if (letter == 'o') throw 7;
    if (letter == 'p') assert(letter < 'p');
    if (letter == 'q') assert(letter > 'q');
    if (letter == 'r') sink += no_shape->area();
    if (letter == 's') *null_pointer = 7;
    if (letter == 't') return shapes(letter, depth + 1) + space[(depth + 1) & 255];
    return depth;
}

int main() {
    char text[64] = {0};
    std::size_t length = std::fread(text, 1, sizeof text - 1, stdin);
    if (length < 3 || text[0] != '!') return 0;
    tables(text[1], text[2]);
    values(text[1], text[2]);
    sink = sink + shapes(text[1], 0);
    return 0;
}
