//! Messages of a session: what was said, tool calls with their results, thinking, and what came with a prompt, folded.

use dormouse_base::group_digits;
use dormouse_context::RecalledMemories;
use dormouse_conversation::transcript::{ReplayEvent, ReplayedCompaction, ReplayedMessage};
use dormouse_conversation::{
    Block, BlockKind, Message, RecallReason, ResultContent, Role, is_reminder,
};
use maud::{Markup, html};
use serde_json::Value;

use crate::message_catalog::msg;
use crate::model::address;
use crate::model::transcript_part::TranscriptPart;
use crate::pages::recalled::{self, MemoryLink};
use crate::pages::{diff, markdown, sessions, words};

/// Characters of a text that are shown; the rest is named.
const SHOWN: usize = 20_000;
/// Characters of a prompt that a search for its memories takes.
const QUERY: usize = 300;

/// What the blocks of a message are shown with.
#[derive(Clone, Copy)]
struct BlockContext<'a> {
    link: MemoryLink<'a>,
    /// Why memories came with the message.
    recalled: &'a [RecallReason],
}

/// Messages, and the link to those before.
pub(crate) fn page(
    part: &TranscriptPart,
    base: &str,
    follow: Option<&str>,
    link: MemoryLink<'_>,
) -> Markup {
    html! {
        @if part.unreadable > 0 { p class="notice warn" { (msg!("transcript-unreadable", count = part.unreadable)) } }
        div id="earlier" { (earlier(part, base)) }
        div id="messages" role="log" aria-label=(msg!("tab-transcript")) data-follow=[follow] { (messages(part, link)) }
    }
}

/// A part alone, for a script: the messages and the link to those before.
pub(crate) fn fragment(part: &TranscriptPart, base: &str, link: MemoryLink<'_>) -> Markup {
    html! { nav { (earlier(part, base)) } (messages(part, link)) }
}

fn earlier(part: &TranscriptPart, base: &str) -> Markup {
    html! {
        @if part.start > 0 {
            a class="button quiet" href=(format!("{base}?before={}", part.start))
                data-part=(format!("{base}/part?before={}", part.start)) { (msg!("transcript-earlier")) }
        }
    }
}

pub(crate) fn messages(part: &TranscriptPart, link: MemoryLink<'_>) -> Markup {
    html! {
        @for event in &part.events {
            @match event {
                ReplayEvent::Message(said) => (message(said, link)),
                ReplayEvent::Compacted(compaction) => (boundary(&msg!("transcript-compacted"), compaction)),
                ReplayEvent::LeftOut(compaction) => (boundary(&msg!("transcript-left-out"), compaction)),
                ReplayEvent::ResultsReplaced { blocks, .. } => p class="event" { (msg!("transcript-replaced", count = blocks.len())) },
                ReplayEvent::PrefixBuilt(tokens) => p class="event" { (msg!("transcript-prefix", tokens = group_digits(*tokens))) },
                ReplayEvent::ThinkingDropped => p class="event" { (msg!("transcript-thinking-dropped")) },
            }
        }
    }
}

fn boundary(title: &str, compaction: &ReplayedCompaction) -> Markup {
    html! {
        p class="event" {
            (title) " · " (compaction.trigger) " " (compaction.method) " "
            @if compaction.pre_tokens > 0 {
                (msg!("transcript-tokens", before = group_digits(compaction.pre_tokens), after = group_digits(compaction.post_tokens)))
            }
        }
    }
}

fn message(said: &ReplayedMessage, link: MemoryLink<'_>) -> Markup {
    let message = &*said.message;
    let context = BlockContext { link, recalled: &said.recalled };
    let is_result = message.tool_results().next().is_some();
    let class = match message.role {
        Role::User if is_result => "tool",
        Role::User => "user",
        Role::Assistant => "model",
    };
    html! {
        article class={ "message " (class) } id=(message.id) {
            header class="meta" {
                strong { (sessions::role_name(message.role, is_result)) }
                time datetime=(message.timestamp) { (words::time(message.timestamp)) }
                @if said.withdrawn { span class="badge warn" { (msg!("transcript-withdrawn")) } }
                @if let Some(response) = &message.response {
                    span { (response.model) }
                    span { (msg!("transcript-usage", input = group_digits(response.usage.input_total()), output = group_digits(response.usage.output_tokens))) }
                }
            }
            @if message.flags.meta || message.flags.compact_summary {
                details { summary { @if message.flags.compact_summary { (msg!("transcript-summary")) } @else { (msg!("transcript-attached")) } }
                    (blocks(message, context)) }
            } @else { (blocks(message, context)) }
            @if let Some(prompt) = prompt(message) {
                p class="meta" { a href=(format!("/?q={}", address::encoded(&prompt))) { (msg!("transcript-why")) } }
            }
        }
    }
}

