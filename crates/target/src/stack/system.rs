//! Which functions are not a program's own: those of libc, of the runtimes of
//! languages and of sanitizers, and what they do about a crash.
//!
//! In:  a function's name as its file has it, and the file.
//! Out: whether it says nothing about where a program's mistake is.
//!
//! Libraries of code to be tested (libxml2, say) count as the program's own.
//! Telling the two apart by folder was rejected: distributions put both into
//! one.

/// Files of systems, of runtimes and of sanitizers: what stands before
/// `.so`, or before a version.
const FILES: [&str; 31] = [
    "libc",
    "ld-linux",
    "ld-linux-x86-64",
    "ld-musl-x86_64",
    "ld",
    "libc.musl-x86_64",
    "libpthread",
    "libm",
    "libmvec",
    "librt",
    "libdl",
    "libstdc++",
    "libc++",
    "libc++abi",
    "libsupc++",
    "libgcc_s",
    "libunwind",
    "libasan",
    "libubsan",
    "liblsan",
    "libtsan",
    "libmsan",
    "libhwasan",
    "libclang_rt",
    "libjemalloc",
    "libtcmalloc",
    "libtcmalloc_minimal",
    "libmimalloc",
    "libscudo",
    "linux-vdso",
    "libstd",
];

/// Functions of C by how they begin, wherever they are.
const PREFIXES: [&str; 29] = [
    "__asan",
    "__ubsan",
    "__msan",
    "__tsan",
    "__lsan",
    "__hwasan",
    "__sanitizer",
    "__interceptor_",
    "___interceptor_",
    "__assert",
    "__cxa_",
    "__gxx_",
    "__gcc_",
    "__rust_",
    "__rustc",
    "rust_",
    "__GI_",
    "__libc_",
    "__stack_chk",
    "__chk_fail",
    "__fortify",
    "_Unwind_",
    "__wug",
    "wug_",
    "__afl",
    "__gcov",
    "__restore_rt",
    "__pthread_",
    "__sigaction",
];

/// Functions of C, wherever they are: they end programs or begin them.
const NAMES: [&str; 11] = [
    "abort",
    "raise",
    "gsignal",
    "pthread_kill",
    "tgkill",
    "exit",
    "_exit",
    "_start",
    "malloc_printerr",
    "terminate",
    "start_thread",
];

/// Functions of libc that crash if they are given nonsense, and those that
/// call them: where libc is linked into the program.
const LIBC: &str = " \
    memcpy memmove memset memcmp memchr memrchr mempcpy memmem memccpy rawmemchr bcopy bcmp bzero \
    strlen strnlen strcpy strncpy stpcpy stpncpy strlcpy strlcat strcat strncat strcmp strncmp strcasecmp \
    strncasecmp strchr strrchr strchrnul strstr strcasestr strspn strcspn strpbrk strtok strtok_r strsep \
    strdup strndup strcoll strxfrm strerror strsignal index rindex \
    wmemcpy wmemset wmemcmp wmemchr wcslen wcscpy wcscmp wcschr wcsncpy wcscat \
    malloc calloc realloc reallocarray free cfree memalign aligned_alloc posix_memalign valloc pvalloc \
    malloc_consolidate malloc_usable_size sysmalloc unlink_chunk systrim tcache_get tcache_put \
    printf fprintf sprintf snprintf vprintf vfprintf vsprintf vsnprintf asprintf vasprintf dprintf \
    scanf fscanf sscanf vsscanf vfscanf puts fputs fputc putc putchar fwrite fread fgets fgetc getc getchar \
    getline getdelim ungetc fopen fclose fflush fseek ftell rewind setvbuf fdopen freopen fileno \
    fputs_unlocked fwrite_unlocked printf_positional vfwprintf vfprintf_internal buffered_vfprintf \
    qsort qsort_r bsearch lfind lsearch tsearch tfind hsearch \
    atoi atol atoll atof strtol strtoul strtoll strtoull strtod strtof strtold \
    read write open close lseek mmap munmap stat fstat \
    getenv setenv putenv time localtime gmtime mktime strftime ctime asctime gettimeofday \
    setjmp longjmp siglongjmp atexit on_exit msort_with_tmp quicksort \
    toupper tolower isalpha isdigit setlocale iconv iconv_open mbstowcs wcstombs mbrtowc wcrtomb \
    regcomp regexec regfree glob fnmatch alloca error error_at_line err errx warn warnx perror ";

