//! One conversation: its messages, its prefix, its transcript, and the bytes that were sent of it.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use dormouse_base::{MessageId, SessionId};
use dormouse_context::{EnvironmentChanges, Fragment};
use dormouse_conversation::metrics::SessionMetrics;
use dormouse_conversation::transcript::{LineEnvelope, Transcript};
use dormouse_conversation::{
    Block, Budget, EnvironmentFacts, Message, MessageFlags, MessageHistory, Prefix, Role, Usage,
    context_tokens,
};
use dormouse_hooks::{HookObserver, HookRunner, SessionSource};
use dormouse_instructions::LoadOccasion;
use dormouse_memory::Trust;
use dormouse_model::{BreakDetector, CacheTtl, WireBody};
use dormouse_tools::{
    CallContext, CallObserver, CallRunner, FileGuard, ReadCache, Shells, TodoList,
};
use tokio_util::sync::CancellationToken;

use crate::compact::{CompactionBreaker, UserMessages};
use crate::fork::SharedCost;
use crate::hook_model::EngineHookModel;
use crate::hook_wiring::hook_runner;
use crate::jobs::Jobs;
use crate::layers::CollapseState;
use crate::memory::MemoryFileGuard;
use crate::memory_usage::TurnUsage;
use crate::prompt::build_prefix;
use crate::recall::RecallState;
use crate::results::ResultStore;
use crate::session_tools::SessionTools;
use crate::startup_context::StartupContext;
use crate::{EngineConfig, EngineError, SessionFolder, Surroundings, TurnSnapshot};

/// A conversation.
pub struct Engine {
    pub(crate) config: EngineConfig,
    pub(crate) transcript: Transcript,
    pub(crate) history: MessageHistory,
    pub(crate) body: WireBody,
    pub(crate) prefix: Arc<Prefix>,
    /// Where the last request put its newest cache breakpoint.
    pub(crate) last_breakpoint: Option<usize>,
    pub(crate) detector: BreakDetector,
    pub(crate) read_cache: Arc<Mutex<ReadCache>>,
    pub(crate) todos: Arc<Mutex<TodoList>>,
    shells: Arc<Shells>,
    /// What the model has been told about the world.
    pub(crate) told: EnvironmentFacts,
    /// How the world was when it was last looked at.
    pub(crate) around: Surroundings,
    /// What the person has said.
    pub(crate) said: UserMessages,
    /// How compactions went.
    pub(crate) breaker: CompactionBreaker,
    /// What the last of them put in place of messages.
    pub(crate) last_summary: Option<String>,
    /// What is folded, and what is about to be.
    pub(crate) folding: CollapseState,
    /// What layers have freed since the last answer, whose counters know nothing of it.
    pub(crate) freed_tokens: u64,
    /// Requests that went out.
    pub(crate) requests: u64,
    pub(crate) totals: Usage,
    /// What those cost, in dollars, as far as prices are known.
    pub(crate) spent_usd: f64,
    /// The same for the turn that runs.
    pub(crate) turn_usd: f64,
    /// What forks have spent besides.
    pub(crate) forks_spent: SharedCost,
    /// What runs beside the conversation.
    pub(crate) jobs: Jobs,
    /// Instruction files.
    pub(crate) known: StartupContext,
    /// Hooks, if there are any.
    pub(crate) hooks: Option<Arc<HookRunner>>,
    /// The model that hooks ask, if there are hooks.
    pub(crate) hook_model: Option<Arc<EngineHookModel>>,
    /// Why the session began, until its hooks have run.
    pub(crate) begun_by: Option<SessionSource>,
    /// What hooks have said that goes with the next prompt.
    pub(crate) notes: Vec<String>,
    pub(crate) figures: SessionMetrics,
    /// What the disk would not take, to be written before anything else is.
    unwritten: Vec<Unwritten>,
    pub(crate) recall: RecallState,
    /// What is seen of the turn, for the counts of its memories.
    pub(crate) watch: TurnUsage,
    pub(crate) own: SessionTools,
    /// What has come from outside and was not told yet.
    pub(crate) arrivals: Vec<crate::IncomingMessage>,
    /// Those that stand behind the results of this round, which do not count yet.
    pub(crate) telling: Vec<crate::IncomingMessage>,
}

/// What a conversation begins with, or goes on with.
pub(crate) struct ConversationStart {
    pub(crate) prefix: Arc<Prefix>,
    pub(crate) known: StartupContext,
    pub(crate) history: MessageHistory,
    /// What the model was told last about the world, if that is not what the prefix says.
    pub(crate) told: Option<EnvironmentFacts>,
    pub(crate) around: Surroundings,
    pub(crate) said: UserMessages,
    pub(crate) folding: CollapseState,
    pub(crate) own: SessionTools,
}