/// What the user said in a message, as a query.
fn prompt(message: &Message) -> Option<String> {
    if message.role != Role::User || message.flags.meta || message.tool_results().next().is_some() {
        return None;
    }
    let texts = message.blocks.iter().filter_map(Block::as_text);
    let text = texts.filter(|text| !is_reminder(text)).collect::<Vec<_>>().join(" ");
    let query: String = text.trim().chars().take(QUERY).collect();
    (!query.is_empty()).then_some(query)
}

fn blocks(message: &Message, context: BlockContext<'_>) -> Markup {
    html! { @for one in &message.blocks { (block(one, context)) } }
}

fn block(block: &Block, context: BlockContext<'_>) -> Markup {
    match block.kind() {
        BlockKind::Text => text(&block.as_text().unwrap_or_default(), context),
        BlockKind::Thinking => html! {
            details class="thinking" { summary { (msg!("transcript-thinking")) }
                pre tabindex="0" { (cut(&block.string_field("thinking").unwrap_or_default())) } }
        },
        BlockKind::RedactedThinking => html! { p class="event" { (msg!("transcript-redacted")) } },
        BlockKind::ToolUse { name, .. } => call(name, block),
        BlockKind::ToolResult { .. } => result(block, context),
        BlockKind::Image => html! { p class="event" { (msg!("transcript-image")) } },
        BlockKind::Document => html! { p class="event" { (msg!("transcript-document")) } },
        BlockKind::Other(kind) => {
            html! { details { summary { (kind) } pre tabindex="0" { (cut(block.raw())) } } }
        }
    }
}

/// Text that somebody said, or that the program attached.
fn text(text: &str, context: BlockContext<'_>) -> Markup {
    if !is_reminder(text) {
        return markdown::markdown(&cut(text));
    }
    let Some(recalled) = RecalledMemories::text_in(text) else {
        return html! { details class="attached" { summary { (msg!("transcript-attached")) } pre tabindex="0" { (cut(text)) } } };
    };
    html! {
        div class="recalled" {
            (recalled::list(recalled, context.recalled, context.link))
            details { summary { (msg!("transcript-recalled-text")) } pre tabindex="0" { (cut(text)) } }
        }
    }
}

/// A tool call: its most telling argument, and the rest folded. An edit is shown as a diff.
fn call(name: &str, block: &Block) -> Markup {
    let input: Value = block
        .as_tool_use()
        .and_then(|call| serde_json::from_str(call.input.get()).ok())
        .unwrap_or_default();
    let field = |key: &str| input.get(key).and_then(Value::as_str);
    let keys = ["command", "file_path", "path", "pattern", "url", "query", "description", "prompt"];
    let telling: String =
        keys.into_iter().find_map(field).unwrap_or_default().chars().take(160).collect();
    html! {
        details class="call" {
            summary { strong { (name) } " " code { (telling) } }
            @match (field("old_string"), field("new_string"), field("content")) {
                (Some(old), Some(new), _) => (diff::unified(&cut(old), &cut(new))),
                (_, _, Some(content)) => (diff::unified("", &cut(content))),
                _ => pre tabindex="0" { (cut(&serde_json::to_string_pretty(&input).unwrap_or_default())) },
            }
        }
    }
}

fn result(result: &Block, context: BlockContext<'_>) -> Markup {
    let class = if result.is_error() { "result failed" } else { "result" };
    let content = result.result_content();
    let first = match &content {
        Some(ResultContent::Text(text)) => {
            text.lines().next().unwrap_or_default().chars().take(120).collect()
        }
        Some(ResultContent::Blocks(blocks)) => msg!("transcript-blocks", count = blocks.len()),
        None => String::new(),
    };
    html! {
        details class=(class) {
            summary { @if result.is_error() { span class="badge warn" { (msg!("transcript-failed")) } " " } code { (first) } }
            @match content {
                Some(ResultContent::Text(text)) => pre tabindex="0" { (cut(&text)) },
                Some(ResultContent::Blocks(blocks)) => { @for one in &blocks { (block(one, context)) } },
                None => {},
            }
        }
    }
}

/// The beginning of a text, and how much is left out.
fn cut(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        None => text.to_owned(),
        Some((at, _)) => {
            let beginning = text.get(..at).unwrap_or_default();
            format!("{beginning}\n{}", msg!("transcript-cut", count = text.len() - at))
        }
    }
}
