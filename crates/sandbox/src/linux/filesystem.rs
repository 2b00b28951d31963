//! Landlock: which files may be read and written.
//!
//! Landlock only grants. To keep credentials unreadable, reading is granted to everything beside them: to all entries of the
//! folders above them, but not to those folders as a whole.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, BitFlags, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset,
    RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetError, RulesetStatus, Scope,
    make_bitflags,
};

use crate::policy::{SandboxError, SandboxPolicy};

/// Devices that every program writes to.
const DEVICES: &[&str] =
    &["/dev/null", "/dev/zero", "/dev/full", "/dev/tty", "/dev/ptmx", "/dev/pts", "/dev/shm"];

/// The version of Landlock that the kernel has; none where it has none or is told not to use it.
pub(crate) fn version() -> Option<i32> {
    let created = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(ABI::V1))
        .and_then(Ruleset::create);
    created.ok()?;
    let known = [(ABI::V6, 6), (ABI::V5, 5), (ABI::V3, 3), (ABI::V2, 2)];
    let has = |abi: ABI| {
        let mut ruleset = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
        if abi == ABI::V6 {
            ruleset = ruleset.scope(Scope::AbstractUnixSocket)?;
        }
        ruleset.handle_access(AccessFs::from_all(abi))?.create()
    };
    Some(known.into_iter().find(|(abi, _)| has(*abi).is_ok()).map_or(1, |(_, number)| number))
}

/// Changing what a folder contains. Devices are made nowhere.
fn writing() -> BitFlags<AccessFs> {
    make_bitflags!(AccessFs::{
        WriteFile | RemoveDir | RemoveFile | MakeDir | MakeReg | MakeSock | MakeFifo | MakeSym | Refer | Truncate
    })
}

pub(crate) fn restrict(policy: &SandboxPolicy) -> Result<(), SandboxError> {
    let refused = |error: RulesetError| SandboxError::Refused(error.to_string());
    let handled = writing() | AccessFs::MakeChar | AccessFs::MakeBlock | AccessFs::ReadFile;
    let created = Ruleset::default()
        .handle_access(handled)
        // Not signals: the commands of a session are no family, and one ends what another has started.
        .and_then(|ruleset| ruleset.scope(Scope::AbstractUnixSocket))
        .and_then(Ruleset::create)
        .map_err(refused)?;
    let readable = readable(&policy.hidden);
    let created = grant(created, readable.iter(), AccessFs::ReadFile.into()).map_err(refused)?;
    let created = grant(created, policy.writable.iter(), writing()).map_err(refused)?;
    let devices: Vec<PathBuf> = DEVICES.iter().map(PathBuf::from).collect();
    let created = grant(created, devices.iter(), writing()).map_err(refused)?;
    let status = created.restrict_self().map_err(refused)?;
    match status.ruleset {
        RulesetStatus::NotEnforced => Err(SandboxError::Unsupported),
        RulesetStatus::FullyEnforced | RulesetStatus::PartiallyEnforced => Ok(()),
    }
}

/// Grants access to paths; those that do not exist are left out.
fn grant<'p>(
    mut created: RulesetCreated,
    paths: impl Iterator<Item = &'p PathBuf>,
    access: BitFlags<AccessFs>,
) -> Result<RulesetCreated, RulesetError> {
    for path in paths {
        let Ok(file) = PathFd::new(path) else { continue };
        // Rights about the contents of folders do not apply to a file.
        let access = if path.is_dir() { access } else { access & AccessFs::from_file(ABI::V5) };
        created = created.add_rule(PathBeneath::new(file, access))?;
    }
    Ok(created)
}

/// Everything but what is hidden, in as few paths as can be.
fn readable(hidden: &[PathBuf]) -> Vec<PathBuf> {
    let real: BTreeSet<PathBuf> =
        hidden.iter().filter_map(|path| path.canonicalize().ok()).collect();
    let mut readable = Vec::new();
    let mut folders = vec![PathBuf::from("/")];
    while let Some(folder) = folders.pop() {
        let has_hidden = real.iter().any(|hidden| hidden.starts_with(&folder));
        if !has_hidden {
            readable.push(folder);
        } else if !real.contains(&folder) {
            // A folder that cannot be listed cannot be granted in parts: what is in it stays unreadable.
            let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten();
            folders.extend(entries.map(|entry| entry.path()).filter(|path| !is_link(path)));
        }
    }
    readable
}

/// What a link leads to is granted where it is.
fn is_link(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|metadata| metadata.is_symlink())
}
