//! Answers hooks of the kinds `prompt` and `agent`: with one request, or with a fork that may read files.

use std::sync::{Arc, Mutex, PoisonError};

use dormouse_base::{Clock, IdSource, MessageId};
use dormouse_conversation::metrics::{
    ConversationKind, Metric, RequestMetric, RequestOutcome, SessionMetrics,
};
use dormouse_conversation::{
    Block, EnvironmentFacts, Message, MessageFlags, Prefix, RequestOptions, ResponseFormat,
    SystemBlock, Usage,
};
use dormouse_hooks::{HookModel, HookModelError, HookModelRequest};
use dormouse_model::{PriceTable, WireBody};
use futures_util::future::BoxFuture;
use serde_json::value::RawValue;

use crate::config::EngineConfig;
use crate::fork::{ForkEnd, ForkGate, ForkOrder, ForkSource, Writes};
use crate::recall::SmallModel;
use crate::spending::SharedCost;

/// The purpose of these requests in the figures.
const PURPOSE: &str = "hook";
const MAX_TOKENS: u32 = 1_024;
/// The most requests of an agent.
const MAX_TURNS: u32 = 50;

/// The conversation that hooks belong to.
#[derive(Clone)]
struct ConnectedConversation {
    main: SmallModel,
    /// Where agents start.
    seed: ForkSource,
}

/// The models that the hooks of one conversation ask.
pub(crate) struct EngineHookModel {
    /// `None` before the conversation exists.
    conversation: Mutex<Option<ConnectedConversation>>,
    small: Option<SmallModel>,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn IdSource>,
    figures: SessionMetrics,
    prices: PriceTable,
    spent: SharedCost,
}

impl std::fmt::Debug for EngineHookModel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EngineHookModel").field("small", &self.small).finish_non_exhaustive()
    }
}

impl EngineHookModel {
    pub(crate) fn new(config: &EngineConfig, figures: SessionMetrics, spent: SharedCost) -> Self {
        Self {
            conversation: Mutex::default(),
            small: config.small.clone(),
            clock: Arc::clone(&config.services.clock),
            ids: Arc::clone(&config.services.ids),
            figures,
            prices: config.cost.prices.clone(),
            spent,
        }
    }

    /// Sets the conversation's model and the state that agents start from.
    pub(crate) fn connect(&self, main: SmallModel, seed: ForkSource) {
        *self.conversation.lock().unwrap_or_else(PoisonError::into_inner) =
            Some(ConnectedConversation { main, seed });
    }

    fn conversation(&self) -> Option<ConnectedConversation> {
        self.conversation.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The model that the hook names, else the small model, else the conversation's.
    fn model_for(&self, name: Option<&str>) -> Option<SmallModel> {
        let main = || self.conversation().map(|conversation| conversation.main);
        match name {
            Some(name) => main().map(|main| SmallModel { name: name.to_owned(), ..main }),
            None => self.small.clone().or_else(main),
        }
    }

    fn body(&self, model: &SmallModel, request: HookModelRequest<'_>) -> Option<Vec<u8>> {
        let options = RequestOptions {
            response_format: ResponseFormat::Json {
                name: "verdict".to_owned(),
                schema: RawValue::from_string(request.schema.to_owned()).ok()?,
            },
            ..RequestOptions::new(&model.name, MAX_TOKENS)
        };
        let system = vec![SystemBlock { text: request.task.to_owned(), is_static: true }];
        let prefix = Prefix::new(system, Vec::new(), Vec::new(), EnvironmentFacts::default());
        let mut body = WireBody::new(model.dialect.clone(), &prefix, &options);
        let id = MessageId::generate(&*self.ids);
        let question = vec![Block::text(request.question)];
        body.append(&Message::user(id, self.clock.now(), question, MessageFlags::default()));
        Some(body.render(&[]))
    }

    async fn ask_model(&self, request: HookModelRequest<'_>) -> Result<String, HookModelError> {
        let model = self.model_for(request.model).ok_or(HookModelError::NoConversation)?;
        let Some(body) = self.body(&model, request) else { return Ok(String::new()) };
        let since = self.clock.elapsed();
        let response = model.model.ask(body).await;
        let took = self.clock.elapsed().saturating_sub(since);
        let (usage, outcome) = match &response {
            Ok(response) => (response.usage, RequestOutcome::Answered),
            Err(error) => (Usage::default(), RequestOutcome::Failed(error.kind().to_owned())),
        };
        let cost_usd = self.prices.cost_usd(&model.name, &usage, model.dialect.ttl);
        self.spent.add(&usage, cost_usd);
        self.figures.record(&Metric::Request(RequestMetric {
            model: model.name.clone(),
            lane: ConversationKind::Subagent,
            purpose: Some(PURPOSE.to_owned()),
            outcome,
            usage,
            duration_ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
            messages: 1,
            cost_usd,
            cache_break: None,
        }));
        match response {
            Ok(response) => Ok(response.text()),
            Err(error) => Err(HookModelError::Request(error.to_string())),
        }
    }

    async fn run_fork(&self, request: HookModelRequest<'_>) -> Result<String, HookModelError> {
        let conversation = self.conversation().ok_or(HookModelError::NoConversation)?;
        let order = ForkOrder {
            purpose: PURPOSE,
            message: format!(
                "{}\n\nYou may read and search first.\n\n{}",
                request.task, request.question
            ),
            gate: ForkGate { reads: true, writes: Writes::Nowhere, tools: &[] },
            tools: Vec::new(),
            most_turns: MAX_TURNS,
            ends_after_changes: false,
        };
        let report = conversation.seed.for_hook(request.model).run(order, None).await;
        match report.end {
            ForkEnd::Completed => Ok(report.text),
            ForkEnd::Cut | ForkEnd::Repeated => Err(HookModelError::TokenLimit),
            ForkEnd::MaxTurns => Err(HookModelError::MaxTurns(MAX_TURNS)),
            ForkEnd::Failed(error) => Err(HookModelError::Request(error.to_string())),
        }
    }
}

impl HookModel for EngineHookModel {
    fn ask<'a>(
        &'a self,
        request: HookModelRequest<'a>,
    ) -> BoxFuture<'a, Result<String, HookModelError>> {
        Box::pin(self.ask_model(request))
    }

    fn run_agent<'a>(
        &'a self,
        request: HookModelRequest<'a>,
    ) -> BoxFuture<'a, Result<String, HookModelError>> {
        Box::pin(self.run_fork(request))
    }
}
