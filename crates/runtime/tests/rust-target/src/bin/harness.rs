//! The same, as a harness in the manner of libFuzzer.
#![no_main]

#[unsafe(no_mangle)]
extern "C" fn LLVMFuzzerTestOneInput(data: *const u8, size: usize) -> i32 {
    // SAFETY: the driver passes a buffer of that size.
    let input = unsafe { std::slice::from_raw_parts(data, size) };
    if rust_target::depth(input) == Some(7) {
        std::process::exit(7);
    }
    0
}
