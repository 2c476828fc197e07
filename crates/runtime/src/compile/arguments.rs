//! What a compiler's command line asks for.
//!
//! In:  arguments as given.
//! Out: the same arguments, response files read, each with its role; and what
//!      the command will do.
//!
//! We must know which arguments are values of others (`-o x.c` is no input),
//! and no more.

use super::Error;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;
use std::process::Command;
use wug_files::private::Temporary;

/// How far the command goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Goal {
    /// It only tells something: there is no input.
    Tell,
    /// It stops after the preprocessor (`-E`, `-M`, `-fsyntax-only`).
    Preprocess,
    /// It stops after the compiler (`-S`).
    Assembly,
    /// It stops after the assembler (`-c`).
    Object,
    /// It makes an executable.
    Executable,
    /// It makes a shared library.
    Library,
    /// It joins objects into one (`-r`).
    Relocatable,
}

/// What an input is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// C, C++ or Objective-C.
    Source,
    /// Assembler.
    Assembler,
    /// Something for the linker.
    Object,
    /// Another language of the compiler's.
    Other,
}

/// A command line.
#[derive(Clone, Debug)]
pub struct Invocation {
    /// All arguments, those of response files included.
    pub arguments: Vec<OsString>,
    /// Which arguments are inputs, and what they are.
    pub inputs: Vec<(usize, Kind)>,
    /// How far it goes.
    pub goal: Goal,
    /// Index of the value of `-o`, and where it begins in that argument.
    pub output: Option<(usize, usize)>,
    /// Links without libc.
    pub no_libc: bool,
    /// Brings a linker script of its own, or a linker that does not know ours.
    pub own_script: bool,
    /// A sanitizer that has string functions of its own.
    pub sanitizer: bool,
    /// `-flto`.
    pub lto: bool,
    /// `-masm=intel`.
    pub intel: bool,
    /// `-m32` or the like: not the compiler's usual target.
    pub narrow: bool,
    /// Arguments that say which machine to build for; the runtime needs them
    /// too.
    pub target: Vec<OsString>,
}

/// Options whose value is the next argument.
const WITH_VALUE: &[&str] = &[
    "-o",
    "-x",
    "-I",
    "-L",
    "-D",
    "-U",
    "-A",
    "-B",
    "-T",
    "-u",
    "-z",
    "-e",
    "-l",
    "-h",
    "-G",
    "-MF",
    "-MT",
    "-MQ",
    "-include",
    "-imacros",
    "-isystem",
    "-iquote",
    "-idirafter",
    "-iprefix",
    "-iwithprefix",
    "-iwithprefixbefore",
    "-isysroot",
    "-imultilib",
    "-include-pch",
    "-Xlinker",
    "-Xassembler",
    "-Xpreprocessor",
    "-Xclang",
    "-mllvm",
    "-target",
    "--target",
    "--sysroot",
    "--param",
    "-aux-info",
    "-dumpbase",
    "-dumpbase-ext",
    "-dumpdir",
    "-wrapper",
    "-specs",
    "--specs",
    "-arch",
    "-framework",
    "-Tbss",
    "-Tdata",
    "-Ttext",
    "-Xarch_host",
    "-stdlib++-isystem",
    "-cxx-isystem",
    "--output",
    "--include",
    "--language",
    "--entry",
    "--force-link",
];

