
/* The exact way: every limit is looked at before each choice. */

enum { TEXT, CLASS, RULE, GROUP, REPEAT };          /* symbols */
enum { SYMBOLS, ROUNDS, BODY, RANKED, SAME };       /* what is left to do */

typedef struct {
    uint32_t kind, at, end, left;
    uint64_t rank, ways;
} task;

typedef struct {
    unsigned char *buffer;
    uint64_t capacity, length, open, cap, draws, steps, max_draws, max_steps, rng;
    task *tasks;
    size_t count, room;
    int failed;
} walk;

static uint64_t sum(uint64_t a, uint64_t b) { return a > UINT64_MAX - b ? UINT64_MAX : a + b; }
static uint64_t less(uint64_t a, uint64_t b) { return a > b ? a - b : 0; }
static uint64_t product(uint64_t a, uint64_t b) { return b && a > UINT64_MAX / b ? UINT64_MAX : a * b; }

/* The length of the shortest input. */
static uint64_t least(void) { return body_least[rule_body[START]]; }

static int exhausted(const walk *w) { return w->draws > w->max_draws || w->steps > w->max_steps; }

/* Whether `extra` bytes beyond the least of what is open keep the cap. */
static int fits(const walk *w, uint64_t extra) { return sum(sum(w->length, w->open), extra) <= w->cap; }

/* Whether a body derives only the empty text. */
static int only_empty(uint32_t body, int closed) {
    return (body_empty[body] & 1) || (closed && (body_empty[body] & 2));
}

static int skips(const walk *w, uint32_t body, int closed) {
    return only_empty(body, closed) || (exhausted(w) && body_least[body] == 0);
}

static void put(walk *w, const unsigned char *bytes, uint64_t length) {
    if (w->length < w->capacity) {
        uint64_t room = w->capacity - w->length;
        memcpy(w->buffer + w->length, bytes, (size_t)(length < room ? length : room));
    }
    w->length += length;
}

static void push(walk *w, uint32_t kind, uint32_t at, uint32_t end, uint32_t left, uint64_t rank, uint64_t ways) {
    if (w->count == w->room) {
        size_t room = w->room ? 2 * w->room : 256;
        task *tasks = realloc(w->tasks, room * sizeof *tasks);
        if (!tasks) {
            w->failed = 1;
            return;
        }
        w->tasks = tasks;
        w->room = room;
    }
    w->tasks[w->count++] = (task){ kind, at, end, left, rank, ways };
}

/* Draws 32 bits; false when none are left to draw. */
static int draw(walk *w, uint32_t *random) {
    w->draws++;
    if (exhausted(w)) return 0;
    w->rng += STEP;
    *random = bits(w->rng);
    return 1;
}

static uint32_t choose_alternative(walk *w, uint32_t body, int closed) {
    const uint32_t *first = closed ? closed_first : free_first;
    const uint32_t *alternatives = (closed ? closed_alternatives : free_alternatives) + first[body];
    const uint64_t *sums = (closed ? closed_sums : free_sums) + first[body];
    uint32_t count = first[body + 1] - first[body], at = 0, random, chosen;
    uint64_t shortest = body_least[body];
    w->steps++;
    if (count > 1 && draw(w, &random)) {
        uint64_t drawn = (uint64_t)(((unsigned __int128)random * sums[count - 1]) >> 32);
        uint32_t n = count - 1;
        while (n > 0) {
            uint32_t half = (n + 1) / 2;
            at += sums[at + half - 1] <= drawn ? half : 0;
            n -= half;
        }
    }
    chosen = count ? alternatives[at] : body_shortest[body];
    if (exhausted(w) || !fits(w, less(alternative_least[chosen], shortest))) chosen = body_shortest[body];
    w->open = sum(less(w->open, shortest), alternative_least[chosen]);
    return chosen;
}

static void take(walk *w, uint32_t alternative, uint32_t left) {
    push(w, SYMBOLS, alternative_first[alternative], alternative_first[alternative + 1], left, 0, 0);
}

static void choose(walk *w, uint32_t body, uint32_t left) {
    take(w, choose_alternative(w, body, left == 0), left);
}

