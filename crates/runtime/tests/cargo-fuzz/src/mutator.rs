//! A structured target with hooks of its own for libFuzzer. It rejects an
//! order that its mutator leaves as it is or makes too long.
#![no_main]
use arbitrary::Arbitrary;
use libfuzzer_sys::{Corpus, fuzz_crossover, fuzz_mutator, fuzz_target, fuzzer_mutate};

#[derive(Arbitrary, Debug)]
struct Order {
    count: u8,
    bytes: [u8; 4],
}

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, _seed: u32| {
    fuzzer_mutate(data, size, max_size)
});

fuzz_crossover!(|first: &[u8], _second: &[u8], out: &mut [u8], _seed: u32| {
    let size = first.len().min(out.len());
    out[..size].copy_from_slice(&first[..size]);
    size
});

fuzz_target!(|order: Order| -> Corpus {
    let mut room = [0; 8];
    room[..4].copy_from_slice(&order.bytes);
    let (mut size, mut changed) = (4, false);
    for _ in 0..order.count {
        let before = room[..size].to_vec();
        // SAFETY: the room is as large as said.
        size = unsafe { rust_fuzzer_custom_mutator(room.as_mut_ptr(), size, room.len(), 1) };
        changed |= before != room[..size];
    }
    if changed && (1..=room.len()).contains(&size) { Corpus::Keep } else { Corpus::Reject }
});
