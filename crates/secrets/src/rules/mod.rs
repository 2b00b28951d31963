//! The table of rules, more specific rules first: where two rules match the same secret, the earlier one names it.

mod ai;
mod chat;
mod cloud;
mod code;
mod forms;
mod payment;
mod services;

use crate::rule::SecretRule;

/// Every rule, in table order.
pub(crate) fn all() -> impl Iterator<Item = &'static SecretRule> {
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