impl Invocation {
    /// Reads a command line.
    pub fn read(arguments: &[OsString]) -> Result<Invocation, Error> {
        let mut expanded = Vec::new();
        expand(arguments, 0, &mut expanded)?;
        let mut it = Invocation {
            arguments: Vec::new(),
            inputs: Vec::new(),
            goal: Goal::Executable,
            output: None,
            no_libc: false,
            own_script: false,
            sanitizer: false,
            lto: false,
            intel: false,
            narrow: false,
            target: Vec::new(),
        };
        let mut language: Option<Kind> = None;
        let mut rest = expanded.into_iter();
        while let Some(argument) = rest.next() {
            let bytes = argument.as_bytes();
            if bytes == b"-" || !bytes.starts_with(b"-") {
                let kind = language.unwrap_or_else(|| by_extension(bytes));
                it.inputs.push((it.arguments.len(), kind));
                it.arguments.push(argument);
                continue;
            }
            let Some(name) = argument.to_str().map(str::to_string) else {
                it.arguments.push(argument);
                continue;
            };
            if WITH_VALUE.contains(&name.as_str()) {
                let value = rest.next();
                it.valued(&name, argument, value, &mut language);
            } else {
                it.flag(&name, &mut language);
                if let Some(kept) = kept(&name) {
                    it.arguments.push(kept.into());
                }
            }
        }
        if it.inputs.is_empty() {
            it.goal = Goal::Tell;
        }
        // Some, like rustc, want no libraries by default and name them all.
        it.no_libc &= !it.arguments.iter().any(|argument| argument == "-lc");
        Ok(it)
    }

    /// Whether any input is of this kind.
    pub fn has(&self, kind: Kind) -> bool {
        self.inputs.iter().any(|(_, k)| *k == kind)
    }

    /// The value of `-o`.
    pub fn output(&self) -> Option<OsString> {
        let (index, from) = self.output?;
        Some(OsStr::from_bytes(&self.arguments[index].as_bytes()[from..]).to_os_string())
    }

    /// The arguments without `-o` and its value.
    pub fn without_output(&self) -> Vec<OsString> {
        self.kept_arguments(|_| true)
    }

    /// The same with only one of the inputs, and without what writes other
    /// files: dependencies.
    pub fn without(&self, others_than: usize) -> Vec<OsString> {
        let dropped: Vec<usize> = self.inputs.iter().map(|(i, _)| *i).filter(|i| *i != others_than).collect();
        let mut kept = Vec::new();
        let mut arguments = self.kept_arguments(|index| !dropped.contains(&index)).into_iter().peekable();
        while let Some(argument) = arguments.next() {
            match argument.as_bytes() {
                b"-MF" | b"-MT" | b"-MQ" => {
                    arguments.next();
                }
                b"-MD" | b"-MMD" | b"-MP" | b"-MG" => {}
                bytes if [b"-MF", b"-MT", b"-MQ"].iter().any(|o| bytes.starts_with(*o)) => {}
                bytes if bytes.starts_with(b"-Wp,-M") => {}
                _ => kept.push(argument),
            }
        }
        kept
    }

    fn kept_arguments(&self, keep: impl Fn(usize) -> bool) -> Vec<OsString> {
        let is_output = |index: usize| match self.output {
            Some((at, 0)) => index == at || index + 1 == at,
            Some((at, _)) => index == at,
            None => false,
        };
        let all = self.arguments.iter().enumerate();
        all.filter(|(index, _)| keep(*index) && !is_output(*index)).map(|(_, a)| a.clone()).collect()
    }

    fn valued(
        &mut self,
        name: &str,
        argument: OsString,
        value: Option<OsString>,
        language: &mut Option<Kind>,
    ) {
        let text = value.as_deref().and_then(OsStr::to_str).unwrap_or("").to_string();
        match name {
            "-x" | "--language" => *language = by_language(&text),
            "-T" => self.own_script = true,
            "-Xlinker" => self.linker(&text),
            "-target" | "--target" | "--sysroot" | "-isysroot" => {
                self.narrow |= name.ends_with("target");
                self.target.push(argument.clone());
                self.target.extend(value.clone());
            }
            _ => {}
        }
        self.arguments.push(argument);
        if let Some(value) = value {
            if name == "-o" || name == "--output" {
                self.output = Some((self.arguments.len(), 0));
            }
            self.arguments.push(value);
        }
    }

