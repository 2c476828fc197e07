//! Which compiler to stand in for.

use super::Error;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The language of a driver: `wug cc` or `wug c++`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Language {
    /// C.
    C,
    /// C++.
    Cxx,
}

/// Whose flags a compiler understands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Family {
    /// gcc.
    Gcc,
    /// clang.
    Clang,
}

/// A compiler.
#[derive(Clone, Debug)]
pub struct Compiler {
    /// Its executable, as found.
    pub path: PathBuf,
    /// Whose flags it understands.
    pub family: Family,
}

impl Compiler {
    /// The named compiler, or the machine's.
    pub fn find(language: Language, named: Option<&OsStr>) -> Result<Compiler, Error> {
        let names: Vec<OsString> = match (named, language) {
            (Some(name), _) => vec![name.to_os_string()],
            (None, Language::C) => ["cc", "gcc", "clang"].map(OsString::from).to_vec(),
            (None, Language::Cxx) => ["c++", "g++", "clang++"].map(OsString::from).to_vec(),
        };
        let Some(path) = names.iter().find_map(|name| on_path(name)) else {
            let tried: Vec<_> = names.iter().map(|name| name.to_string_lossy()).collect();
            return Err(Error(format!(
                "no compiler found: looked for {} in PATH; install one, or name it by WUG_CC and WUG_CXX",
                tried.join(", ")
            )));
        };
        let family = family(&path)?;
        Ok(Compiler { path, family })
    }
}

/// The C++ driver that goes with a C driver: `clang-14` has `clang++-14`.
pub fn cxx_of(cc: &OsStr) -> OsString {
    let text = cc.to_string_lossy();
    let (folder, name) = text.rsplit_once('/').map_or(("", &*text), |(f, n)| (f, n));
    let name = if let Some(at) = name.find("clang").filter(|_| !name.contains("clang++")) {
        format!("{}clang++{}", &name[..at], &name[at + 5..])
    } else if let Some(at) = name.find("gcc") {
        format!("{}g++{}", &name[..at], &name[at + 3..])
    } else if name == "cc" {
        "c++".to_string()
    } else {
        name.to_string()
    };
    if folder.is_empty() { name.into() } else { format!("{folder}/{name}").into() }
}

fn on_path(name: &OsStr) -> Option<PathBuf> {
    if Path::new(name).components().count() > 1 {
        let path = PathBuf::from(name);
        return path.is_file().then_some(path);
    }
    let folders = std::env::var_os("PATH")?;
    std::env::split_paths(&folders).map(|folder| folder.join(name)).find(|path| path.is_file())
}

/// By the name of what a link leads to, else by asking.
fn family(path: &Path) -> Result<Family, Error> {
    let real = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    let name = real.file_name().unwrap_or_default().to_string_lossy().into_owned();
    if name.contains("clang") {
        return Ok(Family::Clang);
    }
    if name.contains("gcc") || name.contains("g++") {
        return Ok(Family::Gcc);
    }
    let output = Command::new(path)
        .arg("--version")
        .output()
        .map_err(|error| Error(format!("cannot start {}: {error}", path.display())))?;
    let text = String::from_utf8_lossy(&output.stdout);
    if text.contains("clang") {
        Ok(Family::Clang)
    } else if text.contains("Free Software Foundation") {
        Ok(Family::Gcc)
    } else {
        Err(Error(format!("{} is neither gcc nor clang: its --version names neither", path.display())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_c_driver_has_a_sibling_for_cxx() {
        for (cc, cxx) in [
            ("cc", "c++"),
            ("gcc", "g++"),
            ("clang", "clang++"),
            ("clang-14", "clang++-14"),
            ("/usr/bin/gcc-12", "/usr/bin/g++-12"),
            ("x86_64-linux-gnu-gcc", "x86_64-linux-gnu-g++"),
            ("clang++", "clang++"),
        ] {
            assert_eq!(cxx_of(OsStr::new(cc)), OsString::from(cxx));
        }
    }
}
