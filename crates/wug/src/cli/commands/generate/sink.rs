//! Where inputs go: standard output, a file for each, one mapped file, or
//! nowhere.

use crate::cli::Failure;
use memmap2::MmapMut;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use wug_files::reason;
use wug_produce::batch::Piece;

/// What `--sink` says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SinkArg {
    Stdout,
    Null,
    Mapped(PathBuf),
}

/// Reads `stdout`, `null` or `mmap:FILE`.
pub fn sink_arg(text: &str) -> Result<SinkArg, String> {
    match text.split_once(':') {
        None if text == "stdout" => Ok(SinkArg::Stdout),
        None if text == "null" => Ok(SinkArg::Null),
        Some(("mmap", path)) if !path.is_empty() => Ok(SinkArg::Mapped(path.into())),
        _ => Err("give stdout, null or mmap:FILE".to_string()),
    }
}

/// Bytes that are written to standard output at once. Each write wakes the
/// reader of a pipe, which costs more than to copy its bytes where blocks are
/// small; larger ones gain little.
const BLOCK: usize = 1 << 18;
/// Bytes that a pipe should hold: what every user may ask for.
const PIPE: usize = 1 << 20;

/// Where inputs go.
pub enum Sink {
    Stream { out: io::BufWriter<Box<dyn Write>>, separator: Vec<u8> },
    Folder(PathBuf),
    Mapped { file: Mapped, separator: Vec<u8> },
    Null,
}

impl Sink {
    /// Opens what the arguments name.
    pub fn open(arg: &SinkArg, folder: Option<&Path>, separator: Vec<u8>) -> Result<Sink, Failure> {
        match (arg, folder) {
            (_, Some(folder)) => Sink::folder(folder),
            (SinkArg::Null, None) => Ok(Sink::Null),
            (SinkArg::Stdout, None) => {
                // A pipe with room for several blocks: else both ends sleep
                // and wake for each of them. Where there is no pipe, or no
                // more room to be had, all is well as it is.
                let _ = rustix::pipe::fcntl_setpipe_size(io::stdout(), PIPE);
                let out = io::BufWriter::with_capacity(BLOCK, super::super::standard_output());
                Ok(Sink::Stream { out, separator })
            }
            (SinkArg::Mapped(path), None) => {
                let file = Mapped::create(path).map_err(|error| {
                    let why = reason(&error);
                    Failure::usage(format!("cannot make the file `{}`: {why}", path.display()))
                })?;
                Ok(Sink::Mapped { file, separator })
            }
        }
    }

    fn folder(folder: &Path) -> Result<Sink, Failure> {
        if folder.is_file() {
            let message = format!("`{}` is a file; -o takes a folder", folder.display());
            return Err(Failure::usage(message));
        }
        std::fs::create_dir_all(folder).map_err(|error| {
            let why = reason(&error);
            Failure::usage(format!("cannot make the folder `{}`: {why}", folder.display()))
        })?;
        Ok(Sink::Folder(folder.to_path_buf()))
    }

    /// Writes one input.
    pub fn write(&mut self, index: u64, input: &[u8]) -> io::Result<()> {
        match self {
            Sink::Stream { out, separator } => {
                out.write_all(input)?;
                out.write_all(separator)
            }
            Sink::Folder(folder) => {
                let path = folder.join(format!("{index:06}"));
                let mut file = File::create(&path)?;
                // A half-written input is worse than none.
                file.write_all(input).inspect_err(|_| {
                    let _ = std::fs::remove_file(&path);
                })
            }
            Sink::Mapped { file, separator } => file.append(input, separator),
            Sink::Null => {
                std::hint::black_box(input);
                Ok(())
            }
        }
    }

    /// Writes the first `count` inputs of a piece; on failure gives the
    /// index of the one that it happened at, or of the first.
    pub fn write_piece(&mut self, piece: &Piece, count: usize) -> Result<(), (u64, io::Error)> {
        match self {
            Sink::Stream { out, .. } => {
                out.write_all(piece.bytes_of(count)).map_err(|error| (piece.first(), error))
            }
            Sink::Null => {
                std::hint::black_box(piece.bytes());
                Ok(())
            }
            Sink::Folder(_) | Sink::Mapped { .. } => {
                for (index, input) in piece.inputs().take(count) {
                    self.write(index, input).map_err(|error| (index, error))?;
                }
                Ok(())
            }
        }
    }

    /// Writes what is still held back.
    pub fn finish(&mut self) -> io::Result<()> {
        match self {
            Sink::Stream { out, .. } => out.flush(),
            Sink::Mapped { file, .. } => file.finish(),
            Sink::Folder(_) | Sink::Null => Ok(()),
        }
    }

    /// Says what went wrong and what is left.
    pub fn complain(&self, index: u64, error: &io::Error) -> String {
        let error = reason(error);
        let place = match self {
            Sink::Stream { .. } | Sink::Null => return format!("cannot write to standard output: {error}"),
            Sink::Folder(folder) => folder,
            Sink::Mapped { file, .. } => &file.path,
        };
        format!("cannot write input {index} to `{}`: {error}; the ones before it are whole", place.display())
    }
}

/// A file that grows in memory.
pub struct Mapped {
    path: PathBuf,
    file: File,
    map: Option<MmapMut>,
    len: usize,
}

/// The first piece of a file that is reserved; later ones double it.
const FIRST: usize = 1 << 20;

impl Mapped {
    fn create(path: &Path) -> io::Result<Mapped> {
        let file = File::options().read(true).write(true).create(true).truncate(true).open(path)?;
        Ok(Mapped { path: path.to_path_buf(), file, map: None, len: 0 })
    }

    /// Appends an input and its separator, both or none.
    fn append(&mut self, input: &[u8], separator: &[u8]) -> io::Result<()> {
        let end = self.len + input.len() + separator.len();
        if self.map.as_ref().is_none_or(|map| map.len() < end) {
            self.reserve(end)?;
        }
        if let Some(map) = &mut self.map {
            let (first, second) = map[self.len..end].split_at_mut(input.len());
            first.copy_from_slice(input);
            second.copy_from_slice(separator);
            self.len = end;
        }
        Ok(())
    }

    /// Reserves room up to `end` at least. The blocks are allocated before
    /// they are mapped: on a full disk this is an error, where writing to
    /// the map would be a signal.
    fn reserve(&mut self, end: usize) -> io::Result<()> {
        let size = end.max(FIRST).checked_next_power_of_two().unwrap_or(end);
        self.map = None;
        let flags = rustix::fs::FallocateFlags::empty();
        rustix::fs::fallocate(&self.file, flags, 0, size as u64)?;
        // SAFETY: the file is ours, open for writing, and `size` bytes long.
        // Another process could cut it while it is mapped; that would end
        // this one by a signal, and lose nothing else. The golden test of
        // `--sink mmap` covers it.
        self.map = Some(unsafe { MmapMut::map_mut(&self.file)? });
        Ok(())
    }

    /// Cuts the file to what was written.
    fn finish(&mut self) -> io::Result<()> {
        self.map = None;
        self.file.set_len(self.len as u64)
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        let _ = self.finish();
    }
}
