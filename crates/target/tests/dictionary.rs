//! Dictionaries: files and folders that users give, and texts of programs.

mod common;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use wug_target::dictionary::{Sections, load, of_program};
use wug_target::{Executor, Target};

fn place(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("dictionary").join(name);
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).unwrap();
    path
}

#[test]
fn files_and_folders_are_loaded() {
    let place = place("load");
    let file = place.join("a.dict");
    fs::write(&file, "a=\"x\"\nb@1=\"y\"\n").unwrap();
    assert_eq!(load(file.as_os_str()).unwrap(), [b"x"]);
    let level = |level: &str| load(format!("{}@{level}", file.display()).as_ref());
    assert_eq!(level("1").unwrap(), [b"x", b"y"]);
    let folder = place.join("tokens");
    fs::create_dir(&folder).unwrap();
    for (name, token) in [("2", &b"\0\xff"[..]), ("1", b"one"), ("3", b"")] {
        fs::write(folder.join(name), token).unwrap();
    }
    assert_eq!(load(folder.as_os_str()).unwrap(), [&b"one"[..], b"\0\xff"]);
}

#[test]
fn mistakes_are_told_with_their_place() {
    let place = place("mistakes");
    let message = |name: &str, bytes: &[u8]| {
        fs::write(place.join(name), bytes).unwrap();
        let error = load(place.join(name).as_os_str()).unwrap_err();
        error.to_string().replace(place.to_str().unwrap(), "P")
    };
    let two = "P/a:2:1: a token is written as name=\"value\"\nP/a:3:4: after `\\` stands `\\`, `\"` or `xNN`";
    assert_eq!(message("a", b"ok=\"1\"\nwhile\nx=\"\\n\"\n"), two);
    assert_eq!(message("b", b"# nothing\n"), "the dictionary `P/b` has no tokens");
    assert_eq!(
        message("c", &vec![b'#'; (16 << 20) + 1]),
        "cannot read the dictionary `P/c`: it has more than 16777216 bytes"
    );
    assert!(
        load(place.join("absent@1").as_os_str()).unwrap_err().to_string().contains("absent`: No such file")
    );
}

#[test]
fn texts_of_a_program_are_tokens() {
    let program = common::build("cc", &["-g"], "words.c", "words");
    let tokens = of_program(&program, Sections::ReadOnly).unwrap();
    let has = |tokens: &[Vec<u8>], word: &str| {
        tokens.iter().filter(|token| token.as_slice() == word.as_bytes()).count()
    };
    for word in ["procedure", "begin", "end", "odd"] {
        assert_eq!(has(&tokens, word), 1, "{word}");
    }
    for word in ["if", "xy", "assigned", "__AFL_SHM_ID", "main"] {
        assert_eq!(has(&tokens, word), 0, "{word}");
    }
    assert!(tokens.iter().all(|token| (3..=32).contains(&token.len())));
    let all = of_program(&program, Sections::AllData).unwrap();
    assert_eq!(has(&all, "assigned"), 1);
    assert!(tokens.iter().all(|token| all.contains(token)));
    // What is no program has no texts.
    assert!(of_program(&common::sources().join("words.c"), Sections::AllData).unwrap().is_empty());
    assert!(of_program(Path::new("/nowhere"), Sections::AllData).is_err());
}

/// The plain compiler's object has the program's texts alone.
#[test]
fn texts_of_our_own_runtime_are_in_no_dictionary() {
    let text = r###"
        #include <stdio.h>
        #include <string.h>
        static const char *const own[] = {"wugs", "traced", "AFL_like", "WUG_own", "__AFL", "##SIGN", "error: mine"};
        int check(const char *text) {
            for (unsigned i = 0; i < sizeof own / sizeof *own; i++)
                if (!strcmp(text, own[i])) return 0;
            return 1;
        }
        #ifdef HARNESS
        int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size) {
            char line[64] = {0};
            memcpy(line, data, size < 63 ? size : 63);
            return check(line);
        }
        #else
        int main(void) {
            char line[64] = {0};
            return !fread(line, 1, 63, stdin) || check(line);
        }
        #endif
    "###;
    let place = place("own");
    let source = place.join("own.c");
    fs::write(&source, text).unwrap();
    let source = source.to_str().unwrap();
    for compiler in ["gcc", "clang"].into_iter().filter(|compiler| common::has(compiler)) {
        for flags in
            [&[][..], &["--wug-traced"], &["-DHARNESS"], &["-DHARNESS", "--wug-traced"], &["-static"]]
        {
            let object = place.join("plain.o");
            let mut plain = Command::new(compiler);
            plain
                .args(flags.iter().filter(|flag| flag.starts_with("-D")))
                .args(["-c", source, "-o"])
                .arg(&object);
            assert!(plain.status().unwrap().success());
            let expected: BTreeSet<Vec<u8>> = texts(&object);
            assert_eq!(expected.len(), 7, "{expected:?}");
            let program = common::build_native(compiler, flags, source, "dictionary-own");
            let mut executor = Executor::new(Target::new(&program), wug_target::Options::default()).unwrap();
            executor.run(b"x").unwrap();
            let told: BTreeSet<Vec<u8>> = executor.dictionary().into_iter().collect();
            if flags.contains(&"-static") {
                // libc's texts are in it, too.
                assert!(expected.is_subset(&told) && expected.is_subset(&texts(&program)), "{told:?}");
                let ours = |text: &Vec<u8>| text.starts_with(b"__AFL_") || text.starts_with(b"__WUG_");
                assert!(!told.iter().any(ours) && !texts(&program).iter().any(ours), "{told:?}");
                continue;
            }
            assert_eq!(texts(&program), expected, "{compiler} {flags:?}");
            assert_eq!(told, expected, "{compiler} {flags:?}");
        }
    }
}

fn texts(program: &Path) -> BTreeSet<Vec<u8>> {
    of_program(program, Sections::ReadOnly).unwrap().into_iter().collect()
}

/// `strings` shares no code with us.
#[test]
fn texts_are_those_that_strings_shows() {
    if !common::has("strings") || !common::has("objcopy") {
        return;
    }
    let program = std::env::current_exe().unwrap();
    let data = place("strings").join("rodata");
    let mut copy = Command::new("objcopy");
    copy.args(["-O", "binary", "--only-section=.rodata"]).args([&program, &data]);
    assert!(copy.status().unwrap().success());
    let shown = Command::new("strings").args(["-a", "-n", "3"]).arg(&data).output().unwrap().stdout;
    // To `strings` tabs are printable, so its texts are cut there.
    let shown =
        shown.split(|&byte| byte == b'\n' || byte == b'\t').filter(|text| (3..=32).contains(&text.len()));
    let shown: BTreeSet<&[u8]> = shown.collect();
    let tokens = of_program(&program, Sections::ReadOnly).unwrap();
    assert!((50..4096).contains(&tokens.len()), "{}", tokens.len());
    assert_eq!(tokens.iter().map(Vec::as_slice).collect::<BTreeSet<_>>(), shown);
}
