
/// The length of the shortest input.
fn least() -> u64 {
    BODY_LEAST[RULE_BODY[START as usize] as usize]
}

/// The exact way: every limit is looked at before each choice.
struct Exact<'b> {
    buffer: &'b mut [u8],
    length: u64,
    open: u64,
    cap: u64,
    draws: u64,
    steps: u64,
    max_draws: u64,
    rng: u64,
    tasks: Vec<Task>,
}

/// What is left to do; `left` levels are below it, none if it is closed.
#[derive(Clone, Copy)]
enum Task {
    Symbols { at: u32, end: u32, left: u32 },
    Rounds { body: u32, times: u32, left: u32 },
    /// The completion `rank` of a body.
    Body { body: u32, rank: u64 },
    /// Symbols whose completion is `rank` of `ways`.
    Ranked { at: u32, end: u32, rank: u64, ways: u64 },
    /// The one completion of a body, several times.
    Same { body: u32, times: u32 },
}

fn only_empty(body: u32, closed: bool) -> bool {
    let empty = BODY_EMPTY[body as usize];
    empty & 1 != 0 || (closed && empty & 2 != 0)
}

/// The alternatives that a body offers, and sums of their weights.
fn offers(body: u32, closed: bool) -> (&'static [u32], &'static [u64]) {
    let body = body as usize;
    if closed {
        let range = CLOSED_FIRST[body] as usize..CLOSED_FIRST[body + 1] as usize;
        (&CLOSED_ALTERNATIVES[range.clone()], &CLOSED_SUMS[range])
    } else {
        let range = FREE_FIRST[body] as usize..FREE_FIRST[body + 1] as usize;
        (&FREE_ALTERNATIVES[range.clone()], &FREE_SUMS[range])
    }
}

fn text(value: usize) -> &'static [u8] {
    &TEXTS[TEXT_FIRST[value] as usize..TEXT_FIRST[value + 1] as usize]
}

fn ways_of_symbol(symbol: usize) -> u64 {
    let value = SYMBOL_VALUE[symbol] as usize;
    match SYMBOL_KIND[symbol] {
        1 => CLASS_COUNT[value].into(),
        2 => BODY_WAYS[RULE_BODY[value] as usize],
        3 => BODY_WAYS[value],
        4 => BODY_WAYS[REPEAT_BODY[value] as usize].saturating_pow(REPEAT_MIN[value]),
        _ => 1,
    }
}

