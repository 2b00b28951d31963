//! What a hook said: its exit code, its standard output, its standard error.

use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::HookEvent;

/// How a hook's process ended.
#[derive(Debug, Clone)]
pub(super) struct Ended {
    pub(super) code: Option<i32>,
    pub(super) stdout: String,
    pub(super) stderr: String,
}

/// What a hook wants.
#[derive(Debug, Default)]
pub(super) struct Answer {
    /// Why the action is blocked.
    pub(super) block: Option<String>,
    /// A word on whether a call may run.
    pub(super) permission: Option<Permission>,
    /// Other arguments for the call.
    pub(super) input: Option<Box<RawValue>>,
    /// Another result for the call.
    pub(super) output: Option<Box<RawValue>>,
    /// Text for the model.
    pub(super) context: Vec<String>,
    /// Why everything is to stop.
    pub(super) halt: Option<String>,
    /// Text for the person.
    pub(super) notices: Vec<String>,
    /// A denied call may be tried again.
    pub(super) retry: bool,
    /// What the session is to be called.
    pub(super) title: Option<String>,
    /// What the session is to begin with.
    pub(super) opening: Option<String>,
    /// Files to watch from now on.
    pub(super) watch: Vec<PathBuf>,
}

impl Answer {
    /// Nothing is decided; the person is told why.
    pub(super) fn told(notice: String) -> Self {
        Self { notices: vec![notice], ..Self::default() }
    }

    /// It is refused.
    pub(super) fn refusal(reason: String) -> Self {
        Self { block: Some(reason), ..Self::default() }
    }
}

/// A word on whether a call may run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Permission {
    Allow(String),
    Ask(String),
    Deny(String),
}

