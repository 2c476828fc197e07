//! The address of a function, by its name.

use super::ranged::Ranged;
use object::{Object, ObjectSegment, ObjectSymbol, SymbolKind};
use std::path::Path;
use wug_files::regular;

/// Headers, symbols and names of a file, in bytes.
const MAX_READ: u64 = 256 << 20;
/// Symbols beyond are not looked at.
const MAX_SYMBOLS: usize = 2_000_000;

/// Where a function of a program begins, counted from where the program is
/// loaded. Its name is that of the symbol table, or as people write it, without
/// its parameters.
pub fn symbol_address(program: &Path, name: &str) -> Option<u64> {
    let file = regular::open(program).ok()?;
    let file = Ranged::new(&file, MAX_READ);
    let object = object::File::parse(&file).ok()?;
    let base = object.segments().map(|segment| segment.address()).min()?;
    let is_it = |raw: &str| {
        if raw == name {
            return true;
        }
        let people = addr2line::demangle_auto(raw.into(), None);
        people.split('(').next() == Some(name)
    };
    let found = object.symbols().take(MAX_SYMBOLS).find(|symbol| {
        symbol.kind() == SymbolKind::Text && symbol.is_definition() && symbol.name().is_ok_and(is_it)
    })?;
    // 0 is no place of a function: there is the head of the file.
    found.address().checked_sub(base).filter(|address| *address > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_found_by_any_of_their_names() {
        let program = std::env::current_exe().expect("a program");
        let main = symbol_address(&program, "main").expect("every program has one");
        assert!(main > 0);
        assert_eq!(symbol_address(&program, "no_such_function_of_ours"), None);
        assert_eq!(symbol_address(Path::new("/dev/null"), "main"), None);
        let demangled = "std::process::exit";
        assert!(symbol_address(&program, demangled).is_none_or(|address| address != main));
    }
}
