//! Twenty crashes in three functions of a Rust program. An input is `!`, a
//! letter from a to t that says which, and a digit.

use std::cell::RefCell;
use std::collections::HashMap;
use std::hint::black_box;
use std::io::Read;

#[inline(never)]
fn tables(letter: u8, digit: usize) -> u64 {
    let row: Vec<u64> = black_box(vec![1, 2, 3]);
    let other = black_box([4u64, 5, 6, 7]);
    let map: HashMap<usize, u64> = HashMap::new();
    let text = black_box("äöü");
    let mut sum = 0;
    match letter {
        b'a' => sum += row[digit],
        b'b' => sum += other[digit],
        b'c' => sum += row[digit + 1],
        b'd' => sum += map[&digit],
        b'e' => sum += row[2..digit].len() as u64,
        b'f' => sum += text[1..].len() as u64,
        b'g' => sum += black_box(row).remove(digit),
        _ => {}
    }
    sum
}

#[inline(never)]
fn values(letter: u8, digit: usize) -> u64 {
    let nothing: Option<u64> = black_box(None);
    let cell = RefCell::new(digit);
    let small = black_box(200u8).wrapping_add((digit as u8) & 1);
    match letter {
        b'h' => nothing.unwrap(),
        b'i' => 1 + nothing.unwrap(),
        b'j' => nothing.expect("a value"),
        b'k' => black_box("x").parse::<u64>().unwrap(),
        b'l' => u64::from(small + black_box(100)),
        b'm' => u64::from(black_box(1u8) - small),
        b'n' => {
            let first = cell.borrow_mut();
            let second = cell.borrow_mut();
            (*first + *second) as u64
        }
        _ => 0,
    }
}

#[inline(never)]
fn nests(letter: u8, digit: usize, depth: u64) -> u64 {
    match letter {
        b'o' => panic!("one of two, {digit}"),
        b'p' => panic!("two of two, {digit}"),
        b'q' => {
            assert_eq!(digit, black_box(1000), "the digit");
            1
        }
        b'r' => std::process::abort(),
        // SAFETY: none; this is one of the crashes.
        b's' => unsafe { *black_box(std::ptr::null_mut::<u64>()) = 7; 1 },
        b't' => black_box([depth; 32])[3] + nests(letter, digit, depth + 1),
        _ => depth,
    }
}

fn main() {
    let mut text = Vec::new();
    std::io::stdin().take(64).read_to_end(&mut text).expect("an input");
    if text.len() < 3 || text[0] != b'!' {
        return;
    }
    let digit = usize::from(text[2]);
    black_box(tables(text[1], digit) + values(text[1], digit) + nests(text[1], digit, 0));
}
