//! A fork's own loop: request, calls, again, a few times at most.

use futures_util::future::BoxFuture;
use std::sync::Arc;

use dormouse_base::MessageId;
use dormouse_conversation::known_tools::traits_of;
use dormouse_conversation::{
    Block, CallLabel, FileUse, Message, Response, ResultContent, StopReason, ToolUse, Usage,
};
use dormouse_model::{AnswerCut, AnswerWatch, Completion, ModelError};
use dormouse_permissions::PermissionVerdict;
use dormouse_tools::{CallRunner, ToolSet};
use serde_json::Value;

use super::accounting::SentFork;
use super::gate::ForkGuard;
use super::opening::{FORK_FLAGS, opening_blocks};
use super::order::{ForkEnd, ForkOrder, ForkReport};
use super::source::ForkSource;
use crate::jobs::JobHandle;
use crate::stored_results::without_secrets;

/// The reasons of so many denied calls are kept.
const DENIALS_KEPT: usize = 20;

impl ForkSource {
    /// Runs a fork to its end. Dropping the future ends it.
    pub fn run(self, order: ForkOrder, job: Option<&JobHandle>) -> BoxFuture<'_, ForkReport> {
        Box::pin(async move {
            let mut fork = Fork::new(self, order, job);
            let end = fork.work().await;
            ForkReport { end, ..fork.report }
        })
    }
}

struct Fork<'j> {
    source: ForkSource,
    order: ForkOrder,
    job: Option<&'j JobHandle>,
    report: ForkReport,
}

impl<'j> Fork<'j> {
    fn new(mut source: ForkSource, order: ForkOrder, job: Option<&'j JobHandle>) -> Self {
        if let Some(job) = job {
            source.calls.context.cancel = job.cancel.child_token();
        }
        if !order.tools.is_empty() {
            let tools = ToolSet::clone(&source.calls.tools);
            source.calls.tools = Arc::new(tools.with(order.tools.iter().cloned()));
        }
        source.calls.context.file_guard = Some(Arc::new(ForkGuard {
            writes: order.gate.writes.clone(),
            parent: source.calls.context.file_guard.take(),
        }));
        let report = ForkReport {
            end: ForkEnd::Completed,
            text: String::new(),
            turns: 0,
            usage: Usage::default(),
            denied: 0,
            denials: Vec::new(),
        };
        Self { source, order, job, report }
    }

    async fn work(&mut self) -> ForkEnd {
        self.append_user(opening_blocks(&[], &self.order.message));
        loop {
            if self.report.turns >= self.order.most_turns {
                return ForkEnd::MaxTurns;
            }
            self.report.turns += 1;
            if let Some(job) = self.job {
                job.requested();
                if self.report.turns == 1 {
                    job.phase("reading");
                }
            }
            let (completion, cut) = match self.ask().await {
                Ok(answer) => answer,
                Err(error) => return ForkEnd::Failed(error),
            };
            self.report.text = completion.text();
            let stopped = completion.stop_reason.clone();
            let calls = self.take_in(completion);
            if let Some(job) = self.job {
                job.said(&turn_text(&self.report.text, &calls));
            }
            match cut {
                Some(AnswerCut::TooLong) => return ForkEnd::Cut,
                Some(AnswerCut::Repeats) => return ForkEnd::Repeated,
                None => {}
            }
            if calls.is_empty() {
                return match stopped {
                    Some(StopReason::MaxTokens | StopReason::ContextWindowExceeded) => ForkEnd::Cut,
                    _ => ForkEnd::Completed,
                };
            }
            let mut results = Vec::new();
            for call in &calls {
                if let Some(call) = call.as_tool_use() {
                    results.push(self.call(call).await);
                }
            }
            if self.order.ends_after_changes && all_changed(&calls, &results) {
                return ForkEnd::Completed;
            }
            self.append_user(results);
        }
    }

    /// The answer joins the fork's conversation; gives its calls.
    fn take_in(&mut self, completion: Completion) -> Vec<Block> {
        let empty = |block: &Block| block.as_text().is_some_and(|text| text.trim().is_empty());
        let blocks: Vec<Block> =
            completion.blocks.into_iter().filter(|block| !empty(block)).collect();
        let calls = blocks.iter().filter(|block| block.as_tool_use().is_some()).cloned().collect();
        if !blocks.is_empty() {
            let response = Response {
                id: String::new(),
                model: self.source.model_name.clone(),
                stop_reason: completion.stop_reason,
                usage: completion.usage,
                request_id: None,
            };
            let now = self.source.services.clock.now();
            let message = Message::assistant(self.new_id(), now, blocks, response);
            self.source.wire.append(&message);
        }
        calls
    }

