//! Crash buckets: crashes by site, and which of their inputs are kept.
//!
//! In:  crashes that were looked at.
//! Out: for each site a [`CrashReport`] with its files.
//!
//! Sites are never quite right: one mistake may crash in several places, and
//! two mistakes in one, since compilers merge calls that never return. So each
//! bucket keeps a few inputs with different edges: those that reach an edge
//! that no crash had reached, or lack one that all inputs of the bucket have.

use std::collections::HashMap;
use wug_folder::report::CrashReport;
use wug_target::{Crash, Site, coverage};

/// Inputs that a bucket keeps: files to look at against a second bug at the
/// same site.
const MAX_KEPT: usize = 8;
/// The same where nothing but the signal is known: then edges alone tell
/// crashes apart.
const MAX_KEPT_VAGUE: usize = 256;
/// Different messages at one place; beyond, messages do not count there,
/// since they are made of the input.
const MAX_MESSAGES: usize = 16;
/// Crashes that are known without a look; beyond, all are forgotten: memory.
const MAX_SIGHTS: usize = 1 << 16;

/// All crashes of a campaign.
#[derive(Debug, Default)]
pub(crate) struct Buckets {
    all: Vec<CrashReport>,
    vague: Vec<bool>,
    by_key: HashMap<u64, usize>,
    /// Edges that all inputs of a bucket have, in order, while it has room.
    common: Vec<Vec<u32>>,
    /// How many different messages there were at a place.
    messages: HashMap<u64, usize>,
    sights: HashMap<u64, usize>,
    kept: u64,
}

impl Buckets {
    /// In the order of finding.
    pub fn all(&self) -> &[CrashReport] {
        &self.all
    }

    /// How many inputs were kept.
    pub fn kept(&self) -> u64 {
        self.kept
    }

    /// The bucket of an earlier crash that looked like this.
    pub fn met(&self, sight: u64) -> Option<usize> {
        self.sights.get(&sight).copied()
    }

    /// A further crash is in a bucket.
    pub fn count(&mut self, bucket: usize) {
        let count = &mut self.all[bucket].count;
        *count = count.saturating_add(1);
    }

    /// The next crash that looks like this goes into this bucket.
    pub fn remember(&mut self, sight: u64, bucket: usize) {
        if self.sights.len() >= MAX_SIGHTS {
            self.sights.clear();
        }
        self.sights.insert(sight, bucket);
    }

    /// Whether no crash was at this site.
    pub fn is_new(&self, site: &Site) -> bool {
        !self.by_key.contains_key(&site.key())
    }

    /// Puts a crash into the bucket of its site: which, and whether it is the
    /// first there.
    pub fn place(&mut self, site: Site, crash: &Crash) -> (usize, bool) {
        let site = self.bounded(site);
        let key = site.key();
        if let Some(&bucket) = self.by_key.get(&key) {
            self.count(bucket);
            return (bucket, false);
        }
        let mut place = site.to_string();
        let own = crash.stack.iter().find(|frame| !frame.system);
        if let Some((file, line)) = own.and_then(|frame| Some((frame.file.as_ref()?, frame.line?))) {
            place.push_str(&format!(" ({file}:{line})"));
        }
        self.by_key.insert(key, self.all.len());
        self.vague.push(site.is_vague());
        self.common.push(Vec::new());
        self.all.push(CrashReport { stack: key, count: 1, kind: site.kind, place, ..CrashReport::default() });
        (self.all.len() - 1, true)
    }

    /// The site without its message if there were too many at its place.
    fn bounded(&mut self, site: Site) -> Site {
        if site.message.is_none() || self.by_key.contains_key(&site.key()) {
            return site;
        }
        let bare = site.without_message();
        let count = self.messages.entry(bare.key()).or_default();
        *count += 1;
        if *count > MAX_MESSAGES { bare } else { site }
    }

    /// Whether a bucket takes a further input, with these counts: `news` if
    /// they hold an edge that no crash had reached.
    pub fn takes(&self, bucket: usize, counts: &[u8], news: bool) -> bool {
        let lacks = |id: &u32| counts.get(*id as usize).is_none_or(|count| *count == 0);
        self.has_room(bucket) && (news || self.common[bucket].iter().any(lacks))
    }

