//! What a conversation costs, and what may still be spent on it.

use dormouse_conversation::Usage;

use crate::Engine;
use crate::turn_state::CostBudget;

impl Engine {
    /// What a usage of its model costs, in dollars; none where the price is not known.
    pub fn cost_usd(&self, usage: &Usage) -> Option<f64> {
        let config = &self.config;
        config.prices.cost_usd(&config.model_name, usage, config.dialect.ttl)
    }

    /// What this run has spent, in dollars, as far as prices are known: the conversation, and all beside and below it.
    pub fn spent_usd(&self) -> f64 {
        self.spent_usd + self.turn_usd + self.spent_beside_usd()
    }

    /// What agents and work beside the conversation have spent of that.
    pub fn spent_beside_usd(&self) -> f64 {
        self.forks_spent.usd()
    }

    /// An agent spends from the purse that it shares with those above it.
    pub(crate) fn spend(&mut self, usd: f64) {
        match self.config.subagent {
            None => self.spent_usd += usd,
            Some(_) => self.forks_spent.add(usd),
        }
    }

    /// What may still be spent; none where there is no limit, or no price to hold it against.
    pub(crate) fn purse(&self) -> Option<CostBudget> {
        let left_usd = self.config.max_cost_usd? - self.spent_usd - self.forks_spent.usd();
        let price = self.config.prices.price(&self.config.model_name)?;
        Some(CostBudget { left_usd, price, ttl: self.config.dialect.ttl })
    }
}

#[cfg(test)]
#[path = "spending_tests.rs"]
pub(crate) mod tests;