impl Permission {
    /// The same with another reason.
    pub(super) fn map(self, change: impl FnOnce(String) -> String) -> Self {
        match self {
            Self::Allow(why) => Self::Allow(change(why)),
            Self::Ask(why) => Self::Ask(change(why)),
            Self::Deny(why) => Self::Deny(change(why)),
        }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Said {
    r#continue: Option<bool>,
    stop_reason: Option<String>,
    system_message: Option<String>,
    decision: Option<String>,
    reason: Option<String>,
    hook_specific_output: Option<Specific>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Specific {
    permission_decision: Option<String>,
    permission_decision_reason: Option<String>,
    updated_input: Option<Box<RawValue>>,
    additional_context: Option<String>,
    updated_tool_output: Option<Box<RawValue>>,
    #[serde(rename = "updatedMCPToolOutput")]
    updated_mcp_tool_output: Option<Box<RawValue>>,
    decision: Option<Ruling>,
    retry: bool,
    session_title: Option<String>,
    initial_user_message: Option<String>,
    watch_paths: Vec<PathBuf>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Ruling {
    behavior: String,
    message: Option<String>,
    updated_input: Option<Box<RawValue>>,
}

/// A first line that says: do not wait for me.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Aside {
    r#async: bool,
    /// In milliseconds.
    async_timeout: Option<u64>,
}

impl Aside {
    /// Reads a line; none where it is something else.
    pub(super) fn read(line: &str) -> Option<Self> {
        serde_json::from_str::<Self>(line.trim()).ok().filter(|aside| aside.r#async)
    }

    /// How long it may still take, where it says so.
    pub(super) fn timeout(self) -> Option<Duration> {
        self.async_timeout.map(Duration::from_millis)
    }
}

/// What stands behind a first line that is no answer yet.
fn answer_of(stdout: &str) -> &str {
    let stdout = stdout.trim();
    let (first, rest) = stdout.split_once('\n').unwrap_or((stdout, ""));
    if Aside::read(first).is_some() { rest.trim() } else { stdout }
}

/// Reads what a hook said.
pub(super) fn read(event: HookEvent, name: &str, ended: &Ended) -> Answer {
    let stdout = answer_of(&ended.stdout);
    let said = if stdout.starts_with('{') {
        match serde_json::from_str::<Said>(stdout) {
            Ok(said) => Some(said),
            Err(error) => {
                let mut answer = plain(event, name, ended, "");
                answer
                    .notices
                    .push(format!("the hook `{name}` printed JSON that can not be read: {error}"));
                return answer;
            }
        }
    } else {
        None
    };
    let Some(said) = said else { return plain(event, name, ended, stdout) };
    let mut answer = decided(event, name, said);
    // An exit code of 2 blocks, whatever the JSON says; its reason is the better one, if it has any.
    if ended.code == Some(2) && answer.block.is_none() {
        let reason = match &answer.permission {
            Some(Permission::Deny(reason)) => reason.clone(),
            _ => reason_of(name, ended),
        };
        answer.block = Some(reason);
    }
    answer
}

/// No JSON: the exit code decides.
fn plain(event: HookEvent, name: &str, ended: &Ended, stdout: &str) -> Answer {
    let mut answer = Answer::default();
    match ended.code {
        Some(0) if event.takes_plain_text() && !stdout.is_empty() => {
            answer.context.push(stdout.to_owned());
        }
        Some(0) => {}
        Some(2) => answer.block = Some(reason_of(name, ended)),
        code => {
            let how =
                code.map_or("was ended by a signal".to_owned(), |c| format!("ended with code {c}"));
            let said = ended.stderr.trim();
            let said = if said.is_empty() { String::new() } else { format!(": {said}") };
            answer.notices.push(format!("the hook `{name}` {how}, which decides nothing{said}"));
        }
    }
    answer
}

fn reason_of(name: &str, ended: &Ended) -> String {
    match ended.stderr.trim() {
        "" => format!("the hook `{name}` blocks it and gives no reason"),
        reason => reason.to_owned(),
    }
}

fn decided(event: HookEvent, name: &str, said: Said) -> Answer {
    let specific = said.hook_specific_output.unwrap_or_default();
    let unexplained = || format!("the hook `{name}` says so");
    let mut answer = Answer::default();
    let heard = !event.is_of_compaction();
    if heard && said.r#continue == Some(false) {
        answer.halt = Some(said.stop_reason.unwrap_or_else(unexplained));
    }
    answer.notices.extend(said.system_message.filter(|_| heard));
    answer.context.extend(specific.additional_context);
    answer.output = specific.updated_tool_output.or(specific.updated_mcp_tool_output);
    answer.retry = specific.retry;
    answer.title = specific.session_title;
    answer.opening = specific.initial_user_message;
    answer.watch = specific.watch_paths;
    let reason = said.reason.clone();
    match (event, said.decision.as_deref()) {
        // Older scripts say it so.
        (HookEvent::PreToolUse, Some("approve")) => {
            answer.permission = Some(Permission::Allow(reason.unwrap_or_else(unexplained)));
        }
        (_, Some("block")) => answer.block = Some(reason.unwrap_or_else(unexplained)),
        (_, Some("approve") | None) => {}
        (_, Some(other)) => answer.notices.push(unknown(name, "decision", other, "`block`")),
    }
    let why = specific.permission_decision_reason.or(said.reason).unwrap_or_else(unexplained);
    match specific.permission_decision.as_deref() {
        Some("allow") => answer.permission = Some(Permission::Allow(why)),
        Some("ask") => answer.permission = Some(Permission::Ask(why)),
        Some("deny") => answer.permission = Some(Permission::Deny(why)),
        None => {}
        Some(other) => {
            let known = "`allow`, `ask` or `deny`";
            answer.notices.push(unknown(name, "permissionDecision", other, known));
        }
    }
    answer.input = specific.updated_input;
    if let Some(Ruling { behavior, message, updated_input }) = specific.decision {
        let why = message.unwrap_or_else(unexplained);
        match behavior.as_str() {
            "allow" => answer.permission = Some(Permission::Allow(why)),
            "deny" => answer.permission = Some(Permission::Deny(why)),
            other => answer.notices.push(unknown(name, "behavior", other, "`allow` or `deny`")),
        }
        answer.input = updated_input.or(answer.input);
    }
    answer
}

/// A word that is no verdict: most likely one that was misspelt, by somebody who relies on it.
fn unknown(name: &str, key: &str, said: &str, known: &str) -> String {
    format!("the hook `{name}` says `{key}`: `{said}`, which decides nothing; it is {known}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(event: HookEvent, code: i32, stdout: &str, stderr: &str) -> Answer {
        let ended =
            Ended { code: Some(code), stdout: stdout.to_owned(), stderr: stderr.to_owned() };
        read(event, "h", &ended)
    }

    #[test]
    fn exit_codes() {
        let pre = HookEvent::PreToolUse;
        let ok = of(pre, 0, "hello", "noise");
        assert!(ok.block.is_none() && ok.context.is_empty() && ok.notices.is_empty());
        assert_eq!(of(pre, 2, "", "no\n").block.as_deref(), Some("no"));
        assert!(of(pre, 2, "", "").block.unwrap().contains("gives no reason"));
        let odd = of(pre, 1, "", "what\n");
        assert!(odd.block.is_none());
        assert_eq!(odd.notices, ["the hook `h` ended with code 1, which decides nothing: what"]);
        assert_eq!(of(HookEvent::SessionStart, 0, " hi \n", "").context, ["hi"]);
        assert!(of(HookEvent::SessionStart, 1, "hi", "").context.is_empty());
    }

    #[test]
    fn json_decides_even_where_the_code_is_odd_but_not_over_a_block() {
        let pre = HookEvent::PreToolUse;
        let allow = r#"{"hookSpecificOutput":{"permissionDecision":"allow","updatedInput":{"a":1},"additionalContext":"c"}}"#;
        let answer = of(pre, 1, allow, "");
        assert_eq!(answer.permission, Some(Permission::Allow("the hook `h` says so".into())));
        assert_eq!(answer.input.unwrap().get(), r#"{"a":1}"#);
        assert_eq!(answer.context, ["c"]);
        assert_eq!(of(pre, 2, allow, "no").block.as_deref(), Some("no"));
        let deny = r#"{"hookSpecificOutput":{"permissionDecision":"deny","permissionDecisionReason":"r"}}"#;
        assert_eq!(of(pre, 2, deny, "no").block.as_deref(), Some("r"));
        let block = r#"{"decision":"block","reason":"again"}"#;
        assert_eq!(of(HookEvent::Stop, 0, block, "").block.as_deref(), Some("again"));
        let halt = r#"{"continue":false,"stopReason":"enough","systemMessage":"m"}"#;
        let answer = of(HookEvent::Stop, 0, halt, "");
        assert_eq!(
            (answer.halt.as_deref(), answer.notices),
            (Some("enough"), vec!["m".to_owned()])
        );
        let request =
            r#"{"hookSpecificOutput":{"decision":{"behavior":"deny","message":"never"}}}"#;
        let answer = of(HookEvent::PermissionRequest, 0, request, "");
        assert_eq!(answer.permission, Some(Permission::Deny("never".into())));
    }

    #[test]
    fn a_misspelt_verdict_decides_nothing_and_is_told() {
        for (text, key, word) in [
            (r#"{"decision":"blok"}"#, "decision", "blok"),
            (
                r#"{"hookSpecificOutput":{"permissionDecision":"dney"}}"#,
                "permissionDecision",
                "dney",
            ),
            (r#"{"hookSpecificOutput":{"decision":{"behavior":"dney"}}}"#, "behavior", "dney"),
        ] {
            let answer = of(HookEvent::PreToolUse, 0, text, "");
            assert!(answer.block.is_none() && answer.permission.is_none());
            let told =
                format!("the hook `h` says `{key}`: `{word}`, which decides nothing; it is ");
            assert!(answer.notices[0].starts_with(&told), "{:?}", answer.notices);
        }
        let known = of(HookEvent::Stop, 0, r#"{"decision":"approve"}"#, "");
        assert!(known.notices.is_empty(), "{:?}", known.notices);
    }

    #[test]
    fn garbage_decides_nothing_and_is_told() {
        for text in ["{", "{\"continue\": \"maybe\"}", "{]"] {
            let answer = of(HookEvent::PreToolUse, 0, text, "");
            assert!(answer.block.is_none() && answer.permission.is_none() && answer.halt.is_none());
            assert!(
                answer.notices[0].contains("JSON that can not be read"),
                "{:?}",
                answer.notices
            );
        }
        assert!(of(HookEvent::PreToolUse, 2, "{", "no").block.is_some());
    }
}