    fn append_user(&mut self, blocks: Vec<Block>) {
        let now = self.source.services.clock.now();
        let message = Message::user(self.new_id(), now, blocks, FORK_FLAGS);
        self.source.wire.append(&message);
    }

    fn new_id(&self) -> MessageId {
        MessageId::generate(&*self.source.services.ids)
    }

    async fn ask(&mut self) -> Result<(Completion, Option<AnswerCut>), ModelError> {
        let mut retries = 0;
        loop {
            let error = match self.ask_once().await {
                Ok(answer) => return Ok(answer),
                Err(error) => error,
            };
            let Some(delay) = self.source.retry.delay(&error, retries, 0.5) else {
                return Err(error);
            };
            retries += 1;
            tokio::time::sleep(delay).await;
        }
    }

    async fn ask_once(&mut self) -> Result<(Completion, Option<AnswerCut>), ModelError> {
        let clock = Arc::clone(&self.source.services.clock);
        let since = clock.elapsed();
        let request = self.source.wire.next_request(since);
        let watch = AnswerWatch::new(self.source.longest_answer);
        let answer = self.source.model.ask_watched(request.bytes, watch).await;
        let took = clock.elapsed().saturating_sub(since);
        let counted = answer.as_ref().map(|(completion, _)| completion);
        let sent = SentFork {
            purpose: self.order.purpose,
            messages: request.messages,
            took,
            is_task: self.job.is_some(),
        };
        let usage = self.source.count(&sent, counted);
        self.report.usage = self.report.usage.plus(usage);
        if answer.is_ok() {
            self.source.wire.confirm(request.breakpoint);
        }
        answer
    }

    fn note_denied(&mut self, why: &str) {
        self.report.denied += 1;
        if self.report.denials.len() < DENIALS_KEPT {
            self.report.denials.push(why.to_owned());
        }
    }

    /// Every call has its result: what it gave, or why it was denied.
    async fn call(&mut self, received: ToolUse<'_>) -> Block {
        let calls = &self.source.calls;
        let repaired = calls.tools.repaired(received);
        let call = ToolUse { input: &repaired.input, ..received };
        let admitted = match calls.tools.get(call.name) {
            Some(tool) => {
                self.order.gate.admit(&**tool, call.input, &calls.context.folder, &calls.gate)
            }
            None => Ok(calls.gate.clone()),
        };
        let gate = match admitted {
            Ok(gate) => gate,
            Err(denial) => {
                let why = denial.to_string();
                self.note_denied(&why);
                return Block::tool_result(call.id, &ResultContent::Text(why), true);
            }
        };
        let observer = calls.observer.clone();
        let caller = CallRunner { observer, ..CallRunner::new(Arc::clone(&calls.tools), gate) };
        let bound = calls.results.bound(&calls.tools, call.name);
        let mut context = calls.context.clone();
        context.overflow = calls.results.overflow(call.id);
        let result = caller.run(call, &context).await;
        if let (Some(PermissionVerdict::Deny), ResultContent::Text(why)) =
            (result.verdict, &result.content)
        {
            self.note_denied(why);
        }
        let calls = &self.source.calls;
        let file = calls.tools.get(call.name).and_then(|tool| tool.file(call.input));
        if let (Some(job), Some(file), false) = (self.job, file, result.is_error) {
            job.phase("updating");
            job.touched(calls.context.folder.join(file));
        }
        let kept = match &result.spilled {
            Some(spilled) => calls.results.stored(spilled),
            None => {
                let content = without_secrets(result.content, &calls.context.redactor);
                calls.results.keep(call.id, bound, content)
            }
        };
        Block::tool_result(call.id, &repaired.tell(kept.content), result.is_error)
    }
}

/// A turn as it is shown: its text, and a line for each call.
fn turn_text(text: &str, calls: &[Block]) -> String {
    let calls = calls.iter().filter_map(Block::as_tool_use).map(|call| {
        let field = match traits_of(call.name).label {
            CallLabel::Argument(field) => Some(field),
            _ => traits_of(call.name).main_argument,
        };
        let arguments: Value = serde_json::from_str(call.input.get()).unwrap_or_default();
        let argument = field.and_then(|field| arguments.get(field)?.as_str());
        format!("{} {}", call.name, argument.unwrap_or_default()).trim_end().to_owned()
    });
    let text = Some(text.trim().to_owned()).filter(|text| !text.is_empty());
    text.into_iter().chain(calls).collect::<Vec<_>>().join("\n")
}

/// Whether every call changed a file and succeeded.
fn all_changed(calls: &[Block], results: &[Block]) -> bool {
    let changes = |call: &Block| {
        let file_use = call.as_tool_use().and_then(|call| traits_of(call.name).file_use);
        file_use.is_some_and(FileUse::changes)
    };
    calls.iter().all(changes) && !results.iter().any(Block::is_error)
}