impl<'b> Exact<'b> {
    fn new(rng: u64, cap: u64, max_draws: u64, buffer: &'b mut [u8]) -> Exact<'b> {
        let tasks = Vec::new();
        Exact { buffer, length: 0, open: least(), cap, draws: 0, steps: 0, max_draws, rng, tasks }
    }

    fn run(mut self, depth: u32) -> u64 {
        self.call(START, depth.min(RULE_LIMIT[START as usize]));
        while let Some(task) = self.tasks.pop() {
            match task {
                Task::Symbols { at, end, left } => {
                    if at + 1 < end {
                        self.tasks.push(Task::Symbols { at: at + 1, end, left });
                    }
                    if at < end {
                        self.derive(at as usize, left);
                    }
                }
                Task::Rounds { body, times, left } if !self.skips(body, left == 0) => {
                    if times > 1 {
                        self.tasks.push(Task::Rounds { body, times: times - 1, left });
                    }
                    self.choose(body, left);
                }
                _ => {}
            }
        }
        self.length
    }

    fn exhausted(&self) -> bool {
        self.draws > self.max_draws || self.steps > self.max_draws.saturating_mul(4)
    }

    /// Whether `extra` bytes beyond the least of what is open keep the cap.
    fn fits(&self, extra: u64) -> bool {
        self.length.saturating_add(self.open).saturating_add(extra) <= self.cap
    }

    fn skips(&self, body: u32, closed: bool) -> bool {
        only_empty(body, closed) || (self.exhausted() && BODY_LEAST[body as usize] == 0)
    }

    fn put(&mut self, bytes: &[u8]) {
        if let Some(room) = self.buffer.get_mut(self.length as usize..) {
            let count = bytes.len().min(room.len());
            room[..count].copy_from_slice(&bytes[..count]);
        }
        self.length += bytes.len() as u64;
    }

    /// 32 random bits; `None` when none are left to draw.
    fn draw(&mut self) -> Option<u32> {
        self.draws += 1;
        if self.exhausted() { None } else { Some(bits(&mut self.rng)) }
    }

    fn derive(&mut self, symbol: usize, left: u32) {
        let value = SYMBOL_VALUE[symbol];
        match SYMBOL_KIND[symbol] {
            0 => {
                let bytes = text(value as usize);
                self.open = self.open.saturating_sub(bytes.len() as u64);
                self.put(bytes);
            }
            1 => self.class(value as usize),
            2 if !self.skips(RULE_BODY[value as usize], left == 0) => {
                let rule = value as usize;
                let below = left.saturating_sub(RULE_COSTS[rule].into());
                self.call(value, if left == 0 { 0 } else { below.min(RULE_LIMIT[rule]) });
            }
            3 if !self.skips(value, left == 0) => self.choose(value, left),
            4 => self.repeat(value as usize, left),
            _ => {}
        }
    }

    fn class(&mut self, class: usize) {
        let shortest = member(class, 0).1 as u64;
        let mut index = 0;
        if CLASS_COUNT[class] > 1 {
            index = self.draw().map_or(0, |random| even(random, CLASS_COUNT[class]) as u32);
        }
        if !self.fits((member(class, index).1 as u64).saturating_sub(shortest)) {
            index = 0;
        }
        self.open = self.open.saturating_sub(shortest);
        let (text, len) = member(class, index);
        self.put(&text[..len]);
    }

    fn repeat(&mut self, repeat: usize, left: u32) {
        let body = REPEAT_BODY[repeat];
        if only_empty(body, left == 0) {
            return;
        }
        let shortest = BODY_LEAST[body as usize];
        let mut extra = 0;
        if left > 0 && REPEAT_CHOICES[repeat] > 1 {
            extra = self.draw().map_or(0, |random| more(random, REPEAT_CHOICES[repeat]));
            if !self.fits(u64::from(extra).saturating_mul(shortest)) {
                extra = 0;
            }
        }
        self.open = self.open.saturating_add(u64::from(extra).saturating_mul(shortest));
        let times = REPEAT_MIN[repeat].saturating_add(extra);
        if times > 0 {
            self.tasks.push(Task::Rounds { body, times, left });
        }
    }

    fn choose(&mut self, body: u32, left: u32) {
        let (alternatives, sums) = offers(body, left == 0);
        let (shortest, least) = (BODY_SHORTEST[body as usize], BODY_LEAST[body as usize]);
        self.steps += 1;
        let mut chosen = match alternatives {
            [] => shortest,
            [one] => *one,
            _ => {
                let random = self.draw().unwrap_or(0);
                let drawn = (u128::from(random) * u128::from(sums[sums.len() - 1])) >> 32;
                let at = sums.partition_point(|&sum| u128::from(sum) <= drawn);
                alternatives[at.min(alternatives.len() - 1)]
            }
        };
        if self.exhausted() || !self.fits(ALTERNATIVE_LEAST[chosen as usize].saturating_sub(least)) {
            chosen = shortest;
        }
        self.open = self.open.saturating_sub(least).saturating_add(ALTERNATIVE_LEAST[chosen as usize]);
        self.take(chosen, left);
    }

    fn take(&mut self, alternative: u32, left: u32) {
        let alternative = alternative as usize;
        let (at, end) = (ALTERNATIVE_FIRST[alternative], ALTERNATIVE_FIRST[alternative + 1]);
        self.tasks.push(Task::Symbols { at, end, left });
    }

    fn call(&mut self, rule: u32, left: u32) {
        let body = RULE_BODY[rule as usize];
        if left > 0 {
            return self.choose(body, left);
        }
        self.steps += 1;
        if BODY_EMPTY[body as usize] & 2 != 0 {
            return;
        }
        let (ways, least) = (BODY_WAYS[body as usize], BODY_LEAST[body as usize]);
        if ways > POOL_SIZE || self.exhausted() {
            return self.choose(body, 0);
        }
        let pool = &POOL[POOL_FIRST[rule as usize] as usize..POOL_FIRST[rule as usize + 1] as usize];
        let mut rank = 0;
        if ways > 1
            && let Some(random) = self.draw()
        {
            rank = match pool {
                [] => even(random, ways as u32) as u64,
                _ => pool.partition_point(|&threshold| threshold <= random) as u64,
            };
        }
        let length = self.length;
        self.open = self.open.saturating_sub(least);
        if !self.complete(body, rank) {
            self.length = length;
            self.open = self.open.saturating_add(least);
            self.take(BODY_SHORTEST[body as usize], 0);
        }
    }

    /// Writes the completion `rank` of a body; `false` as soon as it is too
    /// long.
    fn complete(&mut self, body: u32, rank: u64) -> bool {
        let bottom = self.tasks.len();
        self.tasks.push(Task::Body { body, rank });
        while self.tasks.len() > bottom {
            match self.tasks.pop() {
                Some(Task::Body { body, rank }) => self.ranked_body(body, rank),
                Some(Task::Ranked { at, end, rank, ways }) if at < end => {
                    self.ranked_symbol(at, end, rank, ways);
                }
                Some(Task::Same { body, times }) => {
                    if times > 1 {
                        self.tasks.push(Task::Same { body, times: times - 1 });
                    }
                    self.tasks.push(Task::Body { body, rank: 0 });
                }
                _ => {}
            }
            if !self.fits(0) {
                self.tasks.truncate(bottom);
                return false;
            }
        }
        true
    }

    fn ranked_body(&mut self, body: u32, mut rank: u64) {
        if BODY_EMPTY[body as usize] & 2 != 0 {
            return;
        }
        for &alternative in offers(body, true).0 {
            let alternative = alternative as usize;
            let ways = ALTERNATIVE_WAYS[alternative];
            if rank < ways {
                let (at, end) = (ALTERNATIVE_FIRST[alternative], ALTERNATIVE_FIRST[alternative + 1]);
                self.tasks.push(Task::Ranked { at, end, rank, ways });
                return;
            }
            rank -= ways;
        }
    }

    fn ranked_symbol(&mut self, at: u32, end: u32, rank: u64, ways: u64) {
        let value = SYMBOL_VALUE[at as usize] as usize;
        let ways = (ways / ways_of_symbol(at as usize).max(1)).max(1);
        if at + 1 < end {
            self.tasks.push(Task::Ranked { at: at + 1, end, rank: rank % ways, ways });
        }
        let mut rank = rank / ways;
        match SYMBOL_KIND[at as usize] {
            0 => self.put(text(value)),
            1 => {
                let (text, len) = member(value, rank as u32);
                self.put(&text[..len]);
            }
            2 => self.tasks.push(Task::Body { body: RULE_BODY[value], rank }),
            3 => self.tasks.push(Task::Body { body: value as u32, rank }),
            _ => {
                let (body, min) = (REPEAT_BODY[value], REPEAT_MIN[value]);
                let each = BODY_WAYS[body as usize];
                if BODY_EMPTY[body as usize] & 2 != 0 || min == 0 {
                } else if each == 1 {
                    self.tasks.push(Task::Same { body, times: min });
                } else {
                    for _ in 0..min {
                        self.tasks.push(Task::Body { body, rank: rank % each });
                        rank /= each;
                    }
                }
            }
        }
    }
}

fn main() -> std::process::ExitCode {
    use std::io::Write;
    let arguments: Vec<String> = std::env::args().collect();
    let number = |at: usize, usual: u64| arguments.get(at).map_or(Some(usual), |text| text.parse().ok());
    let (Some(seed), Some(count), Some(Ok(depth)), Some(cap)) =
        (number(1, 1), number(2, 1), number(3, 16).map(u32::try_from), number(4, 1 << 20))
    else {
        eprintln!("use: {} [SEED [COUNT [DEPTH [CAP]]]]", arguments[0]);
        return 2.into();
    };
    let mut buffer = vec![0; 1 << 16];
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for index in 0..count {
        let length = loop {
            match produce(seed, index, depth, cap, &mut buffer) {
                None => {
                    eprintln!("error: the shortest input has {} bytes", least());
                    return 1.into();
                }
                Some(length) if length as usize <= buffer.len() => break length as usize,
                Some(length) => buffer.resize(length as usize, 0),
            }
        };
        let written = out.write_all(&buffer[..length]).and_then(|()| out.write_all(b"\n"));
        if written.is_err() {
            break;
        }
    }
    if let Err(error) = out.flush() {
        eprintln!("error: cannot write to standard output: {error}");
        return 1.into();
    }
    0.into()
}
