//! Opens regular files only, without blocking, and reads no more than a limit.
//!
//! In:  a path, and how many bytes may be read.
//! Out: the bytes, or an error that says what the path leads to instead.
//!
//! The kind of a file is asked before it is opened, since opening a device can
//! have effects, and again afterwards, since the path may lead elsewhere by
//! then. Symbolic links are followed where a user names a file or a folder of
//! inputs, and not among files that we have written ourselves ([`open_own`]).

use std::fs::{File, FileType, Metadata, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

/// Opens a file for reading.
pub fn open(path: &Path) -> io::Result<File> {
    opened(path, path.metadata()?, 0)
}

/// Opens a file that only we write: not through a symbolic link.
pub fn open_own(path: &Path) -> io::Result<File> {
    opened(path, path.symlink_metadata()?, libc::O_NOFOLLOW)
}

fn opened(path: &Path, about: Metadata, flags: i32) -> io::Result<File> {
    expect_regular(&about)?;
    let flags = flags | libc::O_NONBLOCK | libc::O_NOCTTY;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    expect_regular(&file.metadata()?)?;
    Ok(file)
}

/// Reads all of a file; one of more than `limit` bytes is an error.
pub fn read(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    whole(open(path)?, limit)
}

/// The same for a file that only we write.
pub fn read_own(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    whole(open_own(path)?, limit)
}

/// Reads a file that a user has named on the command line. Descriptors of this
/// process, such as a shell's `<(command)`, are read as they are.
pub fn read_named(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    if is_descriptor(path) {
        return bounded(File::open(path)?, limit);
    }
    read(path, limit)
}

/// The same, of which at most the first `limit` bytes are wanted.
pub fn read_start(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let file = if is_descriptor(path) { File::open(path)? } else { open(path)? };
    let mut bytes = Vec::new();
    file.take(limit).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Whether a path names a descriptor of this process.
pub fn is_descriptor(path: &Path) -> bool {
    let bytes = path.as_os_str().as_bytes();
    let number = bytes.strip_prefix(b"/dev/fd/").or_else(|| bytes.strip_prefix(b"/proc/self/fd/"));
    bytes == b"/dev/stdin"
        || number.is_some_and(|number| !number.is_empty() && number.iter().all(u8::is_ascii_digit))
}

fn whole(file: File, limit: u64) -> io::Result<Vec<u8>> {
    let size = file.metadata()?.len();
    if size > limit {
        return Err(too_large(limit));
    }
    bounded(file, limit)
}

/// Reads to the end; more than `limit` bytes are an error.
pub fn bounded(reader: impl Read, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    reader.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit { Err(too_large(limit)) } else { Ok(bytes) }
}

fn too_large(limit: u64) -> io::Error {
    io::Error::new(io::ErrorKind::FileTooLarge, format!("it has more than {limit} bytes"))
}

/// Opens a file that only we write, to go on with it. What is there in its
/// place (a link, symbolic or not, a pipe, a device) is removed, not written to:
/// whoever put it there would choose what we write to.
pub fn go_on(path: &Path) -> io::Result<File> {
    for _ in 0..8 {
        match path.symlink_metadata() {
            Ok(about) if about.is_dir() => return Err(not_regular(about.file_type())),
            Ok(about) if !about.is_file() || about.nlink() > 1 => std::fs::remove_file(path)?,
            _ => {}
        }
        let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_NOCTTY;
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false).custom_flags(flags);
        let file = match options.open(path) {
            // It was replaced since.
            Err(error) if matches!(error.raw_os_error(), Some(libc::ELOOP | libc::ENXIO)) => continue,
            file => file?,
        };
        let about = file.metadata()?;
        if about.is_file() && about.nlink() == 1 {
            return Ok(file);
        }
    }
    Err(io::Error::new(io::ErrorKind::InvalidInput, "something else is put in its place again and again"))
}

/// Makes a new file; what is in its place is removed, not written to.
pub fn create(path: &Path) -> io::Result<File> {
    let make = || OpenOptions::new().write(true).create_new(true).open(path);
    match make() {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            std::fs::remove_file(path)?;
            make()
        }
        made => made,
    }
}

/// Writes a new file.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    create(path)?.write_all(bytes)
}