/// Whether a file belongs to the system.
pub fn is_system_file(path: &str) -> bool {
    let name = base(path);
    if name.starts_with("[vdso") || name.starts_with("[vsyscall") {
        return true;
    }
    let stem = name.split(".so").next().unwrap_or(name);
    // libc-2.31.so, libstd-0123abcd.so, libclang_rt.asan-x86_64.so
    let stem = if stem.starts_with("libclang_rt") { "libclang_rt" } else { stem };
    let versioned = stem
        .rsplit_once('-')
        .filter(|(before, after)| after.starts_with(|c: char| c.is_ascii_digit()) || *before == "libstd");
    name.contains(".so")
        && (FILES.contains(&stem) || versioned.is_some_and(|(before, _)| FILES.contains(&before)))
}

/// Whether a function is not a program's own. `raw` is its name in the file,
/// `plain` the same for people; `contained` says that the file holds more
/// than a program's own code.
pub fn is_system_function(raw: &str, plain: &str, contained: bool) -> bool {
    if is_rust(raw) {
        return is_of_rust(plain);
    }
    if let Some(mangled) = raw.strip_prefix("_Z") {
        return is_of_cpp(mangled);
    }
    // A sanitizer's report may have names for people only.
    if plain.contains("::") {
        return is_of_rust(plain) || plain.starts_with("__");
    }
    // Compilers name parts of functions: parse.cold, parse.part.0
    let name = raw.split(['.', '@']).next().unwrap_or(raw);
    NAMES.contains(&name)
        || PREFIXES.iter().any(|prefix| name.starts_with(prefix))
        || contained && (is_reserved(name) || is_of_libc(name))
}

/// Whether a sanitizer put this before a function of libc.
pub fn is_interceptor(raw: &str) -> bool {
    raw.starts_with("__interceptor_") || raw.starts_with("___interceptor_")
}

/// Names that the standard of C keeps for the system, and those of glibc.
fn is_reserved(name: &str) -> bool {
    const OF_GLIBC: [&str; 6] = ["_int_", "_dl_", "_nl_", "_mid_", "_itoa", "_fitoa"];
    let mut characters = name.chars();
    characters.next() == Some('_') && characters.next().is_some_and(|c| c == '_' || c.is_ascii_uppercase())
        || OF_GLIBC.iter().any(|prefix| name.starts_with(prefix))
}

fn is_of_libc(name: &str) -> bool {
    // One text with spaces: a table of so many texts would be all quotes.
    LIBC.split_ascii_whitespace().any(|known| known == name)
}

/// Both ways in which Rust mangles.
fn is_rust(raw: &str) -> bool {
    let raw = raw.split(".llvm.").next().unwrap_or(raw);
    let hashed = || {
        let hash = raw.strip_suffix('E').and_then(|rest| rest.get(rest.len().checked_sub(19)?..));
        hash.and_then(|hash| hash.strip_prefix("17h"))
            .is_some_and(|hash| hash.bytes().all(|byte| byte.is_ascii_hexdigit()))
    };
    raw.starts_with("_R") || raw.starts_with("_ZN") && hashed()
}

/// Crates that every program of Rust has.
const CRATES: [&str; 9] = [
    "core",
    "alloc",
    "std",
    "__rustc",
    "panic_unwind",
    "panic_abort",
    "compiler_builtins",
    "hashbrown",
    "rustc_demangle",
];

