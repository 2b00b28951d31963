//! Environment variables that hold a number of tokens.

use dormouse_base::Environment;

use crate::message_catalog::msg;
use crate::wiring::exit::Failure;

/// The number in a variable; none if it is not set.
pub(crate) fn token_variable(
    environment: &Environment,
    name: &str,
) -> Result<Option<u32>, Failure> {
    let Some(text) = environment.get(name) else { return Ok(None) };
    text.trim().parse().map(Some).map_err(|_| {
        let message = msg!("tokens-invalid", name = name, value = text);
        Failure::usage(anyhow::anyhow!(message)).hint(msg!("tokens-invalid-hint", name = name))
    })
}
