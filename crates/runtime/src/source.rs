//! The runtime's source, as text.
//!
//! It is compiled on the user's machine, by the user's compiler, so that it
//! fits any libc and any target that the compiler knows.

use crate::abi;

/// Files that the compiler reads, by name.
pub const FILES: &[(&str, &str)] = &[
    ("wug.h", abi::HEADER),
    ("internal.h", include_str!("../c/internal.h")),
    ("module.c", include_str!("../c/module.c")),
    ("core.c", include_str!("../c/core.c")),
    ("server.c", include_str!("../c/server.c")),
    ("batch.c", include_str!("../c/batch.c")),
    ("pages.c", include_str!("../c/pages.c")),
    ("pins.c", include_str!("../c/pins.c")),
    ("late.h", include_str!("../c/late.h")),
    ("late.c", include_str!("../c/late.c")),
    ("deeds.c", include_str!("../c/deeds.c")),
    ("place.c", include_str!("../c/place.c")),
    ("clocks.c", include_str!("../c/clocks.c")),
    ("trace.c", include_str!("../c/trace.c")),
    ("crash.c", include_str!("../c/crash.c")),
    ("dictionary.c", include_str!("../c/dictionary.c")),
    ("strings.c", include_str!("../c/strings.c")),
    ("wraps.c", include_str!("../c/wraps.c")),
    ("persistent.c", include_str!("../c/persistent.c")),
    ("deferred.c", include_str!("../c/deferred.c")),
    ("testcase.c", include_str!("../c/testcase.c")),
    ("driver.c", include_str!("../c/driver.c")),
    ("engine.c", include_str!("../c/engine.c")),
    ("mutate.c", include_str!("../c/mutate.c")),
    ("pad_first.s", include_str!("../c/pad_first.s")),
    ("pad_last.s", include_str!("../c/pad_last.s")),
];

/// Objects that every executable gets.
pub const CORE: &[&str] = &[
    "module",
    "core",
    "server",
    "late",
    "deeds",
    "place",
    "clocks",
    "batch",
    "pages",
    "pins",
    "trace",
    "crash",
    "dictionary",
];

/// Objects of the archive, linked when a program needs them.
pub const ARCHIVE: &[&str] = &["persistent", "deferred", "testcase", "driver", "engine", "mutate"];

/// The section of the runtime's own texts, apart from those of the program,
/// which may be words of its language.
pub const TEXTS: &str = "wug_texts";

/// Counters get pages of their own.
pub const LINKER_SCRIPT: &str = include_str!("../c/sections.ld");

const COUNTERS: &str = include_str!("../c/counters.s");
const GUARDS: &str = include_str!("../c/guards.s");
const CALLS: &str = include_str!("../c/calls.s");

/// What the assembler reads before the output of gcc.
pub fn prelude(traced: bool, intel: bool) -> String {
    let text = format!("{}{CALLS}", if traced { GUARDS } else { COUNTERS });
    if !intel {
        return text;
    }
    text.replace("incb .Lwug_block\\@(%rip)", "inc byte ptr .Lwug_block\\@[rip]")
        .replace("leaq .Lwug_block\\@(%rip), %rdi", "lea rdi, .Lwug_block\\@[rip]")
}

/// Functions whose calls a traced module leads to `__wrap_NAME`.
pub fn wrapped() -> impl Iterator<Item = &'static str> {
    [
        "isalnum",
        "isalpha",
        "isblank",
        "iscntrl",
        "isdigit",
        "isgraph",
        "islower",
        "isprint",
        "ispunct",
        "isspace",
        "isupper",
        "isxdigit",
        "tolower",
        "toupper",
        "read",
        "pread",
        "fread",
        "fread_unlocked",
        "fgetc",
        "getc",
        "fgetc_unlocked",
        "getc_unlocked",
        "getchar",
        "getchar_unlocked",
        "fgets",
        "fgets_unlocked",
        "feof",
        "getline",
        "getdelim",
    ]
    .into_iter()
}

/// Names that shared libraries look for in an executable.
pub fn exported() -> String {
    let strings = [
        "strcmp",
        "strncmp",
        "strcasecmp",
        "strncasecmp",
        "memcmp",
        "bcmp",
        "strstr",
        "strcasestr",
        "memmem",
        "strchr",
        "index",
        "strrchr",
        "rindex",
        "memchr",
        "strspn",
        "strcspn",
        "strpbrk",
    ];
    let mut names = String::from("{ __wug_register; __sanitizer_weak_hook_*;");
    for name in strings {
        names.push_str(&format!(" {name};"));
    }
    names + " };\n"
}