/// `core::panicking::panic_fmt`, `<alloc::vec::Vec<T> as core::…>::index`,
/// `<T as core::convert::Into<U>>::into`; not `<own::Type as core::…>::drop`.
fn is_of_rust(plain: &str) -> bool {
    let crate_of = |path: &str| {
        let path = path.trim_start_matches(['<', '&', '[', '(', '*']);
        let path = path.trim_start_matches("mut ").trim_start_matches("const ").trim_start_matches("dyn ");
        let end = path.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(path.len());
        (path[..end].to_string(), path[end..].starts_with("::"))
    };
    if !plain.starts_with('<') {
        return CRATES.contains(&crate_of(plain).0.as_str());
    }
    let (name, is_path) = crate_of(plain);
    if is_path {
        return CRATES.contains(&name.as_str());
    }
    // A parameter, or a type without a crate: the trait tells.
    match plain.split_once(" as ") {
        Some((_, of)) => CRATES.contains(&crate_of(of).0.as_str()),
        None => true,
    }
}

/// Names behind `_Z`: those of `std`, of namespaces that are reserved, and
/// operators `new` and `delete`.
fn is_of_cpp(mangled: &str) -> bool {
    if ["nw", "na", "dl", "da"].iter().any(|operator| mangled.starts_with(operator)) {
        return true;
    }
    let name = mangled.strip_prefix('N').unwrap_or(mangled);
    let name = name.trim_start_matches(['K', 'V', 'r', 'R', 'O', 'L']);
    if let Some(rest) = name.strip_prefix('S') {
        return rest.starts_with(['t', 'a', 'b', 's', 'i', 'o', 'd']);
    }
    let name = name.trim_start_matches(|c: char| c.is_ascii_digit());
    mangled.starts_with('N') && name.starts_with("__")
}

/// The name of a file without its folder.
pub fn base(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_told_by_their_names_without_versions() {
        let system =
            ["/lib/libc.so.6", "/lib/libc-2.31.so", "/x/ld-linux-x86-64.so.2", "libstdc++.so.6.0.30"];
        let own =
            ["/bin/target", "/lib/libxml2.so.2", "/lib/libc-client.so.2007", "libmagic.so", "libcrypto.so.3"];
        assert!(system.iter().all(|path| is_system_file(path)));
        assert!(is_system_file("libclang_rt.asan-x86_64.so") && is_system_file("[vdso]"));
        assert!(own.iter().all(|path| !is_system_file(path)), "{own:?}");
    }

    #[test]
    fn functions_are_told_by_language() {
        let check = |raw: &str, system: bool, contained: bool| {
            let plain = addr2line::demangle_auto(raw.into(), None);
            assert_eq!(is_system_function(raw, &plain, contained), system, "{raw}: {plain}");
        };
        for raw in [
            "abort",
            "__assert_fail",
            "__asan_report_load4",
            "_ZSt9terminatev",
            "_ZNSt6vectorIiSaIiEE2atEm",
            "_ZNKSs2atEm",
            "_Znwm",
            "_ZN10__cxxabiv111__terminateEPFvvE",
            "_ZN4core9panicking9panic_fmt17h0123456789abcdefE",
            "_ZN77_$LT$alloc..vec..Vec$LT$T$GT$$u20$as$u20$core..ops..index..Index$LT$I$GT$$GT$5index17h0123456789abcdefE",
            "_ZN50_$LT$T$u20$as$u20$core..convert..Into$LT$U$GT$$GT$4into17h0123456789abcdefE",
            "_RNvNtCs1234_4core9panicking9panic_fmt",
        ] {
            check(raw, true, false);
        }
        for raw in [
            "main",
            "parse.cold",
            "__own_helper",
            "strlen",
            "_ZN4core5parseEi",
            "_ZN2my6StringC1Ev",
            "_Z5parsev",
            "_ZN3own5parse17h0123456789abcdefE",
            "_ZN51_$LT$own..Type$u20$as$u20$core..ops..drop..Drop$GT$4drop17h0123456789abcdefE",
        ] {
            check(raw, false, false);
        }
        // In a program that holds libc, its functions are known by name.
        for raw in ["strlen", "__strlen_avx2", "_int_free", "_IO_fread", "free"] {
            check(raw, true, true);
        }
        for raw in ["parse", "string", "member", "_private"] {
            check(raw, false, true);
        }
    }
}
