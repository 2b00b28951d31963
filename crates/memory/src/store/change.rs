//! Making a change: plan, check, write, or propose.

use super::change_origin::ChangeOrigin;
use super::context::StoreContext;
use super::error::ChangeError;
use super::inbox_files;
use super::locked::Locked;
use super::outcome::ChangeOutcome;
use super::plan::ChangePlan;
use super::policy::PolicyAction;
use super::prepare::prepare;
use super::trash::purge;

/// Makes a change under the lock: `build` adds its parts to the plan.
pub(super) fn change(
    store: &StoreContext,
    origin: &ChangeOrigin,
    build: impl FnOnce(&mut ChangePlan<'_>) -> Result<(), ChangeError>,
) -> Result<ChangeOutcome, ChangeError> {
    let mut locked = Locked::acquire(store)?;
    let mut plan = ChangePlan::new(&locked, origin);
    build(&mut plan)?;
    let staged = plan.finish();
    let (prepared, action) = prepare(&locked, origin, staged)?;
    if prepared.is_empty() {
        return Ok(ChangeOutcome::Unchanged);
    }
    match action {
        PolicyAction::Auto | PolicyAction::Notify => {
            let receipt = locked.commit(prepared, action)?;
            drop(locked);
            // The change is written: a purge that fails is tried again after the next change.
            let _failed = purge(store);
            Ok(ChangeOutcome::Written(receipt))
        }
        PolicyAction::Ask => Ok(ChangeOutcome::Ask(prepared.proposal(origin))),
        PolicyAction::Inbox => {
            let proposal = prepared.proposal(origin);
            Ok(ChangeOutcome::InInbox(inbox_files::add(&store.state, proposal, locked.now)?))
        }
    }
}
