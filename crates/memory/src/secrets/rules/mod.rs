//! The table of what secrets look like, the more telling rules first: where two rules see one secret, the
//! earlier names it.

mod ai;
mod chat;
mod cloud;
mod code;
mod forms;
mod payment;
mod services;

use super::rule::Rule;

/// Every rule.
pub(super) fn all() -> impl Iterator<Item = &'static Rule> {
    [
        ai::RULES,
        cloud::RULES,
        code::RULES,
        chat::RULES,
        payment::RULES,
        services::RULES,
        forms::RULES,
    ]
    .into_iter()
    .flatten()
}
