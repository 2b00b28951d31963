//! No network: sockets of every family but the local one are refused by a seccomp filter.

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch,
};

use crate::policy::SandboxError;

pub(crate) fn deny() -> Result<(), SandboxError> {
    let refused = |error: String| SandboxError::Refused(error);
    let program = program().map_err(|error| refused(error.to_string()))?;
    seccompiler::apply_filter(&program).map_err(|error| refused(error.to_string()))
}

fn program() -> Result<BpfProgram, seccompiler::BackendError> {
    let local = u64::try_from(libc::AF_UNIX).unwrap_or_default();
    let other_family = SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, local)?;
    let not_local = vec![SeccompRule::new(vec![other_family])?];
    let rules = BTreeMap::from([
        (libc::SYS_socket, not_local.clone()),
        (libc::SYS_socketpair, not_local),
        // It makes sockets without asking the filter.
        (libc::SYS_io_uring_setup, Vec::new()),
    ]);
    let errno = u32::try_from(libc::EPERM).unwrap_or_default();
    let filter = SeccompFilter::new(
        rules,
        SeccompAction::Allow,
        SeccompAction::Errno(errno),
        TargetArch::try_from(std::env::consts::ARCH)?,
    )?;
    filter.try_into()
}
