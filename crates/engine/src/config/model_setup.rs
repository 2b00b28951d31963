//! The model of a conversation, and what it may cost.

use std::sync::Arc;

use dormouse_conversation::{Budget, Effort, PrefixOrigin};
use dormouse_model::{Dialect, Model, PriceTable};

/// A model, its server and the window it has there.
#[derive(Clone)]
pub struct ModelSetup {
    /// The client that sends requests.
    pub client: Arc<Model>,
    /// The model's name.
    pub name: String,
    /// The requested name and server, stored with the session.
    pub origin: PrefixOrigin,
    /// The wire format of the server.
    pub dialect: Dialect,
    /// Token budgets for its window.
    pub budget: Budget,
    /// The reasoning effort, for servers that support it; none leaves it to them.
    pub effort: Option<Effort>,
}

/// Prices and the cost limit.
#[derive(Clone)]
pub struct CostRules {
    /// Prices per token.
    pub prices: PriceTable,
    /// The cost limit in dollars, as far as prices are known.
    pub max_usd: Option<f64>,
    /// The largest share of a session's cost that background tasks may be.
    pub background_share: f64,
}
