//! `plot_data`: a row of figures every few seconds, for afl-plot.
//!
//! Rows are appended whole: a row that was cut short, by a full disk or a
//! power cut, is taken away again before the next one.

use super::{Error, stats};
use crate::report::Report;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use wug_files::regular;

const HEADER: &str = "# relative_time, cycles_done, cur_item, corpus_count, pending_total, pending_favs, map_size, \
                      saved_crashes, saved_hangs, max_depth, execs_per_sec, total_execs, edges_found\n";

pub(super) struct Plot {
    path: PathBuf,
    file: File,
    /// Where the last whole row ends.
    end: u64,
}

impl Plot {
    /// Opens the file to go on with it, or begins it.
    pub fn open(folder: &Path) -> Result<Plot, Error> {
        let path = folder.join("plot_data");
        let mut file = regular::go_on(&path).map_err(Error::of("open", &path))?;
        let end = whole_rows(&mut file).map_err(Error::of("read", &path))?;
        let mut plot = Plot { path, file, end };
        if end == 0 {
            plot.append(HEADER)?;
        }
        Ok(plot)
    }

    /// Appends a row.
    pub fn row(&mut self, report: &Report) -> Result<(), Error> {
        let r = report;
        let rate = stats::finite(r.execs_per_sec);
        self.append(&format!(
            "{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {rate:.2}, {}, {}\n",
            r.run_time,
            r.cycles_done,
            r.cur_item,
            r.corpus_count,
            r.pending_total,
            r.pending_favs,
            stats::percent(&r.bitmap_cvg),
            r.saved_crashes,
            r.saved_hangs,
            r.max_depth,
            r.execs_done,
            r.edges_found
        ))
    }

    fn append(&mut self, row: &str) -> Result<(), Error> {
        let written = self.write(row);
        if written.is_err() {
            let _ = self.file.set_len(self.end);
        }
        written.map_err(Error::of("write", &self.path))
    }

    fn write(&mut self, row: &str) -> io::Result<()> {
        self.file.set_len(self.end)?;
        self.file.seek(SeekFrom::Start(self.end))?;
        self.file.write_all(row.as_bytes())?;
        self.end += row.len() as u64;
        Ok(())
    }
}

/// No row is longer, in bytes.
const ROW: u64 = 1 << 16;

/// Bytes up to the end of the last whole row; 0 if the file has no rows there.
fn whole_rows(file: &mut File) -> io::Result<u64> {
    let mut end = file.metadata()?.len();
    let least = end.saturating_sub(ROW);
    let mut block = [0; 4096];
    while end > least {
        let start = end.saturating_sub(block.len() as u64);
        let block = &mut block[..(end - start) as usize];
        file.seek(SeekFrom::Start(start))?;
        file.read_exact(block)?;
        if let Some(last) = block.iter().rposition(|&byte| byte == b'\n') {
            return Ok(start + last as u64 + 1);
        }
        end = start;
    }
    Ok(0)
}