/// Opens a folder; a pipe in its place does not block.
pub fn open_folder(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).custom_flags(libc::O_DIRECTORY | libc::O_NONBLOCK).open(path)
}

/// Fails for anything but a regular file, and says what it is.
pub fn expect_regular(about: &Metadata) -> io::Result<()> {
    if about.is_file() { Ok(()) } else { Err(not_regular(about.file_type())) }
}

fn not_regular(kind: FileType) -> io::Error {
    let what = match kind {
        kind if kind.is_dir() => "a folder",
        kind if kind.is_fifo() => "a named pipe",
        kind if kind.is_socket() => "a socket",
        kind if kind.is_symlink() => "a symbolic link",
        _ => "a device",
    };
    io::Error::new(io::ErrorKind::InvalidInput, format!("it is {what}, not a regular file"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::private::Temporary;
    use std::fs;
    use std::os::unix::fs::symlink;

    fn fifo(path: &Path) {
        let name = std::ffi::CString::new(path.as_os_str().as_bytes()).expect("no NUL");
        // SAFETY: the name ends in NUL.
        assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
    }

    #[test]
    fn only_regular_files_within_the_limit_are_read() {
        let folder = Temporary::new("regular").expect("a folder");
        let path = |name: &str| folder.path().join(name);
        fs::write(path("file"), b"12345").expect("a file");
        assert_eq!(read(&path("file"), 5).expect("all of it"), b"12345");
        symlink("file", path("link")).expect("a link");
        assert_eq!(read(&path("link"), 5).expect("through the link"), b"12345");
        fifo(&path("fifo"));
        symlink("/dev/zero", path("zero")).expect("a link");
        fs::File::create(path("giant")).and_then(|file| file.set_len(1 << 40)).expect("a sparse file");
        for (name, told) in [
            ("file", "more than 4 bytes"),
            ("fifo", "a named pipe"),
            ("zero", "a device"),
            ("giant", "more than 4 bytes"),
            (".", "a folder"),
        ] {
            let error = read(&path(name), 4).expect_err(name);
            assert!(error.to_string().contains(told), "{name}: {error}");
            assert!(read_named(&path(name), 4).is_err());
            assert!(read_own(&path(name), 4).is_err());
        }
        assert!(read_own(&path("link"), 5).expect_err("a link").to_string().contains("a symbolic link"));
        // Regular, without a size and without an end in sight.
        assert!(read(Path::new("/proc/self/pagemap"), 100).is_err());
        assert!(open_folder(&path("fifo")).is_err() && open_folder(folder.path()).is_ok());
    }

    #[test]
    fn files_of_ours_are_not_written_through_links() {
        let folder = Temporary::new("own").expect("a folder");
        let path = |name: &str| folder.path().join(name);
        let own = path("plot_data");
        type Plant<'a> = &'a dyn Fn(&Path);
        let plants: [Plant; 4] = [
            &|own| symlink("victim", own).expect("a link"),
            &|own| fs::hard_link(own.with_file_name("victim"), own).expect("a link"),
            &|own| symlink("nowhere", own).expect("a link"),
            &fifo,
        ];
        for plant in plants {
            fs::write(path("victim"), b"mine").expect("a file");
            plant(&own);
            go_on(&own).and_then(|mut file| file.write_all(b"rows")).expect("a file");
            assert_eq!(fs::read(&own).expect("a file"), b"rows");
            fs::remove_file(&own).expect("a file");
            plant(&own);
            write(&own, b"new").expect("a file");
            assert_eq!(fs::read(&own).expect("a file"), b"new");
            fs::remove_file(&own).expect("a file");
            assert_eq!(fs::read(path("victim")).expect("a file"), b"mine");
            assert!(!path("nowhere").exists());
        }
        fs::write(&own, b"rows").expect("a file");
        assert_eq!(go_on(&own).and_then(|file| bounded(file, 9)).expect("as it was"), b"rows");
    }

    #[test]
    fn descriptors_are_named_by_their_numbers() {
        for (path, expected) in [
            ("/dev/stdin", true),
            ("/dev/fd/63", true),
            ("/proc/self/fd/0", true),
            ("/dev/fd/", false),
            ("/dev/fd/../zero", false),
            ("/dev/zero", false),
        ] {
            assert_eq!(is_descriptor(Path::new(path)), expected, "{path}");
        }
    }
}
