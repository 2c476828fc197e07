//! Learning which pages runs touch: children get cheaper, and nothing else
//! changes: each run begins with the memory of the first.

mod support;

use support::*;
use wug_runtime::abi::*;
use wug_runtime::compile::Build::{Fast, Traced};

/// Ends with the number of its page faults, or as the input says. Its
/// constants are spread over many pages, one of which is changed before the
/// fork server starts, as a loader changes what it relocates.
const SPREAD: &str = r#"
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#define PAGES 64
/* Constants behind the compiler's back, which may change. */
__asm__(".pushsection .rodata\n.balign 4096\nconstants: .byte 1\n.zero 64 * 4096 - 1\n.popsection");
extern char constants[] __attribute__((visibility("hidden")));
static char *kept;
__attribute__((constructor(200))) static void change(void) {
    kept = malloc(100);
    kept[0] = 'k';
    char *page = constants + 7 * 4096;
    if (mprotect(page, 4096, PROT_READ | PROT_WRITE)) _exit(4);
    strcpy(page, "changed");
    if (mprotect(page, 4096, PROT_READ)) _exit(4);
}
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct rusage usage;
    char *volatile all = constants;
    int sum = 0;
    char kind = size ? data[0] : 0;
    /* Every run finds the memory of the server, and none of its descriptors. */
    static int set = 1, zero;
    static char many[16 * 4096];
    if (set++ != 1 || zero++ != 0 || kept[0]++ != 'k') exit(6);
    for (size_t page = 0; page < 16; page++)
        if (many[page * 4096]++) exit(6);
    for (int fd = 197; fd < 210; fd++)
        if (fcntl(fd, F_GETFD) >= 0) exit(7);
    for (size_t page = 0; page < PAGES; page++)
        if (page != 7) sum += all[page * 4096];
    if (sum != 1 || strcmp(all + 7 * 4096, "changed")) exit(4);
    if (kind == 'a') abort();
    if (kind == 'h') for (;;) pause();
    if (kind == 'u') exit(munmap(constants, PAGES * 4096) ? 8 : 5);
    if (kind != 'f') return 0;
    getrusage(RUSAGE_SELF, &usage);
    exit(usage.ru_minflt < 245 ? (int)usage.ru_minflt + 10 : 255);
}
"#;

fn faults(target: &mut Native) -> i32 {
    let status = target.run(b"f");
    assert_eq!(status & 0x7f, 0);
    assert!(status >> 8 >= 10, "something is not as it was: {}", status >> 8);
    (status >> 8) - 10
}

#[test]
fn children_find_the_pages_that_runs_before_them_touched() {
    for compiler in compilers() {
        for flags in ["-O2", "-O2 -static", "-O2 -no-pie"] {
            let (_folder, path) = build(compiler, Fast, flags, SPREAD);
            let mut target = Native::start(&path, WANT_FORK);
            let first = faults(&mut target);
            let covered = target.map();
            let watched = faults(&mut target);
            assert_eq!(target.map(), covered, "{compiler} {flags}: a run that is watched covers the same");
            assert!(watched > first + 16, "{compiler} {flags}: pages are counted one by one: {watched}");
            let then = faults(&mut target);
            assert_eq!(target.map(), covered);
            // At least the constants, in windows of 16 pages, and the code.
            assert!(then + 5 <= first, "{compiler} {flags}: {first} faults at first, {then} later");
            for run in 4..=135 {
                let now = faults(&mut target);
                assert!(now <= then + 1 || run == 128, "{compiler} {flags}: {now} in run {run}");
            }
            assert_eq!(target.close().code(), Some(0));
        }
    }
}

/// The second and the 128th run are watched: whatever becomes of them.
#[test]
fn runs_that_are_watched_may_end_in_any_way() {
    let (_folder, path) = build("gcc", Fast, "-O2", SPREAD);
    for deed in [b"a", b"h", b"u"] {
        let mut target = Native::start(&path, WANT_FORK);
        for run in 1..=131 {
            if run != 2 && run != 128 {
                assert_eq!(target.run(b"z"), 0);
                continue;
            }
            let number = target.send(deed);
            if deed == b"h" {
                assert!(target.silent());
                target.stop(number);
            }
            let expected = match deed {
                b"a" => libc::SIGABRT,
                b"h" => libc::SIGKILL,
                _ => exited(5),
            };
            assert_eq!(target.reply(), (number, expected));
        }
        assert!(target.silent());
        assert_eq!(target.close().code(), Some(0));
    }
}

#[test]
fn learning_is_not_logged() {
    let (_folder, path) = build("gcc", Traced, "-O2", SPREAD);
    let mut target = Native::start(&path, WANT_FORK | WANT_EVENTS | WANT_PAIRS);
    assert_eq!(target.run(b"z"), 0);
    let told = |target: &Native| -> Vec<(u8, u32, u64, u64)> {
        target.events().iter().map(|e| (e.kind, e.site, e.a, e.b)).collect()
    };
    let (events, pairs) = (told(&target), target.pairs());
    assert!(!events.is_empty());
    for _ in 2..=130 {
        assert_eq!(target.run(b"z"), 0);
        assert_eq!(told(&target), events);
        assert_eq!(target.pairs(), pairs);
    }
}
