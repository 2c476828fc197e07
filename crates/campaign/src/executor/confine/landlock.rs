//! The rules of Landlock: read and execute anything, write only to the
//! scratch folder and to devices that keep nothing; signals and abstract
//! sockets only inside.

use super::{Layer, Missing};
use landlock::{
    ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset, RulesetAttr,
    RulesetCreatedAttr, RulesetError, Scope,
};
use std::os::fd::OwnedFd;

/// Devices that a target may write to.
const DEVICES: [&str; 4] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/tty"];

/// Rules that lack only the scratch folder: it is not there yet.
pub struct Writing {
    /// The rules.
    pub rules: OwnedFd,
    /// What may be done in the scratch folder, in the bits of the kernel.
    pub access: u64,
}

/// The rules for this kernel, and what it lacks. Without a network
/// namespace, TCP is refused here.
pub fn rules(without_network: bool, missing: &mut Vec<Missing>) -> Option<Writing> {
    let version = version();
    let mut lacks = |layer, why: String| missing.push(Missing { layer, why });
    if version <= 0 {
        lacks(Layer::Writing, "not in this kernel".into());
        return None;
    }
    if version < 6 {
        lacks(Layer::Signals, format!("it has version {version}, signals came with 6"));
    }
    match build(ABI::from(version), without_network && version >= 4) {
        Ok(Some(rules)) => Some(Writing { rules, access: AccessFs::from_write(ABI::from(version)).bits() }),
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

fn build(abi: ABI, without_network: bool) -> Result<Option<OwnedFd>, RulesetError> {
    let write = AccessFs::from_write(abi);
    let mut ruleset = Ruleset::default().set_compatibility(CompatLevel::BestEffort).handle_access(write)?;
    if !Scope::from_all(abi).is_empty() {
        ruleset = ruleset.scope(Scope::from_all(abi))?;
    }
    if without_network {
        ruleset = ruleset.handle_access(AccessNet::from_all(abi))?;
    }
    let mut created = ruleset.create()?;
    for path in DEVICES {
        // A device that is not there needs no rule.
        if let Ok(device) = PathFd::new(path) {
            created = created.add_rule(PathBeneath::new(device, write & AccessFs::from_file(abi)))?;
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
