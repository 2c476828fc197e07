//! A small program file, as a linker would write it: code, symbols, and an
//! unwind table for each of three functions.

/// Where its code is.
pub const TEXT: u64 = 0x1000;
/// The length of each function.
pub const FUNCTION: u64 = 0x100;
/// Its functions, as the symbol table has them.
pub const NAMES: [&str; 3] = ["parse", "_ZN2my6StringC1Ev", "_ZN3own5parse17h0123456789abcdefE"];

/// Name, kind, flags, address, bytes, link, size of an entry.
type Section<'a> = (u32, u32, u64, u64, &'a [u8], u32, u64);

/// The bytes of the file.
pub fn file() -> Vec<u8> {
    let text = vec![0x90; (FUNCTION * NAMES.len() as u64) as usize];
    let tables = eh_frame();
    let (symbols, names) = symbols();
    let section_names = b"\0.text\0.eh_frame\0.symtab\0.strtab\0.shstrtab\0";
    let sections: [Section; 5] = [
        (1, 1, 6, TEXT, &text, 0, 0),
        (7, 1, 2, 0x2000, &tables, 0, 0),
        (17, 2, 0, 0, &symbols, 4, 24),
        (25, 3, 0, 0, &names, 0, 0),
        (33, 3, 0, 0, section_names, 0, 0),
    ];
    let mut out = vec![0; TEXT as usize];
    let mut headers = vec![0; 64];
    for (name, kind, flags, address, bytes, link, entry) in sections {
        let offset = out.len() as u64;
        out.extend_from_slice(bytes);
        out.resize(out.len().next_multiple_of(16), 0);
        headers.extend(words32(&[name, kind]));
        headers.extend(words64(&[flags, address, offset, bytes.len() as u64]));
        headers.extend(words32(&[link, 1]));
        headers.extend(words64(&[16, entry]));
    }
    let (table, length) = (out.len() as u64, out.len() as u64);
    out.extend_from_slice(&headers);
    let mut head = vec![0x7f, b'E', b'L', b'F', 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 0, 62, 0, 1, 0, 0, 0];
    head.extend(words64(&[TEXT, 64, table]));
    head.extend(words32(&[0]));
    head.extend([64u16, 56, 1, 64, 6, 5].iter().flat_map(|word| word.to_le_bytes()));
    // One segment with all of it.
    head.extend(words32(&[1, 5]));
    head.extend(words64(&[0, 0, 0, length, length, 0x1000]));
    out[..head.len()].copy_from_slice(&head);
    out
}

fn words32(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn words64(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn symbols() -> (Vec<u8>, Vec<u8>) {
    let (mut table, mut names) = (vec![0; 24], vec![0]);
    for (number, name) in NAMES.iter().enumerate() {
        table.extend(words32(&[names.len() as u32]));
        // A global function in the first section.
        table.extend([0x12, 0, 1, 0]);
        table.extend(words64(&[TEXT + number as u64 * FUNCTION, FUNCTION]));
        names.extend_from_slice(name.as_bytes());
        names.push(0);
    }
    (table, names)
}

/// The caller's stack pointer is 16 above that of each function, its frame
/// pointer and the return address below.
fn eh_frame() -> Vec<u8> {
    let entry = |body: Vec<u8>| {
        let mut entry = body;
        entry.resize(entry.len().next_multiple_of(4), 0);
        [words32(&[entry.len() as u32]), entry].concat()
    };
    let mut out = entry(vec![
        0, 0, 0, 0, 1, b'z', b'R', 0, 1, 0x78, 16, 1, 0x04, // addresses of 8 bytes, as they are
        0x0c, 7, 16, 0x90, 1, 0x86, 2,
    ]);
    for number in 0..NAMES.len() as u64 {
        let back = out.len() as u32 + 4;
        let mut body = words32(&[back]);
        body.extend(words64(&[TEXT + number * FUNCTION, FUNCTION]));
        body.extend([0, 0x41, 0x0e, 16]);
        out.extend(entry(body));
    }
    out.extend([0; 4]);
    out
}