    fn flag(&mut self, name: &str, language: &mut Option<Kind>) {
        let stops = |goal: &mut Goal, at: Goal| {
            // The earliest stop wins, whatever the order.
            if order(at) < order(*goal) {
                *goal = at;
            }
        };
        match name {
            "-E" | "-M" | "-MM" | "-fsyntax-only" | "--preprocess" | "-###" => {
                stops(&mut self.goal, Goal::Preprocess)
            }
            "-S" | "--assemble" | "-emit-llvm" => stops(&mut self.goal, Goal::Assembly),
            "-c" | "--compile" => stops(&mut self.goal, Goal::Object),
            "-r" | "--relocatable" => stops(&mut self.goal, Goal::Relocatable),
            "-shared" | "--shared" => stops(&mut self.goal, Goal::Library),
            "-nostdlib" | "-nodefaultlibs" | "-nolibc" | "--no-standard-libraries" => self.no_libc = true,
            "-masm=intel" => self.intel = true,
            "-fno-lto" => self.lto = false,
            "-m32" | "-mx32" | "-m16" => {
                self.narrow = true;
                self.target.push(name.into());
            }
            "-m64" => self.target.push(name.into()),
            "-fuse-ld=gold" | "-fuse-ld=mold" => self.own_script = true,
            _ => {
                if let Some(path) = name.strip_prefix("-o") {
                    if !path.is_empty() && !name.starts_with("-obj") {
                        self.output = Some((self.arguments.len(), 2));
                    }
                } else if let Some(value) = name.strip_prefix("-x") {
                    *language = by_language(value);
                } else if let Some(list) = name.strip_prefix("-Wl,") {
                    list.split(',').for_each(|option| self.linker(option));
                } else if is_script(name) {
                    self.own_script = true;
                } else if name.starts_with("-flto") {
                    self.lto = true;
                } else if let Some(list) = name.strip_prefix("-fsanitize=") {
                    self.sanitizer |= list.split(',').any(has_strings);
                } else if let Some(list) = name.strip_prefix("-fno-sanitize=") {
                    self.sanitizer &= !list.split(',').any(|s| s == "all" || has_strings(s));
                } else if name.starts_with("--target=") || name.starts_with("--sysroot=") {
                    self.narrow |= name.starts_with("--target=");
                    self.target.push(name.into());
                }
            }
        }
    }

    fn linker(&mut self, option: &str) {
        match option {
            "-r" | "--relocatable" => self.goal = Goal::Relocatable,
            "-shared" | "--shared" | "-Bshareable" if self.goal == Goal::Executable => {
                self.goal = Goal::Library
            }
            _ if is_script(option) => self.own_script = true,
            _ => {}
        }
    }
}

fn order(goal: Goal) -> u8 {
    match goal {
        Goal::Tell => 0,
        Goal::Preprocess => 1,
        Goal::Assembly => 2,
        Goal::Object => 3,
        Goal::Relocatable => 4,
        Goal::Library => 5,
        Goal::Executable => 6,
    }
}

/// `-Ttext=0x1000` and its like set an address only.
fn is_script(option: &str) -> bool {
    option.starts_with("--script")
        || option.starts_with("-T") && !["-Ttext", "-Tdata", "-Tbss"].iter().any(|o| option.starts_with(o))
}

fn has_strings(sanitizer: &str) -> bool {
    matches!(sanitizer, "address" | "memory" | "thread" | "hwaddress" | "kernel-address")
}

/// What remains of a flag. `-pipe` goes, since the assembler reads our
/// macros from a file before the compiler's output; libFuzzer goes, since our
/// own driver takes its place.
fn kept(name: &str) -> Option<String> {
    if name == "-pipe" {
        return None;
    }
    let Some(list) = name.strip_prefix("-fsanitize=") else {
        return Some(name.to_string());
    };
    let others: Vec<_> = list.split(',').filter(|s| !matches!(*s, "fuzzer" | "fuzzer-no-link")).collect();
    (!others.is_empty()).then(|| format!("-fsanitize={}", others.join(",")))
}

