//! The one account of a conversation's tokens and cost, and the cost limit. Costs are summed request by request: the price of a
//! request may depend on its length, and the model may change.
//!
//! Invariant: a subagent spends from the budget it shares with the conversations above it, so a cost limit holds for
//! all of them together.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use dormouse_context::layers::{CacheCharges, TokenCosts};
use dormouse_conversation::Usage;
use dormouse_model::{CacheTtl, Price, PriceTable, WireFormat, cost_usd};

use crate::background_limit::{BackgroundLimit, TaskSums};
use crate::config::model_setup::{CostRules, ModelSetup};

/// The requests, tokens and dollars of a conversation.
#[derive(Debug)]
pub struct Spending {
    pricing: Pricing,
    max_usd: Option<f64>,
    background: BackgroundLimit,
    requests: u64,
    /// The tokens of completed turns.
    usage: Usage,
    /// The tokens of the turn that runs.
    turn_usage: Usage,
    /// The usage of the last request.
    last_usage: Usage,
    /// Dollars of completed turns.
    completed: SpentDollars,
    /// Dollars of the turn that runs.
    turn: SpentDollars,
    /// Dollars of forks and subagents.
    shared: SharedCost,
    is_subagent: bool,
}

/// Dollars, as far as prices are known.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct SpentDollars {
    /// Dollars of the requests whose price is known.
    pub known: f64,
    /// Whether a request had no known price.
    pub is_incomplete: bool,
}

impl SpentDollars {
    /// All of it; none if a part is unknown.
    pub fn total(self) -> Option<f64> {
        (!self.is_incomplete).then_some(self.known)
    }

    /// The cost of one request; none where its price is unknown.
    pub(crate) fn of(usd: Option<f64>) -> Self {
        Self { known: usd.unwrap_or(0.0), is_incomplete: usd.is_none() }
    }

    /// Adds the cost of one request. One that used no tokens costs nothing, whatever its price.
    pub(crate) fn add(&mut self, usage: &Usage, usd: Option<f64>) {
        if *usage != Usage::default() {
            *self = self.plus(Self::of(usd));
        }
    }

    fn plus(self, other: Self) -> Self {
        Self {
            known: self.known + other.known,
            is_incomplete: self.is_incomplete || other.is_incomplete,
        }
    }
}

/// What is known, as a lower bound where it is not all: never 0 for what is unknown.
impl fmt::Display for SpentDollars {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.is_incomplete, self.known > 0.0) {
            (false, _) => write!(f, "${:.4}", self.known),
            (true, true) => write!(f, "more than ${:.4}", self.known),
            (true, false) => f.write_str("unknown"),
        }
    }
}

/// What the requests of one turn used and cost.
#[derive(Debug, Clone, Default)]
pub(crate) struct TurnAccount {
    /// The price of requests to the model; none if it is unknown.
    price: Option<(Price, CacheTtl)>,
    /// The most dollars that the turn may spend.
    limit_usd: Option<f64>,
    usage: Usage,
    spent: SpentDollars,
}

impl TurnAccount {
    pub(crate) fn new(price: Option<(Price, CacheTtl)>, limit_usd: Option<f64>) -> Self {
        Self { price, limit_usd, ..Self::default() }
    }

    /// Subagents have spent some of the limit.
    pub(crate) fn set_limit(&mut self, limit_usd: Option<f64>) {
        self.limit_usd = limit_usd;
    }

    /// Counts one request, also one that broke off.
    pub(crate) fn count(&mut self, usage: Usage) {
        self.usage = self.usage.plus(usage);
        self.spent.add(&usage, self.price.map(|(price, ttl)| cost_usd(&usage, price, ttl)));
    }

    /// Whether no further request may be sent. Without a price there is nothing to hold against the limit.
    pub(crate) fn is_limit_reached(&self) -> bool {
        let limit = self.limit_usd.filter(|_| self.price.is_some());
        limit.is_some_and(|limit| self.spent.known >= limit)
    }

    pub(crate) fn usage(&self) -> Usage {
        self.usage
    }

    /// Dollars of the requests; none where their price is unknown.
    pub(crate) fn cost_usd(&self) -> Option<f64> {
        self.spent.total()
    }
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

    /// What a token of a prompt costs in dollars; where the price is unknown, in tokens that the server evaluates.
    pub(crate) fn token_costs(&self, wire: WireFormat, server_caches: bool) -> TokenCosts {
        let charges = match (server_caches, wire) {
            (false, _) => CacheCharges::NoCache,
            (true, WireFormat::OpenAi) => CacheCharges::Reads,
            (true, WireFormat::Anthropic) => CacheCharges::ReadsAndWrites,
        };
        TokenCosts::new(charges, |usage| self.cost_usd(usage))
    }

    /// The same prices for another model.
    pub(crate) fn for_model(&self, model: &str) -> Self {
        Self { model: model.to_owned(), ..self.clone() }
    }
}

