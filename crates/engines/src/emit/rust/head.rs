
/// Writes input `index` of `seed` to `buffer`, with free choices down to
/// `depth` and at most `cap` bytes. Gives its length; if that is more than the
/// buffer holds, only its beginning was written. `None` if `cap` is below the
/// shortest input.
pub fn produce(seed: u64, index: u64, depth: u32, cap: u64, buffer: &mut [u8]) -> Option<u64> {
    if cap < least() {
        return None;
    }
    let rng = mix(mix(seed).wrapping_add(index));
    let room = cap.min(buffer.len() as u64) as usize;
    let work = cap.saturating_mul(16).saturating_add(1 << 20);
    // Bytes pay for the other half of the work.
    let fuel = work.saturating_mul(2);
    let mut fast = Fast { out: &mut buffer[..room], at: 0, rng, fuel };
    if f0(&mut fast, (FRAMES << 32) + u64::from(depth)).is_some() {
        return Some(fast.at as u64);
    }
    Some(Exact::new(rng, cap, work, buffer).run(depth))
}

fn mix(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// 32 random bits; moves the state.
fn bits(rng: &mut u64) -> u32 {
    *rng = rng.wrapping_add(0xA076_1D64_78BD_642F);
    let product = u128::from(*rng) * u128::from(*rng ^ 0xE703_7ED1_A0B4_28DB);
    (((product >> 64) as u64 ^ product as u64) >> 32) as u32
}

/// A number below `n`.
fn even(random: u32, n: u32) -> usize {
    ((u64::from(random) * u64::from(n)) >> 32) as usize
}

/// A repetition's count beyond its least: uniform among few, else geometric.
fn more(random: u32, choices: u32) -> u32 {
    if choices <= UNIFORM {
        return even(random, choices) as u32;
    }
    let drawn = GEOMETRIC.partition_point(|&threshold| threshold <= random) as u32;
    drawn.min(choices - 1)
}

/// A member of a class, and its length.
fn member(class: usize, mut index: u32) -> ([u8; 4], usize) {
    let mut at = CLASS_FIRST[class] as usize;
    while at + 1 < CLASS_FIRST[class + 1] as usize && index > RANGE_HIGH[at] - RANGE_LOW[at] {
        index -= RANGE_HIGH[at] - RANGE_LOW[at] + 1;
        at += 1;
    }
    let value = RANGE_LOW[at] + index;
    let mut text = [value as u8, 0, 0, 0];
    match char::from_u32(value).filter(|_| CLASS_IS_BYTES[class] == 0) {
        Some(letter) => {
            let len = letter.encode_utf8(&mut text).len();
            (text, len)
        }
        None => (text, 1),
    }
}

/// The fast way: no limit is looked at but the room and the work, and `None`
/// says that one was passed.
struct Fast<'b> {
    out: &'b mut [u8],
    at: usize,
    rng: u64,
    fuel: u64,
}

impl Fast<'_> {
    #[inline]
    fn put(&mut self, text: &[u8]) -> Option<()> {
        let end = self.at + text.len();
        self.out.get_mut(self.at..end)?.copy_from_slice(text);
        self.at = end;
        Some(())
    }

    #[inline]
    fn even(&mut self, n: u32) -> usize {
        even(bits(&mut self.rng), n)
    }

    /// One of uneven choices: where the upper bits begin, and what is beyond.
    #[inline]
    fn uneven(&mut self, guide: &[u32], shift: u32, last: &[u32], rounds: u32) -> usize {
        let random = bits(&mut self.rng);
        let mut at = guide[(random >> shift) as usize] as usize;
        for _ in 0..rounds {
            at += usize::from(random > last[at]);
        }
        at
    }

    fn class(&mut self, class: usize) -> Option<()> {
        let index = self.even(CLASS_COUNT[class]);
        let (text, len) = member(class, index as u32);
        self.put(&text[..len])
    }

    /// How often a repetition comes, with `work` for each time.
    fn rounds(&mut self, min: u32, choices: u32, work: u64) -> Option<u32> {
        let extra = if choices > 1 { more(bits(&mut self.rng), choices) } else { 0 };
        let rounds = min.saturating_add(extra);
        self.spend(work.saturating_mul(rounds.into()))?;
        Some(rounds)
    }

    #[inline]
    fn spend(&mut self, work: u64) -> Option<()> {
        self.fuel = self.fuel.checked_sub(work)?;
        Some(())
    }
}