fn by_extension(path: &[u8]) -> Kind {
    let name = path.rsplit(|&b| b == b'/').next().unwrap_or(path);
    let Some(dot) = name.iter().rposition(|&b| b == b'.') else {
        return Kind::Object;
    };
    match &name[dot + 1..] {
        b"c" | b"i" | b"ii" | b"cc" | b"cp" | b"cxx" | b"cpp" | b"CPP" | b"c++" | b"C" | b"m" | b"mm"
        | b"M" | b"mi" | b"mii" | b"h" | b"hh" | b"hpp" | b"hxx" | b"H" | b"ixx" | b"cppm" => Kind::Source,
        b"s" | b"S" | b"sx" => Kind::Assembler,
        b"f" | b"f90" | b"F" | b"F90" | b"for" | b"f95" | b"f03" | b"f08" | b"d" | b"go" | b"adb"
        | b"ads" => Kind::Other,
        _ => Kind::Object,
    }
}

fn by_language(language: &str) -> Option<Kind> {
    match language {
        "none" => None,
        "assembler" | "assembler-with-cpp" => Some(Kind::Assembler),
        _ if language.starts_with('c')
            || language.starts_with("objective-c")
            || language.starts_with("cpp") =>
        {
            Some(Kind::Source)
        }
        _ => Some(Kind::Other),
    }
}

/// Response files may name others, but not without end.
const MAX_NESTING: usize = 16;

/// Puts the contents of response files (`@FILE`) in their place.
fn expand(arguments: &[OsString], nesting: usize, to: &mut Vec<OsString>) -> Result<(), Error> {
    for argument in arguments {
        let Some(path) = argument.as_bytes().strip_prefix(b"@").filter(|path| !path.is_empty()) else {
            to.push(argument.clone());
            continue;
        };
        let path = PathBuf::from(OsStr::from_bytes(path));
        // Compilers take a file that is not there as a plain argument.
        let Ok(text) = std::fs::read(&path) else {
            to.push(argument.clone());
            continue;
        };
        if nesting == MAX_NESTING {
            return Err(Error(format!("{}: response files name each other without end", path.display())));
        }
        expand(&split(&text), nesting + 1, to)?;
    }
    Ok(())
}

/// Splits a response file: white space, both quotes, and backslash, as gcc
/// does.
fn split(text: &[u8]) -> Vec<OsString> {
    let mut words = Vec::new();
    let mut word: Option<Vec<u8>> = None;
    let mut quote: Option<u8> = None;
    let mut bytes = text.iter().copied();
    while let Some(byte) = bytes.next() {
        match (quote, byte) {
            (_, b'\\') => word.get_or_insert_default().extend(bytes.next()),
            (Some(q), _) if byte == q => quote = None,
            (Some(_), _) => word.get_or_insert_default().push(byte),
            (None, b'\'' | b'"') => {
                quote = Some(byte);
                word.get_or_insert_default();
            }
            (None, _) if byte.is_ascii_whitespace() || byte == 0x0b => words.extend(word.take()),
            (None, _) => word.get_or_insert_default().push(byte),
        }
    }
    words.extend(word);
    words.into_iter().map(OsString::from_vec).collect()
}

/// A response file of ours, in a folder that is gone when dropped.
pub struct Response {
    _folder: Temporary,
}

/// Bytes of arguments from which on we write a response file.
const MANY: usize = 64 << 10;

/// Hands arguments to a command, by a response file when there are many.
pub fn pass(command: &mut Command, arguments: Vec<OsString>) -> Result<Option<Response>, Error> {
    if arguments.iter().map(|a| a.len() + 1).sum::<usize>() < MANY {
        command.args(arguments);
        return Ok(None);
    }
    let mut text = Vec::new();
    for argument in arguments {
        text.push(b'"');
        for &byte in argument.as_bytes() {
            if matches!(byte, b'"' | b'\\') {
                text.push(b'\\');
            }
            text.push(byte);
        }
        text.extend(b"\"\n");
    }
    let folder = Temporary::new("arguments").map_err(|e| Error(format!("cannot make a folder: {e}")))?;
    let path = folder.path().join("arguments");
    std::fs::write(&path, text).map_err(|e| Error(format!("cannot write {}: {e}", path.display())))?;
    let mut argument = OsString::from("@");
    argument.push(&path);
    command.arg(argument);
    Ok(Some(Response { _folder: folder }))
}