static void put_member(walk *w, uint32_t class, uint32_t index) {
    unsigned char text[4];
    put(w, text, (uint64_t)(member(class, index, text) - text));
}

static uint32_t length_of(uint32_t class, uint32_t index) {
    unsigned char text[4];
    return (uint32_t)(member(class, index, text) - text);
}

static void choose_member(walk *w, uint32_t class) {
    uint32_t index = 0, random;
    uint64_t shortest = length_of(class, 0);
    if (class_count[class] > 1 && draw(w, &random)) index = even(random, class_count[class]);
    if (!fits(w, less(length_of(class, index), shortest))) index = 0;
    w->open = less(w->open, shortest);
    put_member(w, class, index);
}

static void repeat(walk *w, uint32_t repetition, uint32_t left) {
    uint32_t body = repeat_body[repetition], extra = 0, random;
    uint64_t shortest = body_least[body], wanted;
    if (only_empty(body, left == 0)) return;
    if (left && repeat_choices[repetition] > 1) {
        if (draw(w, &random)) extra = more(random, repeat_choices[repetition]);
        if (!fits(w, product(extra, shortest))) extra = 0;
    }
    w->open = sum(w->open, product(extra, shortest));
    wanted = (uint64_t)repeat_min[repetition] + extra;
    if (wanted) push(w, ROUNDS, body, wanted > UINT32_MAX ? UINT32_MAX : (uint32_t)wanted, left, 0, 0);
}

static uint64_t ways_of_symbol(uint32_t symbol) {
    uint32_t value = symbol_value[symbol], i;
    uint64_t ways = 1;
    switch (symbol_kind[symbol]) {
    case CLASS: return class_count[value];
    case RULE: return body_ways[rule_body[value]];
    case GROUP: return body_ways[value];
    case REPEAT:
        if (body_ways[repeat_body[value]] > 1)
            for (i = 0; i < repeat_min[value] && ways < UINT64_MAX; i++)
                ways = product(ways, body_ways[repeat_body[value]]);
        return ways;
    default: return 1;
    }
}

/* Writes the completion `rank` of a body; false as soon as it is too long. */
static int complete_with(walk *w, uint32_t body, uint64_t rank) {
    size_t bottom = w->count;
    push(w, BODY, body, 0, 0, rank, 0);
    while (w->count > bottom && !w->failed) {
        task t = w->tasks[--w->count];
        uint32_t i;
        if (t.kind == SAME) {
            if (t.end > 1) push(w, SAME, t.at, t.end - 1, 0, 0, 0);
            push(w, BODY, t.at, 0, 0, 0, 0);
        } else if (t.kind == BODY) {
            if (body_empty[t.at] & 2) continue;
            for (i = closed_first[t.at]; i < closed_first[t.at + 1]; i++) {
                uint32_t alternative = closed_alternatives[i];
                if (t.rank < alternative_ways[alternative]) {
                    push(w, RANKED, alternative_first[alternative], alternative_first[alternative + 1], 0,
                         t.rank, alternative_ways[alternative]);
                    break;
                }
                t.rank -= alternative_ways[alternative];
            }
        } else if (t.at < t.end) {
            uint32_t value = symbol_value[t.at];
            uint64_t own = ways_of_symbol(t.at), ways;
            ways = t.ways / (own ? own : 1);
            if (!ways) ways = 1;
            if (t.at + 1 < t.end) push(w, RANKED, t.at + 1, t.end, 0, t.rank % ways, ways);
            rank = t.rank / ways;
            switch (symbol_kind[t.at]) {
            case TEXT: put(w, texts + text_first[value], text_first[value + 1] - text_first[value]); break;
            case CLASS: put_member(w, value, (uint32_t)rank); break;
            case RULE: push(w, BODY, rule_body[value], 0, 0, rank, 0); break;
            case GROUP: push(w, BODY, value, 0, 0, rank, 0); break;
            default: {
                uint32_t inner = repeat_body[value];
                if ((body_empty[inner] & 2) || !repeat_min[value]) break;
                if (body_ways[inner] == 1) {
                    push(w, SAME, inner, repeat_min[value], 0, 0, 0);
                    break;
                }
                for (i = 0; i < repeat_min[value]; i++) {
                    push(w, BODY, inner, 0, 0, rank % body_ways[inner], 0);
                    rank /= body_ways[inner];
                }
            }
            }
        }
        if (!fits(w, 0)) {
            w->count = bottom;
            return 0;
        }
    }
    return 1;
}

