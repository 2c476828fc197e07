//! Both builds at once: `TARGET` and `TARGET.traced`.
//!
//! In:  a command line, as for one build.
//! Out: what the fast build makes; each of its objects also holds, in a
//!      section that linkers leave out, the traced object of the same source;
//!      and each program or library that is linked has a traced twin beside
//!      it, linked from those.
//!
//! A twin beside each object was rejected: build systems rename objects, move
//! them, and put them into archives, and none of them would take the twin
//! along.

use super::arguments::{Goal, Invocation, Kind, pass};
use super::compiler::Compiler;
use super::{Build, Error, Options, flags};
use object::read::archive::ArchiveFile;
use object::{Object, ObjectSection};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use wug_files::private::Temporary;

/// Where objects keep their twins.
const SECTION: &str = ".wug.traced";
/// Before each twin in its section, since `ld -r` joins sections: this, then
/// the length in eight bytes.
const MARK: &[u8; 8] = b"WUGTWIN\0";

/// After the fast build: makes the traced one.
pub fn add_traced(
    compiler: &Compiler,
    invocation: &Invocation,
    options: &Options,
) -> Result<ExitStatus, Error> {
    // Files of this command, gone at its end.
    let scratch = Temporary::new("both").map_err(|e| Error(format!("cannot make a folder: {e}")))?;
    let options = Options { build: Build::Traced, ..options.clone() };
    match invocation.goal {
        Goal::Object => objects(compiler, invocation, &options, &scratch),
        Goal::Executable | Goal::Library => link(compiler, invocation, &options, &scratch),
        _ => Ok(ExitStatus::default()),
    }
}

fn run(compiler: &Compiler, invocation: &Invocation, options: &Options) -> Result<ExitStatus, Error> {
    let mut command = Command::new(&compiler.path);
    let _response = pass(&mut command, flags::instrumented(compiler, invocation, options)?)?;
    command.status().map_err(|error| Error(format!("cannot start {}: {error}", compiler.path.display())))
}

/// Compiles each source once more and puts the result into its object.
fn objects(
    compiler: &Compiler,
    invocation: &Invocation,
    options: &Options,
    scratch: &Temporary,
) -> Result<ExitStatus, Error> {
    let mut status = ExitStatus::default();
    for (number, &(index, kind)) in invocation.inputs.iter().enumerate() {
        if kind != Kind::Source {
            continue;
        }
        let object = match invocation.output() {
            Some(path) => PathBuf::from(path),
            None => Path::new(Path::new(&invocation.arguments[index]).file_name().unwrap_or_default())
                .with_extension("o"),
        };
        // Configure scripts compile into /dev/null.
        if !object.is_file() {
            continue;
        }
        let twin = scratch.path().join(format!("{number}.o"));
        let mut arguments = invocation.without(index);
        arguments.extend(["-o".into(), twin.clone().into_os_string()]);
        status = run(compiler, &Invocation::read(&arguments)?, options)?;
        if !status.success() {
            break;
        }
        embed(&object, &twin, scratch)?;
    }
    Ok(status)
}

fn embed(object: &Path, twin: &Path, scratch: &Temporary) -> Result<(), Error> {
    let read = fs::read(twin).map_err(|e| Error(format!("cannot read {}: {e}", twin.display())))?;
    let mut marked = MARK.to_vec();
    marked.extend((read.len() as u64).to_le_bytes());
    marked.extend(read);
    let section = scratch.path().join("section");
    fs::write(&section, marked).map_err(|e| Error(format!("cannot write {}: {e}", section.display())))?;
    let mut add = OsString::from(format!("{SECTION}="));
    add.push(&section);
    let status = Command::new("objcopy")
        .arg("--add-section")
        .arg(add)
        .arg("--set-section-flags")
        .arg(format!("{SECTION}=contents,readonly,exclude"))
        .arg(object)
        .status()
        .map_err(|error| Error(format!("cannot start objcopy: {error}")))?;
    if status.success() { Ok(()) } else { Err(Error(format!("objcopy cannot add to {}", object.display()))) }
}

/// Links the twins of all objects, and compiles sources traced.
fn link(
    compiler: &Compiler,
    invocation: &Invocation,
    options: &Options,
    scratch: &Temporary,
) -> Result<ExitStatus, Error> {
    let mut arguments = invocation.arguments.clone();
    for &(index, kind) in &invocation.inputs {
        if kind == Kind::Object {
            let name = format!("input-{index}");
            if let Some(twin) = twin_of(Path::new(&arguments[index]), &scratch.path().join(name))? {
                arguments[index] = twin.into_os_string();
            }
        }
    }
    let folders = search_folders(&arguments);
    for (index, argument) in arguments.iter_mut().enumerate() {
        let Some(name) = argument.as_bytes().strip_prefix(b"-l").filter(|name| !name.is_empty()) else {
            continue;
        };
        let Some(path) = static_library(&folders, OsStr::from_bytes(name)) else { continue };
        if let Some(twin) = twin_of(&path, &scratch.path().join(format!("library-{index}")))? {
            *argument = twin.into_os_string();
        }
    }
    let target = invocation.output().unwrap_or_else(|| "a.out".into());
    if !Path::new(&target).is_file() {
        return Ok(ExitStatus::default());
    }
    let mut traced = target;
    traced.push(".traced");
    let mut arguments = Invocation::read(&arguments)?.without_output();
    arguments.extend(["-o".into(), traced]);
    run(compiler, &Invocation::read(&arguments)?, options)
}