/// A line that the transcript lacks.
enum Unwritten {
    /// What was written of this message does not count.
    Withdrawn(MessageId),
    /// This message, which is in the history.
    Message(Arc<Message>),
}

/// Stands where an answer was lost with the process that waited for it.
pub(crate) const LOST_ANSWER: &str = "[no answer: the run ended before one came]";

impl Engine {
    /// Begins a conversation.
    pub fn begin(
        config: EngineConfig,
        folder: &SessionFolder,
        surroundings: &Surroundings,
    ) -> Result<Self, EngineError> {
        let session = SessionId::generate(&*config.ids);
        let envelope = envelope(surroundings);
        let transcript = Transcript::create(
            folder.dir(),
            session,
            envelope,
            Arc::clone(&config.clock),
            Arc::clone(&config.ids),
        )?;
        Self::fresh(config, transcript, surroundings)
    }

    /// A conversation with nothing in it, behind a prefix that is built now.
    pub(crate) fn fresh(
        mut config: EngineConfig,
        mut transcript: Transcript,
        surroundings: &Surroundings,
    ) -> Result<Self, EngineError> {
        let own = SessionTools::add_to(&mut config, &transcript);
        config.tools = config.tools_now();
        let known = StartupContext::look(&config, LoadOccasion::Start);
        let (tools, size) = (&config.tools, config.budget.prompt.size);
        let prefix = build_prefix(surroundings, tools, size, &config.overrides, &known);
        transcript.record_prefix(&prefix, &config.origin)?;
        let begun = ConversationStart {
            prefix,
            known,
            history: MessageHistory::default(),
            told: None,
            around: surroundings.clone(),
            said: UserMessages::default(),
            folding: CollapseState::default(),
            own,
        };
        Ok(Self::assemble(config, transcript, begun))
    }

    pub(crate) fn assemble(
        config: EngineConfig,
        transcript: Transcript,
        begun: ConversationStart,
    ) -> Self {
        let ConversationStart { prefix, known, history, told, around, said, folding, own } = begun;
        let options = config.request_options();
        let mut body = WireBody::new(config.dialect.clone(), &prefix, &options);
        body.reserve(history.messages());
        for message in history.messages() {
            body.append(message);
        }
        // Memory is the session's: what an agent below it hears adds to that.
        if let (Some(memory), None) = (&config.memory, &config.subagent) {
            memory.access.begin(transcript.session());
            memory.access.provenance().record_history(history.messages().iter().map(AsRef::as_ref));
            if let Some(confirmer) = &config.confirmer {
                memory.access.set_confirmer(Arc::clone(confirmer));
            }
        }
        let source =
            if history.last().is_none() { SessionSource::Startup } else { SessionSource::Resume };
        // An agent's count among those of its session.
        let project = match &config.subagent {
            None => folder_name(transcript.path()),
            Some(side) => folder_name(side.session_folder.path()),
        };
        let figures = config.figures.for_session(transcript.session(), project);
        let forks_spent = SharedCost::default();
        let (hooks, hook_model) = hook_runner(&config, &transcript, &figures, &forks_spent).unzip();
        if let Some(memory) = &config.memory {
            memory.access.set_hooks(hooks.as_ref());
        }
        if let Some(hooks) = &hooks {
            own.skills.set_hooks(hooks);
        }
        let jobs = Jobs::new(Arc::clone(&config.clock), figures.clone());
        let engine = Self {
            figures,
            told: told.unwrap_or_else(|| prefix.facts().clone()),
            begun_by: hooks.is_some().then_some(source),
            hooks,
            hook_model,
            known,
            notes: Vec::new(),
            config,
            transcript,
            history,
            body,
            prefix,
            last_breakpoint: None,
            detector: BreakDetector::default(),
            read_cache: Arc::default(),
            todos: Arc::default(),
            shells: Arc::default(),
            around,
            said,
            breaker: CompactionBreaker::default(),
            last_summary: None,
            folding,
            freed_tokens: 0,
            requests: 0,
            totals: Usage::default(),
            spent_usd: 0.0,
            turn_usd: 0.0,
            forks_spent,
            jobs,
            unwritten: Vec::new(),
            recall: RecallState::default(),
            watch: TurnUsage::default(),
            own,
            arrivals: Vec::new(),
            telling: Vec::new(),
        };
        engine.connect_hook_model();
        engine
    }

