//! Permission modes by how much they allow, and in words.

use dormouse_permissions::PermissionMode;

use crate::message_catalog::msg;

/// The modes, from the one that allows least.
const MODES: [PermissionMode; 4] = [
    PermissionMode::Plan,
    PermissionMode::Default,
    PermissionMode::AcceptEdits,
    PermissionMode::Bypass,
];

/// The modes that allow no more than this one.
pub(crate) fn modes_up_to(most: PermissionMode) -> Vec<PermissionMode> {
    let last = MODES.iter().position(|mode| *mode == most).unwrap_or_default();
    MODES.iter().take(last + 1).copied().collect()
}

/// What a mode allows, in words.
pub(crate) fn mode_description(mode: PermissionMode) -> String {
    match mode {
        PermissionMode::Default => msg!("mode-default"),
        PermissionMode::AcceptEdits => msg!("mode-accept-edits"),
        PermissionMode::Plan => msg!("mode-plan"),
        PermissionMode::Bypass => msg!("mode-bypass"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_mode_allows_more_than_the_last() {
        let names =
            |most| modes_up_to(most).into_iter().map(PermissionMode::name).collect::<Vec<_>>();
        assert_eq!(names(PermissionMode::Plan), ["plan"]);
        assert_eq!(names(PermissionMode::Default), ["plan", "default"]);
        assert_eq!(names(PermissionMode::Bypass).len(), 4);
    }
}
