//! The cost of a conversation, and the cost limit: [`CostBudget`] decides whether a turn may send another request.
//!
//! Invariant: a subagent spends from the budget it shares with the conversations above it, so a cost limit holds for
//! all of them together.

use std::sync::{Arc, Mutex, PoisonError};

use dormouse_conversation::Usage;
use dormouse_model::{CacheTtl, Price, PriceTable, cost_usd};

use crate::config::model_setup::{CostRules, ModelSetup};
use crate::event::TurnEnd;

/// The requests, tokens and dollars of a conversation.
#[derive(Debug)]
pub struct Spending {
    pricing: Pricing,
    max_usd: Option<f64>,
    requests: u64,
    usage: Usage,
    /// Dollars of completed turns.
    completed_usd: f64,
    /// Dollars of the turn that runs.
    turn_usd: f64,
    /// Dollars of forks and subagents.
    shared: SharedCost,
    is_subagent: bool,
}

/// Prices of one model.
#[derive(Debug, Clone)]
pub(crate) struct Pricing {
    prices: PriceTable,
    model: String,
    ttl: CacheTtl,
}

impl Pricing {
    pub(crate) fn new(prices: &PriceTable, model: &str, ttl: CacheTtl) -> Self {
        Self { prices: prices.clone(), model: model.to_owned(), ttl }
    }

    pub(crate) fn cost_usd(&self, usage: &Usage) -> Option<f64> {
        self.prices.cost_usd(&self.model, usage, self.ttl)
    }

    /// The same prices for another model.
    pub(crate) fn for_model(&self, model: &str) -> Self {
        Self { model: model.to_owned(), ..self.clone() }
    }
}

/// Dollars spent by forks and subagents, as far as prices are known. Clones share one sum.
#[derive(Debug, Clone, Default)]
pub(crate) struct SharedCost(Arc<Mutex<f64>>);

impl SharedCost {
    pub(crate) fn add(&self, usd: f64) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) += usd;
    }

    pub(crate) fn usd(&self) -> f64 {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Closes a prompt in the history that got no response because of the cost limit.
pub(crate) const NO_RESPONSE_MAX_COST: &str = "[no answer: the cost limit was reached]";

/// The part of the cost limit that is left for a turn.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CostBudget {
    pub(crate) left_usd: f64,
    pub(crate) price: Price,
    pub(crate) ttl: CacheTtl,
}

impl CostBudget {
    /// Enforces the cost limit: how a turn with this usage ends before its next request; none if it may go on.
    pub(crate) fn turn_end(&self, usage: &Usage) -> Option<TurnEnd> {
        let is_reached = cost_usd(usage, self.price, self.ttl) >= self.left_usd;
        is_reached.then_some(TurnEnd::MaxCost)
    }
}

impl Spending {
    pub(crate) fn new(cost: &CostRules, model: &ModelSetup, is_subagent: bool) -> Self {
        Self {
            pricing: Pricing::new(&cost.prices, &model.name, model.dialect.ttl),
            max_usd: cost.max_usd,
            requests: 0,
            usage: Usage::default(),
            completed_usd: 0.0,
            turn_usd: 0.0,
            shared: SharedCost::default(),
            is_subagent,
        }
    }

    /// The cost of a usage of its model, in dollars; none where the price is unknown.
    pub fn cost_usd(&self, usage: &Usage) -> Option<f64> {
        self.pricing.cost_usd(usage)
    }

    /// The tokens used in completed turns of this process.
    pub fn usage(&self) -> Usage {
        self.usage
    }

    /// The dollars spent so far, as far as prices are known, with background tasks and subagents.
    pub fn spent_usd(&self) -> f64 {
        self.completed_usd + self.turn_usd + self.background_usd()
    }

    /// The dollars that background tasks and subagents have spent of that.
    pub fn background_usd(&self) -> f64 {
        self.shared.usd()
    }

    pub(crate) fn pricing(&self) -> &Pricing {
        &self.pricing
    }

    pub(crate) fn shared(&self) -> &SharedCost {
        &self.shared
    }

    /// Spends from the budget of another conversation from now on.
    pub(crate) fn share(&mut self, shared: SharedCost) {
        self.shared = shared;
    }

    pub(crate) fn set_model(&mut self, model: &ModelSetup) {
        self.pricing.model.clone_from(&model.name);
        self.pricing.ttl = model.dialect.ttl;
    }

    pub(crate) fn requests(&self) -> u64 {
        self.requests
    }

    pub(crate) fn count_request(&mut self) {
        self.requests += 1;
    }

    /// A response of the turn that runs.
    pub(crate) fn count_response(&mut self, usage: &Usage) {
        self.turn_usd += self.cost_usd(usage).unwrap_or(0.0);
    }

    /// The run of the loop is over, at this cost.
    pub(crate) fn finish_run(&mut self, usd: f64) {
        self.turn_usd = 0.0;
        if self.is_subagent {
            self.shared.add(usd);
        } else {
            self.completed_usd += usd;
        }
    }

    /// A small request beside the turn, such as the selection of memories.
    pub(crate) fn add_usd(&mut self, usd: f64) {
        self.completed_usd += usd;
    }

    pub(crate) fn finish_turn(&mut self, usage: Usage) {
        self.usage = self.usage.plus(usage);
    }

    /// What subagents may spend of the cost limit.
    pub(crate) fn left_usd(&self) -> Option<f64> {
        self.max_usd.map(|most| most - self.completed_usd - self.turn_usd)
    }

    /// What the next turn may spend; none without a limit, or without a price to hold against it.
    pub(crate) fn budget(&self) -> Option<CostBudget> {
        let left_usd = self.max_usd? - self.completed_usd - self.shared.usd();
        let price = self.pricing.prices.price(&self.pricing.model)?;
        Some(CostBudget { left_usd, price, ttl: self.pricing.ttl })
    }
}

#[cfg(test)]
#[path = "spending_tests.rs"]
pub(crate) mod tests;
