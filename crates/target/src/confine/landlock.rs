//! The rules of Landlock: write only to the scratch folder and to devices
//! that keep nothing; signals and abstract sockets only inside. Where a
//! target has no view of its own, reading is bounded as well.

use super::view::DEVICES;
use super::{Layer, Missing};
use landlock::{
    ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset, RulesetAttr,
    RulesetCreatedAttr, RulesetError, Scope,
};
use std::os::fd::OwnedFd;
use std::path::PathBuf;

/// Rules that lack only the scratch folder: it is not there yet.
pub struct Writing {
    /// The rules.
    pub rules: OwnedFd,
    /// What may be done in the scratch folder, in the bits of the kernel.
    pub access: u64,
}

/// What the rules are to allow.
pub struct Allowed<'a> {
    /// Files and folders to write to, besides the scratch folder.
    pub write: &'a [PathBuf],
    /// All that may be read; nothing: everything.
    pub read: Option<Vec<PathBuf>>,
    /// TCP: there is a network namespace.
    pub network: bool,
}

/// The rules for this kernel, and what it lacks.
pub fn rules(allowed: &Allowed, missing: &mut Vec<Missing>) -> Option<Writing> {
    let version = version();
    let mut lacks = |layer, why: String| missing.push(Missing { layer, why });
    if version <= 0 {
        lacks(Layer::Writing, "not in this kernel".into());
        return None;
    }
    if version < 6 {
        lacks(Layer::Signals, format!("it has version {version}, signals came with 6"));
    }
    let abi = ABI::from(version);
    match build(abi, allowed, version >= 4) {
        Ok(Some(rules)) => {
            let read = if allowed.read.is_some() { AccessFs::from_read(abi).bits() } else { 0 };
            Some(Writing { rules, access: AccessFs::from_write(abi).bits() | read })
        }
        Ok(None) => {
            lacks(Layer::Writing, "refused".into());
            None
        }
        Err(error) => {
            lacks(Layer::Writing, error.to_string());
            None
        }
    }
}

fn build(abi: ABI, allowed: &Allowed, knows_network: bool) -> Result<Option<OwnedFd>, RulesetError> {
    let (write, read) = (AccessFs::from_write(abi), AccessFs::from_read(abi));
    let mut ruleset = Ruleset::default().set_compatibility(CompatLevel::BestEffort).handle_access(write)?;
    if allowed.read.is_some() {
        ruleset = ruleset.handle_access(read)?;
    }
    if !Scope::from_all(abi).is_empty() {
        ruleset = ruleset.scope(Scope::from_all(abi))?;
    }
    if !allowed.network && knows_network {
        ruleset = ruleset.handle_access(AccessNet::from_all(abi))?;
    }
    let mut created = ruleset.create()?;
    let all = |rights| if allowed.read.is_some() { rights | read } else { rights };
    let devices = DEVICES.iter().map(PathBuf::from).map(|path| (path, all(write)));
    let written = allowed.write.iter().map(|path| (path.clone(), all(write)));
    let reads = allowed.read.iter().flatten().map(|path| (path.clone(), read));
    for (path, rights) in devices.chain(written).chain(reads) {
        // What is not there needs no rule.
        let Ok(data) = std::fs::metadata(&path) else { continue };
        let rights = if data.is_dir() { rights } else { rights & AccessFs::from_file(abi) };
        if let Ok(open) = PathFd::new(&path)
            && !rights.is_empty()
        {
            created = created.add_rule(PathBeneath::new(open, rights))?;
        }
    }
    Ok(created.into())
}

/// The version of Landlock that the kernel has; 0 or less: none.
fn version() -> i32 {
    const CREATE_RULESET_VERSION: u32 = 1;
    // SAFETY: asks for the version only, without any memory.
    unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, 0usize, 0usize, CREATE_RULESET_VERSION) as i32 }
}