/// What forks and subagents have spent. Clones share one sum.
#[derive(Debug, Clone, Default)]
pub(crate) struct SharedCost(Arc<Mutex<SharedSums>>);

/// What was spent beside a conversation.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct SharedSums {
    /// Dollars of forks and subagents.
    pub(crate) spent: SpentDollars,
    /// Of that, what background tasks have taken.
    pub(crate) tasks: TaskSums,
}

impl SharedCost {
    /// Adds the cost of one request; none where its price is unknown.
    pub(crate) fn add(&self, usage: &Usage, usd: Option<f64>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).spent.add(usage, usd);
    }

    /// Adds the cost of one request of a background task.
    pub(crate) fn add_task(&self, usage: &Usage, usd: Option<f64>) {
        self.add(usage, usd);
        let mut sums = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        sums.tasks.usd += usd.unwrap_or(0.0);
        sums.tasks.usage = sums.tasks.usage.plus(*usage);
        sums.tasks.requests += 1;
    }

    fn add_run(&self, usd: Option<f64>) {
        let mut sums = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        sums.spent = sums.spent.plus(SpentDollars::of(usd));
    }

    pub(crate) fn spent(&self) -> SpentDollars {
        self.sums().spent
    }

    pub(crate) fn sums(&self) -> SharedSums {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Closes a prompt in the history that got no response because of the cost limit.
pub(crate) const NO_RESPONSE_MAX_COST: &str = "[no answer: the cost limit was reached]";

impl Spending {
    pub(crate) fn new(cost: &CostRules, model: &ModelSetup, is_subagent: bool) -> Self {
        Self {
            pricing: Pricing::new(&cost.prices, &model.name, model.dialect.ttl),
            max_usd: cost.max_usd,
            background: BackgroundLimit::new(cost.background_share),
            requests: 0,
            usage: Usage::default(),
            turn_usage: Usage::default(),
            last_usage: Usage::default(),
            completed: SpentDollars::default(),
            turn: SpentDollars::default(),
            shared: SharedCost::default(),
            is_subagent,
        }
    }

    /// The cost of one request to its model, in dollars; none where the price is unknown.
    pub(crate) fn cost_usd(&self, usage: &Usage) -> Option<f64> {
        self.pricing.cost_usd(usage)
    }

    /// Whether the price of its model is known.
    pub fn is_priced(&self) -> bool {
        self.pricing.prices.price(&self.pricing.model).is_some()
    }

    /// The tokens used by the turns of this process, with the one that runs.
    pub fn usage(&self) -> Usage {
        self.usage.plus(self.turn_usage)
    }

    /// The usage of the last request of the conversation.
    pub fn last_usage(&self) -> Usage {
        self.last_usage
    }

    /// The dollars spent so far, with background tasks and subagents.
    pub fn spent(&self) -> SpentDollars {
        self.completed.plus(self.turn).plus(self.background())
    }

    /// The dollars that background tasks and subagents have spent of that.
    pub fn background(&self) -> SpentDollars {
        self.shared.spent()
    }

    /// Whether background tasks may spend more (B-29).
    pub(crate) fn background_has_room(&self) -> bool {
        self.background.has_room(&self.shared.sums().tasks, self.spent().known, &self.usage())
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
        self.last_usage = *usage;
        self.turn_usage = self.turn_usage.plus(*usage);
        self.turn.add(usage, self.pricing.cost_usd(usage));
    }

    /// The run of the loop is over, at this cost; none where the price is unknown.
    pub(crate) fn finish_run(&mut self, usd: Option<f64>) {
        self.turn = SpentDollars::default();
        if self.is_subagent {
            self.shared.add_run(usd);
        } else {
            self.completed = self.completed.plus(SpentDollars::of(usd));
        }
    }

    /// A small request beside the turn, such as the selection of memories.
    pub(crate) fn add(&mut self, spent: SpentDollars) {
        self.completed = self.completed.plus(spent);
    }

    /// The turn is over, with these tokens: also those of responses that broke off.
    pub(crate) fn finish_turn(&mut self, usage: Usage) {
        self.turn_usage = Usage::default();
        self.usage = self.usage.plus(usage);
    }

    /// What subagents may spend of the cost limit.
    pub(crate) fn left_usd(&self) -> Option<f64> {
        self.max_usd.map(|most| most - self.completed.known - self.turn.known)
    }

    /// The account of a turn that begins.
    pub(crate) fn turn_account(&self) -> TurnAccount {
        let price = self.pricing.prices.price(&self.pricing.model);
        TurnAccount::new(price.map(|price| (price, self.pricing.ttl)), self.limit_of_turn())
    }

    /// What the turn may spend; none without a limit.
    pub(crate) fn limit_of_turn(&self) -> Option<f64> {
        Some(self.max_usd? - self.completed.known - self.shared.spent().known)
    }
}

#[cfg(test)]
#[path = "spending_tests.rs"]
pub(crate) mod tests;