    pub(crate) fn tell_changes(&mut self, now: &Surroundings) -> Result<(), EngineError> {
        self.around = now.clone();
        self.known.look_again(&self.config);
        let facts = self.known.add_to(now.facts(self.config.tools.names()));
        let facts = self.with_mode_as_told(facts);
        let Some(block) = self.changes_to(&facts) else { return Ok(()) };
        self.add_user(vec![block], MessageFlags { meta: true, ..MessageFlags::default() })?;
        self.transcript.record_facts(&facts)?;
        self.told = facts;
        Ok(())
    }

    /// What others announce and is other now than it was told, in the middle of a turn. Whoever sends it records the
    /// facts behind it.
    pub(crate) fn announced_since(&mut self) -> Option<(Block, EnvironmentFacts)> {
        if self.config.announcers.is_empty() {
            return None;
        }
        self.known.look_again(&self.config);
        let facts = self.known.announced_over(&self.told);
        Some((self.changes_to(&facts)?, facts))
    }

    fn changes_to(&self, facts: &EnvironmentFacts) -> Option<Block> {
        let room = self.config.budget.prompt.changes_tokens;
        let text = |name: &str| self.known.text_of(name);
        Some(EnvironmentChanges::between(&self.told, facts, room, text)?.to_block())
    }

    pub(crate) fn add_user(
        &mut self,
        blocks: Vec<Block>,
        flags: MessageFlags,
    ) -> Result<(), EngineError> {
        let message = Message::user(self.new_id(), self.config.clock.now(), blocks, flags);
        self.transcript.record_message(&message)?;
        // What the program puts in is nobody's word.
        if !flags.meta {
            self.hear(message.id, Trust::Typed, &message.text());
        }
        self.commit(message)?;
        Ok(())
    }

    /// The person's words, and what goes with them: that is nobody's word.
    pub(crate) fn add_prompt(&mut self, prompt: &str, with: Vec<Block>) -> Result<(), EngineError> {
        let blocks = std::iter::once(Block::text(prompt)).chain(with).collect();
        let now = self.config.clock.now();
        let message = Message::user(self.new_id(), now, blocks, MessageFlags::default());
        self.transcript.record_message(&message)?;
        self.said.hear(&message, self.transcript.lines());
        // What an agent is told to do are the model's words: memory has no use for them.
        if self.config.subagent.is_none() {
            self.hear(message.id, Trust::Typed, prompt);
        }
        self.commit(message)?;
        Ok(())
    }

    /// Memory remembers what it was told, to say later where a memory came from.
    pub(crate) fn hear(&self, id: MessageId, trust: Trust, text: &str) {
        if let Some(memory) = &self.config.memory {
            memory.access.provenance().record(id, trust, text);
        }
    }

    /// A message joins the history and the bytes to send. It is in the transcript already.
    pub(crate) fn commit(&mut self, message: Message) -> Result<Arc<Message>, EngineError> {
        let message = self.history.push(message)?;
        self.body.append(&message);
        self.watch_message(&message);
        Ok(message)
    }

    /// The disk would not take it: what is in memory is closed, so that the conversation stays usable.
    pub(crate) fn close_after_error(&mut self) {
        let open = self.history.open_calls();
        let (id, now) = (self.new_id(), self.config.clock.now());
        let message = if !open.is_empty() {
            let results = open.iter().map(Block::interrupted).collect();
            Message::user(id, now, results, MessageFlags::default())
        } else if self.history.last_role() == Some(Role::User) {
            Message::synthetic_response(id, now, LOST_ANSWER)
        } else {
            return;
        };
        // It answers exactly the open calls, or none: the push has no reason to fail.
        if let Ok(message) = self.history.push(message) {
            self.body.append(&message);
            self.unwritten.push(Unwritten::Message(message));
        }
    }

    /// A message that is only partly written, and not in the history, does not count.
    pub(crate) fn withdraw(&mut self, message: MessageId) {
        if self.history.messages().iter().rev().take(2).all(|known| known.id != message) {
            self.unwritten.push(Unwritten::Withdrawn(message));
            self.tell_again();
        }
    }

    /// Brings the transcript up to what the conversation is, after a disk that would not.
    pub(crate) fn write_what_is_due(&mut self) -> Result<(), EngineError> {
        while let Some(line) = self.unwritten.first() {
            match line {
                Unwritten::Withdrawn(message) => self.transcript.record_withdrawn(*message)?,
                Unwritten::Message(message) => self.transcript.record_message(message)?,
            }
            self.unwritten.remove(0);
        }
        Ok(())
    }

