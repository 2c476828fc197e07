//! The header and its Rust mirror say the same: the machine's C compiler is
//! the judge.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::mem::offset_of;
use std::process::Command;
use wug_runtime::abi::{self, *};

/// Names of fields with their offsets, and the size of the whole under `""`.
type Layout = (&'static str, Vec<(&'static str, usize)>);

macro_rules! layout {
    ($name:literal, $type:ty, $($field:ident),*) => {
        ($name, vec![$((stringify!($field), offset_of!($type, $field)),)* ("", size_of::<$type>())])
    };
}

fn layouts() -> Vec<Layout> {
    vec![
        layout!("region", Region, offset, capacity),
        layout!("crash", Crash, signal, code, address, frame_count, depth, frames),
        layout!(
            "board",
            Board,
            magic,
            version,
            size,
            map,
            input,
            events,
            pairs,
            pair_order,
            dictionary,
            modules,
            wants,
            input_length,
            stop_run,
            input_fd,
            features,
            map_used,
            module_count,
            dictionary_used,
            state,
            run,
            finished,
            child_pid,
            cpu_ns,
            event_count,
            pair_count,
            max_depth,
            reserved2,
            crash,
            batch,
            seen,
            batch_count,
            batch_at,
            crash_codes,
            input_device,
            input_inode,
            fork_site,
            late,
            late_call,
            late_notes,
            late_calls
        ),
        layout!("module", Module, base, end, first_id, ids, ready, reserved, path),
        layout!(
            "event", Event, kind, size, flags, function, site, module, depth, pairs, context, near, a, b, of
        ),
    ]
}

/// Compiles a C program around the header, runs it, reads `name value` lines.
fn c_values(name: &str, body: &str) -> BTreeMap<String, u64> {
    let folder = std::env::temp_dir().join(format!("wug-abi-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("wug.h"), abi::HEADER).unwrap();
    let source = format!(
        "#include \"wug.h\"\n#include <stdio.h>\n#include <stddef.h>\n\
         int main(void) {{\n{body}return 0;\n}}\n"
    );
    std::fs::write(folder.join("values.c"), source).unwrap();
    let binary = folder.join("values");
    let status = Command::new("cc")
        .args(["-Wall", "-Werror", "-std=c99", "-o"])
        .arg(&binary)
        .arg(folder.join("values.c"))
        .status()
        .expect("a C compiler");
    assert!(status.success());
    let output = Command::new(&binary).output().unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines()
        .map(|line| {
            let (name, value) = line.rsplit_once(' ').unwrap();
            (name.to_string(), value.parse().unwrap())
        })
        .collect()
}

/// Names after `#define WUG_` with a value that is a number.
fn defined() -> Vec<&'static str> {
    abi::HEADER
        .lines()
        .filter_map(|line| line.strip_prefix("#define WUG_"))
        .filter_map(|rest| rest.split_once(' '))
        .filter(|(_, value)| !value.starts_with('"'))
        .map(|(name, _)| name)
        .collect()
}

#[test]
fn constants_and_layouts_agree() {
    let mut body = String::new();
    for name in defined() {
        writeln!(body, "printf(\"{name} %llu\\n\", (unsigned long long)WUG_{name});").unwrap();
    }
    for (name, fields) in layouts() {
        for (field, _) in fields {
            let value = if field.is_empty() {
                format!("sizeof(struct wug_{name})")
            } else {
                format!("offsetof(struct wug_{name}, {field})")
            };
            writeln!(body, "printf(\"{name}.{field} %zu\\n\", (size_t){value});").unwrap();
        }
    }
    let mut rust: BTreeMap<String, u64> = BTreeMap::new();
    for (name, value) in CONSTANTS {
        rust.insert((*name).to_string(), *value);
    }
    for (name, fields) in layouts() {
        for (field, offset) in fields {
            rust.insert(format!("{name}.{field}"), offset as u64);
        }
    }
    assert_eq!(c_values("layout", &body), rust);
    assert_eq!(size_of::<Event>(), 128, "a slot of the ring is two cache lines");
    assert!(size_of::<Board>() <= MAP_PAGE as usize, "the board is one page");
}

#[test]
fn names_in_the_environment_agree() {
    let names = [
        ("BOARD", ENV_BOARD),
        ("FORKSERVER", ENV_FORKSERVER),
        ("AFL_MAP", ENV_AFL_MAP),
        ("AFL_INPUT", ENV_AFL_INPUT),
        ("RESERVE", ENV_RESERVE),
    ];
    for (name, value) in names {
        assert!(abi::HEADER.contains(&format!("#define WUG_ENV_{name} \"{value}\"\n")), "{name}");
    }
    assert_eq!(abi::HEADER.matches("#define WUG_ENV_").count(), names.len());
}

#[test]
fn classes_are_those_of_the_c_locale() {
    let names = [
        "alnum", "alpha", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space", "upper",
        "xdigit",
    ];
    let mut body = String::new();
    for name in names {
        writeln!(
            body,
            "{{ extern int is{name}(int); for (int c = 0; c < 256; c++) printf(\"{name} %d %d\\n\", c, !!is{name}(c)); }}"
        )
        .unwrap();
    }
    let c = c_values("classes", &body);
    for (i, name) in names.iter().enumerate() {
        for byte in 0..=255u8 {
            let expected = c[&format!("{name} {byte}")] == 1;
            assert_eq!(in_class(i as u8 + 1, byte), expected, "is{name}({byte})");
        }
    }
}