    fn has_room(&self, bucket: usize) -> bool {
        let most = if self.vague[bucket] { MAX_KEPT_VAGUE } else { MAX_KEPT };
        self.all[bucket].more.len() + 1 < most
    }

    /// A bucket has a further file, of an input with these counts.
    pub fn keep(&mut self, bucket: usize, counts: &[u8], signal: u8, file: String) {
        self.kept += 1;
        let first = self.all[bucket].file.is_empty();
        let common = &mut self.common[bucket];
        if first {
            *common = coverage::hits(counts).map(|id| id as u32).collect();
        } else {
            common.retain(|id| counts.get(*id as usize).is_some_and(|count| *count != 0));
        }
        if !first && self.all[bucket].more.len() + 2 >= MAX_KEPT {
            self.common[bucket] = Vec::new();
        }
        let report = &mut self.all[bucket];
        if report.file.is_empty() {
            (report.signal, report.file) = (signal, file);
        } else {
            report.more.push(file);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wug_target::{Frame, SITE_FRAMES, Said, Verdict};

    fn crash(offset: u64, message: &str) -> Crash {
        let frame = Frame { function: Some("parse".into()), offset: Some(offset), ..Frame::default() };
        let said = Said { place: "panic at a.rs:1:1".into(), message: message.into() };
        Crash { stack: vec![frame], said: Some(said), ..Crash::of(Verdict::Signal(6)) }
    }

    fn place(buckets: &mut Buckets, crash: &Crash) -> (usize, bool) {
        buckets.place(crash.site(SITE_FRAMES), crash)
    }

    #[test]
    fn a_bucket_takes_few_inputs_and_counts_all() {
        let mut buckets = Buckets::default();
        assert_eq!(place(&mut buckets, &crash(1, "x")), (0, true));
        assert_eq!(place(&mut buckets, &crash(2, "x")), (1, true));
        let mut kept = 0;
        while buckets.takes(0, &[1], true) || kept == 0 {
            buckets.keep(0, &[1], 6, format!("id:{kept}"));
            kept += 1;
        }
        assert_eq!((kept, buckets.kept(), buckets.all()[0].file.as_str()), (MAX_KEPT, 8, "id:0"));
        assert_eq!(place(&mut buckets, &crash(1, "x")), (0, false));
        buckets.remember(77, 0);
        assert_eq!((buckets.met(77), buckets.met(78)), (Some(0), None));
        assert_eq!(buckets.all()[0].count, 2);
    }

    #[test]
    fn what_lacks_an_edge_that_all_others_have_is_kept() {
        let mut buckets = Buckets::default();
        place(&mut buckets, &crash(1, "x"));
        buckets.keep(0, &[1, 1, 0, 1], 6, "id:0".into());
        assert!(!buckets.takes(0, &[1, 1, 0, 1], false) && !buckets.takes(0, &[1, 1, 1, 1], false));
        assert!(buckets.takes(0, &[1, 0, 1, 1], false) && buckets.takes(0, &[1, 1], false));
        buckets.keep(0, &[1, 0, 1, 1], 6, "id:1".into());
        assert!(!buckets.takes(0, &[1, 0, 0, 1], false) && buckets.takes(0, &[1, 0, 0, 1], true));
    }

    #[test]
    fn messages_that_are_made_of_inputs_do_not_make_buckets_without_end() {
        let mut buckets = Buckets::default();
        for number in 0..1000 {
            place(&mut buckets, &crash(1, &format!("unknown word w{number}")));
        }
        assert_eq!(buckets.all().len(), MAX_MESSAGES + 1);
        assert_eq!(buckets.all()[MAX_MESSAGES].count, 1000 - MAX_MESSAGES as u64);
        // Other places are not concerned.
        assert_eq!(place(&mut buckets, &crash(2, "unknown word x")), (MAX_MESSAGES + 1, true));
    }

    #[test]
    fn crashes_of_which_nothing_is_known_are_told_apart_by_edges_alone() {
        let mut buckets = Buckets::default();
        let (bucket, _) = place(&mut buckets, &Crash::of(Verdict::Signal(11)));
        for number in 0..MAX_KEPT_VAGUE {
            assert!(buckets.takes(bucket, &[], true));
            buckets.keep(bucket, &[], 11, number.to_string());
        }
        assert!(!buckets.takes(bucket, &[], true));
    }
}