static void call(walk *w, uint32_t rule, uint32_t left) {
    uint32_t body = rule_body[rule], random;
    if (left == 0) {
        uint64_t ways = body_ways[body], rank = 0, length = w->length;
        w->steps++;
        if (body_empty[body] & 2) return;
        if (ways <= POOL && !exhausted(w)) {
            uint32_t first = pool_first[rule], count = pool_first[rule + 1] - first;
            if (ways > 1 && draw(w, &random))
                rank = count ? find(pool + first, count, random) : even(random, (uint32_t)ways);
            w->open = less(w->open, body_least[body]);
            if (complete_with(w, body, rank)) return;
            w->length = length;
            w->open = sum(w->open, body_least[body]);
            take(w, body_shortest[body], 0);
            return;
        }
    }
    choose(w, body, left);
}

static uint32_t within(uint32_t rule, uint32_t left) {
    return left < rule_limit[rule] ? left : rule_limit[rule];
}

static void derive(walk *w, uint32_t symbol, uint32_t left) {
    uint32_t value = symbol_value[symbol];
    switch (symbol_kind[symbol]) {
    case TEXT: {
        uint64_t length = text_first[value + 1] - text_first[value];
        w->open = less(w->open, length);
        put(w, texts + text_first[value], length);
        break;
    }
    case CLASS: choose_member(w, value); break;
    case RULE:
        if (!skips(w, rule_body[value], left == 0))
            call(w, value, left ? within(value, left - rule_costs[value]) : 0);
        break;
    case GROUP:
        if (!skips(w, value, left == 0)) choose(w, value, left);
        break;
    default: repeat(w, value, left);
    }
}

static size_t exactly(uint64_t rng, uint32_t depth, uint64_t cap, unsigned char *buffer, size_t capacity) {
    walk w = { .buffer = buffer, .capacity = capacity, .cap = cap, .rng = rng };
    w.open = least();
    w.max_draws = sum(product(cap, 16), 1 << 20);
    w.max_steps = product(w.max_draws, 4);
    call(&w, START, within(START, depth));
    while (w.count && !w.failed) {
        task t = w.tasks[--w.count];
        if (t.kind == SYMBOLS) {
            if (t.at + 1 < t.end) push(&w, SYMBOLS, t.at + 1, t.end, t.left, 0, 0);
            if (t.at < t.end) derive(&w, t.at, t.left);
        } else if (!skips(&w, t.at, t.left == 0)) {
            if (t.end > 1) push(&w, ROUNDS, t.at, t.end - 1, t.left, 0, 0);
            choose(&w, t.at, t.left);
        }
    }
    free(w.tasks);
    return w.failed ? SIZE_MAX : (size_t)w.length;
}

size_t wug_produce(uint64_t seed, uint64_t index, uint32_t depth, uint64_t cap,
                   unsigned char *buffer, size_t capacity) {
    uint64_t rng = mix(mix(seed) + index);
    /* One byte more than may be written, to mark inputs that are given up. */
    uint64_t room = cap < capacity ? cap : capacity ? capacity - 1 : 0;
    if (cap < least()) return SIZE_MAX;
    if (room >= SLACK) {
        /* Bytes pay for the other half of the work. */
        uint64_t fuel = product(sum(product(cap, 16), 1 << 20), 2);
        unsigned char *stop = buffer + room + 1;
        unsigned char *out = fast(buffer, stop - 1 - SLACK, stop, rng, depth,
                                  fuel > INT64_MAX ? INT64_MAX : (int64_t)fuel);
        if (out != stop) return (size_t)(out - buffer);
    }
    return exactly(rng, depth, cap, buffer, capacity);
}