/// Folders that `-L` names.
pub(super) fn search_folders(arguments: &[OsString]) -> Vec<PathBuf> {
    let mut folders = Vec::new();
    let mut all = arguments.iter();
    while let Some(argument) = all.next() {
        match argument.as_bytes().strip_prefix(b"-L") {
            Some(b"") => folders.extend(all.next().map(PathBuf::from)),
            Some(path) => folders.push(PathBuf::from(OsStr::from_bytes(path))),
            None => {}
        }
    }
    folders
}

/// The archive that `-lNAME` means, unless a shared library comes first.
pub(super) fn static_library(folders: &[PathBuf], name: &OsStr) -> Option<PathBuf> {
    for folder in folders {
        let file = |extension: &str| {
            let mut file = OsString::from("lib");
            file.push(name);
            file.push(extension);
            folder.join(file)
        };
        if file(".so").is_file() {
            return None;
        }
        if file(".a").is_file() {
            return Some(file(".a"));
        }
    }
    None
}

/// The traced twin of an object or archive: a file or archive named after
/// `to`, or none if it holds no twin.
fn twin_of(path: &Path, to: &Path) -> Result<Option<PathBuf>, Error> {
    let Ok(data) = fs::read(path) else { return Ok(None) };
    if let Ok(archive) = ArchiveFile::parse(&*data) {
        return twin_of_archive(path, &data, &archive, to);
    }
    let mut twins = twins(&data);
    // Joined by `ld -r`, there may be several: an archive would lose those
    // that nothing asks for.
    match twins.len() {
        0 => Ok(None),
        1 => {
            let file = to.with_extension("o");
            write(&file, twins.remove(0))?;
            Ok(Some(file))
        }
        _ => {
            let mut files = Vec::new();
            for (i, twin) in twins.iter().enumerate() {
                files.push(to.with_extension(format!("{i}.o")));
                write(&files[i], twin)?;
            }
            let joined = to.with_extension("o");
            tool(Command::new("ld").arg("-r").arg("-o").arg(&joined).args(&files))?;
            Ok(Some(joined))
        }
    }
}

fn twin_of_archive(
    path: &Path,
    data: &[u8],
    archive: &ArchiveFile,
    to: &Path,
) -> Result<Option<PathBuf>, Error> {
    let mut files = Vec::new();
    let mut found = false;
    for (i, member) in archive.members().enumerate() {
        let Ok(member) = member else { return Ok(None) };
        let outside;
        let content = if archive.is_thin() {
            let folder = path.parent().unwrap_or(Path::new(""));
            match fs::read(folder.join(OsStr::from_bytes(member.name()))) {
                Ok(read) => {
                    outside = read;
                    &outside[..]
                }
                Err(_) => return Ok(None),
            }
        } else {
            match member.data(data) {
                Ok(content) => content,
                Err(_) => return Ok(None),
            }
        };
        let twins = twins(content);
        found |= !twins.is_empty();
        for (k, text) in (if twins.is_empty() { vec![content] } else { twins }).into_iter().enumerate() {
            let file = to.with_extension(format!("{i}.{k}.o"));
            write(&file, text)?;
            files.push(file);
        }
    }
    if !found {
        return Ok(None);
    }
    let archive = to.with_extension("a");
    tool(Command::new("ar").arg("rcs").arg(&archive).args(&files))?;
    Ok(Some(archive))
}

/// The traced objects inside an object.
fn twins(data: &[u8]) -> Vec<&[u8]> {
    let Ok(file) = object::File::parse(data) else { return Vec::new() };
    let Some(Ok(mut rest)) = file.section_by_name(SECTION).map(|section| section.data()) else {
        return Vec::new();
    };
    let mut all = Vec::new();
    while let Some(after) = rest.strip_prefix(MARK) {
        let Some((length, after)) = after.split_first_chunk::<8>() else { break };
        let length = u64::from_le_bytes(*length);
        if length > after.len() as u64 {
            break;
        }
        let (twin, mut after) = after.split_at(length as usize);
        all.push(twin);
        // What linkers put between.
        while let Some(less) = after.strip_prefix(&[0]) {
            after = less;
        }
        rest = after;
    }
    all
}

fn write(path: &Path, data: &[u8]) -> Result<(), Error> {
    fs::write(path, data).map_err(|e| Error(format!("cannot write {}: {e}", path.display())))
}

fn tool(command: &mut Command) -> Result<(), Error> {
    let name = command.get_program().to_string_lossy().into_owned();
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err(Error(format!("{name} cannot join traced objects"))),
        Err(error) => Err(Error(format!("cannot start {name}: {error}"))),
    }
}
