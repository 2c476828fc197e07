//! The corpus: entries in memory, with the schedule of their turns.
//!
//! An entry is bytes in a file. Its bytes and its tree are caches, each kept
//! while there is room.

use crate::schedule::{Merits, Turns};
use crate::structure::Structure;
use wug_folder::report::Report;
use wug_folder::{EntryId, Folder};
use wug_produce::mutate::Tree;

/// Bytes of trees that are kept: memory against parsing an entry again when
/// its turn comes.
const TREES: usize = 256 << 20;
/// Bytes of inputs that are kept: memory against reading files.
const BYTES: usize = 256 << 20;

/// A corpus entry.
#[derive(Debug)]
pub(crate) struct Entry {
    pub id: EntryId,
    bytes: Option<Box<[u8]>>,
    tree: Option<Tree>,
    /// Whether the grammar derives it.
    pub parses: bool,
    /// Whether its runs differ.
    pub varies: bool,
}

/// All entries of a campaign.
#[derive(Debug, Default)]
pub(crate) struct Corpus {
    entries: Vec<Entry>,
    /// Whose turn it is.
    pub turns: Turns,
    tree_bytes: usize,
    bytes: usize,
    /// Whose tree goes next when there are too many.
    oldest: usize,
}

impl Corpus {
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Adds an entry.
    pub fn add(
        &mut self,
        id: EntryId,
        bytes: &[u8],
        tree: Option<Tree>,
        varies: bool,
        merits: Merits,
    ) -> usize {
        let kept: Option<Box<[u8]>> = (self.bytes + bytes.len() <= BYTES).then(|| bytes.into());
        self.bytes += kept.as_deref().map_or(0, <[u8]>::len);
        let parses = tree.is_some();
        self.entries.push(Entry { id, bytes: kept, tree: None, parses, varies });
        self.turns.add(Merits { valid: parses, size: bytes.len(), ..merits });
        let at = self.entries.len() - 1;
        self.put_tree(at, tree);
        at
    }

    /// Takes the tree of an entry out, for its turn. Made anew if it is gone.
    pub fn take_tree(&mut self, at: usize, input: &[u8], structure: &mut Structure<'_>) -> Option<Tree> {
        let entry = &mut self.entries[at];
        match entry.tree.take() {
            Some(tree) => {
                self.tree_bytes -= tree.bytes();
                Some(tree)
            }
            None if entry.parses => structure.parse(input).ok(),
            None => None,
        }
    }

    /// Puts the tree of an entry back.
    pub fn put_tree(&mut self, at: usize, tree: Option<Tree>) {
        let Some(tree) = tree else { return };
        self.tree_bytes += tree.bytes();
        self.entries[at].tree = Some(tree);
        while self.tree_bytes > TREES {
            self.oldest = (self.oldest + 1) % self.entries.len();
            let Some(tree) = self.entries[self.oldest].tree.take() else { continue };
            self.tree_bytes -= tree.bytes();
        }
    }

    /// Copies the bytes of an entry.
    pub fn read(&self, at: usize, folder: &Folder, out: &mut Vec<u8>) -> Result<(), wug_folder::Error> {
        out.clear();
        match &self.entries[at].bytes {
            Some(bytes) => out.extend_from_slice(bytes),
            None => out.extend(wug_folder::read(&folder.entry_path(self.entries[at].id)?)?),
        }
        Ok(())
    }

    /// The bytes of an entry, if they are in memory.
    pub fn known(&self, at: usize) -> &[u8] {
        self.entries[at].bytes.as_deref().unwrap_or_default()
    }

    /// Fills in what is known of entries.
    pub fn report(&self, report: &mut Report) {
        let count = |is: fn(&Entry) -> bool| self.entries.iter().filter(|entry| is(entry)).count() as u64;
        report.corpus_count = self.entries.len() as u64;
        report.corpus_parsed = count(|entry| entry.parses);
        report.corpus_variable = count(|entry| entry.varies);
        report.testcache_size = self.bytes as u64;
        report.testcache_count = self.entries.len() as u64;
        let turns = || (0..self.turns.len()).map(|at| self.turns.merits(at).turns);
        report.pending_total = turns().filter(|turns| *turns == 0).count() as u64;
        report.cycles_done = u64::from(turns().min().unwrap_or(0));
    }
}