    /// Somebody is there to go on with the conversation: whoever works beside it is told.
    pub fn opened(&self) {
        let snapshot = TurnSnapshot::of(self, true);
        self.config.background_tasks.iter().for_each(|task| task.on_open(&snapshot));
    }

    /// No call waits for its result: whoever works beside the conversation is told.
    pub(crate) fn settle(&self, quiet: bool) {
        let snapshot = TurnSnapshot::of(self, quiet);
        self.config.background_tasks.iter().for_each(|task| task.on_idle(&snapshot));
    }

    pub(crate) fn new_id(&self) -> MessageId {
        MessageId::generate(&*self.config.ids)
    }

    /// What every call passes through.
    pub(crate) fn caller(&self) -> CallRunner {
        CallRunner {
            tools: Arc::clone(&self.config.tools),
            gate: self.config.gate.clone(),
            confirmer: self.config.confirmer.clone(),
            observer: self.hooks.clone().map(|runner| {
                let has_user = self.config.confirmer.is_some();
                Arc::new(HookObserver { runner, has_user }) as Arc<dyn CallObserver>
            }),
        }
    }

    pub(crate) fn call_context(&self, cancel: CancellationToken) -> CallContext {
        let mut context = CallContext::new(
            &self.config.project.folder,
            self.config.environment.clone(),
            self.config.budget.results.read_tokens,
        );
        context.cancel = cancel;
        context.read_cache = Arc::clone(&self.read_cache);
        context.todos = Arc::clone(&self.todos);
        context.file_guard = self.config.memory.as_ref().map(|memory| {
            Arc::new(MemoryFileGuard(Arc::clone(&memory.access))) as Arc<dyn FileGuard>
        });
        context.reaper = self.config.reaper.clone();
        context.commands = self.config.commands;
        context.shells = Arc::clone(&self.shells);
        context.redactor = self.config.redactor.clone();
        context.private_hosts = self.config.gate.named_hosts();
        context
    }

    /// The numbers of its window.
    pub fn budget(&self) -> &Budget {
        &self.config.budget
    }

    /// The tokens that the conversation uses.
    pub fn tokens_used(&self) -> u64 {
        let messages = self.history.messages().iter().map(AsRef::as_ref);
        context_tokens(self.prefix.tokens(), messages).total().saturating_sub(self.freed_tokens)
    }

    pub(crate) fn result_store(&self) -> ResultStore {
        ResultStore::new(
            self.transcript.session_folder().clone(),
            &self.config.budget,
            &self.config.results,
            self.figures.clone(),
        )
    }

    pub(crate) fn cache_ttl(&self) -> Duration {
        match self.config.dialect.ttl {
            CacheTtl::FiveMinutes => Duration::from_mins(5),
            CacheTtl::OneHour => Duration::from_hours(1),
        }
    }

    /// What the person is to be told about memory.
    pub fn take_memory_notices(&self) -> Vec<String> {
        let memory = self.config.memory.as_ref();
        memory.map(|memory| memory.access.notices().take()).unwrap_or_default()
    }

    /// What runs beside the conversation.
    pub fn jobs(&self) -> &Jobs {
        &self.jobs
    }

    /// The session.
    pub fn session(&self) -> SessionId {
        self.transcript.session()
    }

    /// The model's name.
    pub fn model_name(&self) -> &str {
        &self.config.model_name
    }

    /// For how long its server keeps what it caches.
    pub fn ttl(&self) -> CacheTtl {
        self.config.dialect.ttl
    }

    /// The tools it may call.
    pub fn tool_names(&self) -> Vec<String> {
        self.config.tools.names().map(str::to_owned).collect()
    }

    /// Where the transcript is.
    pub fn transcript_path(&self) -> &std::path::Path {
        self.transcript.path()
    }

    /// What this process has spent on the conversation.
    pub fn totals(&self) -> Usage {
        self.totals
    }

    /// What every request begins with.
    pub fn prefix(&self) -> &Prefix {
        &self.prefix
    }

    /// The messages.
    pub fn history(&self) -> &MessageHistory {
        &self.history
    }
}

/// The name of the project's folder, which this is in.
fn folder_name(inside: &std::path::Path) -> &str {
    let folder = inside.parent().and_then(std::path::Path::file_name);
    folder.and_then(std::ffi::OsStr::to_str).unwrap_or_default()
}

pub(crate) fn envelope(surroundings: &Surroundings) -> LineEnvelope {
    LineEnvelope {
        folder: surroundings.folder.clone(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        git_branch: surroundings.branch.clone().unwrap_or_default(),
    }
}
