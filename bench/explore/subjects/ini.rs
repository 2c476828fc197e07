//! rust-ini: the whole input must be an ini file.

use std::io::Read;

fn main() {
    let mut text = String::new();
    let read = std::io::stdin().read_to_string(&mut text);
    if read.is_err() || ini::Ini::load_from_str(&text).is_err() {
        std::process::exit(1);
    }
}
