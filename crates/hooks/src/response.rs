//! Parses the output of a hook: exit code, standard output, standard error.

use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::event::HookEvent;

/// A hook process that has exited.
#[derive(Debug, Clone)]
pub(crate) struct HookExit {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// What a hook asks for.
#[derive(Debug, Default)]
pub(crate) struct HookResponse {
    /// Why the action is blocked.
    pub(crate) block: Option<String>,
    /// Whether a call may run.
    pub(crate) permission: Option<HookPermission>,
    /// Arguments that replace those of the call.
    pub(crate) input: Option<Box<RawValue>>,
    /// A result that replaces that of the call.
    pub(crate) output: Option<Box<RawValue>>,
    /// Text for the model.
    pub(crate) context: Vec<String>,
    /// Why the turn is to end.
    pub(crate) halt: Option<String>,
    /// Text for the user.
    pub(crate) notices: Vec<String>,
    /// A denied call may be retried.
    pub(crate) retry: bool,
    /// The title of the session.
    pub(crate) title: Option<String>,
    /// The first message of the session.
    pub(crate) initial_message: Option<String>,
    /// Files to watch.
    pub(crate) watch: Vec<PathBuf>,
    /// Control sequences for the terminal.
    pub(crate) terminal_sequence: Option<String>,
}

impl HookResponse {
    /// No decision, only a notice for the user.
    pub(crate) fn ignored(notice: String) -> Self {
        Self { notices: vec![notice], ..Self::default() }
    }

    pub(crate) fn blocked(reason: String) -> Self {
        Self { block: Some(reason), ..Self::default() }
    }
}

/// Whether a call may run, with the reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum HookPermission {
    Allow(String),
    Ask(String),
    /// Not now: a headless run ends and can be continued.
    Defer(String),
    Deny(String),
}

impl HookPermission {
    pub(crate) fn map_reason(self, change: impl FnOnce(String) -> String) -> Self {
        match self {
            Self::Allow(reason) => Self::Allow(change(reason)),
            Self::Ask(reason) => Self::Ask(change(reason)),
            Self::Defer(reason) => Self::Defer(change(reason)),
            Self::Deny(reason) => Self::Deny(change(reason)),
        }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct RawResponse {
    r#continue: Option<bool>,
    stop_reason: Option<String>,
    system_message: Option<String>,
    terminal_sequence: Option<String>,
    decision: Option<String>,
    reason: Option<String>,
    hook_specific_output: Option<RawSpecific>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct RawSpecific {
    permission_decision: Option<String>,
    permission_decision_reason: Option<String>,
    updated_input: Option<Box<RawValue>>,
    additional_context: Option<String>,
    updated_tool_output: Option<Box<RawValue>>,
    #[serde(rename = "updatedMCPToolOutput")]
    updated_mcp_tool_output: Option<Box<RawValue>>,
    decision: Option<RawDecision>,
    retry: bool,
    session_title: Option<String>,
    initial_user_message: Option<String>,
    watch_paths: Vec<PathBuf>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawDecision {
    behavior: String,
    message: Option<String>,
    updated_input: Option<Box<RawValue>>,
}

/// A first output line that asks to continue in the background.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AsyncRequest {
    r#async: bool,
    /// In milliseconds.
    async_timeout: Option<u64>,
}

impl AsyncRequest {
    /// Parses a line; `None` if it is something else.
    pub(crate) fn read(line: &str) -> Option<Self> {
        serde_json::from_str::<Self>(line.trim()).ok().filter(|request| request.r#async)
    }

    /// How long the hook may still run, if it says so.
    pub(crate) fn timeout(self) -> Option<Duration> {
        self.async_timeout.map(Duration::from_millis)
    }
}

/// The output after an [`AsyncRequest`] line, or all of it.
fn without_async_request(stdout: &str) -> &str {
    let stdout = stdout.trim();
    let (first, rest) = stdout.split_once('\n').unwrap_or((stdout, ""));
    if AsyncRequest::read(first).is_some() { rest.trim() } else { stdout }
}

/// Parses the output of the hook `name`.
pub(crate) fn parse_response(event: HookEvent, name: &str, exit: &HookExit) -> HookResponse {
    let stdout = without_async_request(&exit.stdout);
    if !stdout.starts_with('{') {
        return from_exit_code(event, name, exit, stdout);
    }
    let raw = match serde_json::from_str::<RawResponse>(stdout) {
        Ok(raw) => raw,
        Err(error) => {
            let mut response = from_exit_code(event, name, exit, "");
            response.notices.push(format!("hook `{name}` printed invalid JSON (ignored): {error}"));
            return response;
        }
    };
    let mut response = from_json(event, name, raw);
    // Exit code 2 blocks whatever the JSON says; the reason in the JSON is preferred.
    if exit.code == Some(2) && response.block.is_none() {
        let reason = match &response.permission {
            Some(HookPermission::Deny(reason)) => reason.clone(),
            _ => block_reason(name, exit),
        };
        response.block = Some(reason);
    }
    response
}

fn from_exit_code(event: HookEvent, name: &str, exit: &HookExit, stdout: &str) -> HookResponse {
    let mut response = HookResponse::default();
    match exit.code {
        Some(0) if event.takes_plain_text() && !stdout.is_empty() => {
            response.context.push(stdout.to_owned());
        }
        Some(0) => {}
        Some(2) => response.block = Some(block_reason(name, exit)),
        code => {
            let how = match code {
                Some(code) => format!("exited with code {code}"),
                None => "was killed by a signal".to_owned(),
            };
            let stderr = match exit.stderr.trim() {
                "" => String::new(),
                stderr => format!(": {stderr}"),
            };
            response.notices.push(format!("hook `{name}` {how} (ignored){stderr}"));
        }
    }
    response
}

fn block_reason(name: &str, exit: &HookExit) -> String {
    match exit.stderr.trim() {
        "" => format!("blocked by hook `{name}` (no reason given)"),
        reason => reason.to_owned(),
    }
}

fn from_json(event: HookEvent, name: &str, raw: RawResponse) -> HookResponse {
    let specific = raw.hook_specific_output.unwrap_or_default();
    let unexplained = || format!("decided by hook `{name}`");
    let mut response = HookResponse::default();
    let can_stop = !event.is_compaction();
    if can_stop && raw.r#continue == Some(false) {
        response.halt = Some(raw.stop_reason.unwrap_or_else(unexplained));
    }
    response.notices.extend(raw.system_message.filter(|_| can_stop));
    response.terminal_sequence = raw.terminal_sequence;
    response.context.extend(specific.additional_context);
    response.output = specific.updated_tool_output.or(specific.updated_mcp_tool_output);
    response.retry = specific.retry;
    response.title = specific.session_title;
    response.initial_message = specific.initial_user_message;
    response.watch = specific.watch_paths;
    let reason = raw.reason.clone();
    match (event, raw.decision.as_deref()) {
        // The older form.
        (HookEvent::PreToolUse, Some("approve")) => {
            response.permission = Some(HookPermission::Allow(reason.unwrap_or_else(unexplained)));
        }
        (_, Some("block")) => response.block = Some(reason.unwrap_or_else(unexplained)),
        (_, Some("approve") | None) => {}
        (_, Some(other)) => {
            response.notices.push(unknown_value(name, "decision", other, "`block`"));
        }
    }
    let reason = specific.permission_decision_reason.or(raw.reason).unwrap_or_else(unexplained);
    match specific.permission_decision.as_deref() {
        Some("allow") => response.permission = Some(HookPermission::Allow(reason)),
        Some("ask") => response.permission = Some(HookPermission::Ask(reason)),
        Some("defer") => response.permission = Some(HookPermission::Defer(reason)),
        Some("deny") => response.permission = Some(HookPermission::Deny(reason)),
        None => {}
        Some(other) => {
            let expected = "`allow`, `ask`, `defer` or `deny`";
            response.notices.push(unknown_value(name, "permissionDecision", other, expected));
        }
    }
    response.input = specific.updated_input;
    if let Some(RawDecision { behavior, message, updated_input }) = specific.decision {
        let reason = message.unwrap_or_else(unexplained);
        match behavior.as_str() {
            "allow" => response.permission = Some(HookPermission::Allow(reason)),
            "deny" => response.permission = Some(HookPermission::Deny(reason)),
            other => {
                response.notices.push(unknown_value(name, "behavior", other, "`allow` or `deny`"));
            }
        }
        response.input = updated_input.or(response.input);
    }
    response
}

/// A misspelled value would otherwise be dropped silently.
fn unknown_value(name: &str, key: &str, value: &str, expected: &str) -> String {
    format!("hook `{name}`: unknown value `{value}` of `{key}` (ignored); expected {expected}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(event: HookEvent, code: i32, stdout: &str, stderr: &str) -> HookResponse {
        let exit =
            HookExit { code: Some(code), stdout: stdout.to_owned(), stderr: stderr.to_owned() };
        parse_response(event, "h", &exit)
    }

    #[test]
    fn exit_codes() {
        let pre = HookEvent::PreToolUse;
        let ok = of(pre, 0, "hello", "noise");
        assert!(ok.block.is_none() && ok.context.is_empty() && ok.notices.is_empty());
        assert_eq!(of(pre, 2, "", "no\n").block.as_deref(), Some("no"));
        assert!(of(pre, 2, "", "").block.unwrap().contains("no reason given"));
        let odd = of(pre, 1, "", "what\n");
        assert!(odd.block.is_none());
        assert_eq!(odd.notices, ["hook `h` exited with code 1 (ignored): what"]);
        assert_eq!(of(HookEvent::SessionStart, 0, " hi \n", "").context, ["hi"]);
        assert!(of(HookEvent::SessionStart, 1, "hi", "").context.is_empty());
    }

    #[test]
    fn json_overrides_the_exit_code_except_for_a_block() {
        let pre = HookEvent::PreToolUse;
        let allow = r#"{"hookSpecificOutput":{"permissionDecision":"allow","updatedInput":{"a":1},"additionalContext":"c"}}"#;
        let response = of(pre, 1, allow, "");
        assert_eq!(response.permission, Some(HookPermission::Allow("decided by hook `h`".into())));
        assert_eq!(response.input.unwrap().get(), r#"{"a":1}"#);
        assert_eq!(response.context, ["c"]);
        assert_eq!(of(pre, 2, allow, "no").block.as_deref(), Some("no"));
        let deny = r#"{"hookSpecificOutput":{"permissionDecision":"deny","permissionDecisionReason":"r"}}"#;
        assert_eq!(of(pre, 2, deny, "no").block.as_deref(), Some("r"));
        let block = r#"{"decision":"block","reason":"again"}"#;
        assert_eq!(of(HookEvent::Stop, 0, block, "").block.as_deref(), Some("again"));
        let halt = r#"{"continue":false,"stopReason":"enough","systemMessage":"m"}"#;
        let response = of(HookEvent::Stop, 0, halt, "");
        assert_eq!(
            (response.halt.as_deref(), response.notices),
            (Some("enough"), vec!["m".to_owned()])
        );
        let request =
            r#"{"hookSpecificOutput":{"decision":{"behavior":"deny","message":"never"}}}"#;
        let response = of(HookEvent::PermissionRequest, 0, request, "");
        assert_eq!(response.permission, Some(HookPermission::Deny("never".into())));
    }

    #[test]
    fn a_misspelled_decision_is_ignored_with_a_notice() {
        for (text, key, word) in [
            (r#"{"decision":"blok"}"#, "decision", "blok"),
            (
                r#"{"hookSpecificOutput":{"permissionDecision":"dney"}}"#,
                "permissionDecision",
                "dney",
            ),
            (r#"{"hookSpecificOutput":{"decision":{"behavior":"dney"}}}"#, "behavior", "dney"),
        ] {
            let response = of(HookEvent::PreToolUse, 0, text, "");
            assert!(response.block.is_none() && response.permission.is_none());
            let expected = format!("hook `h`: unknown value `{word}` of `{key}` (ignored); ");
            assert!(response.notices[0].starts_with(&expected), "{:?}", response.notices);
        }
        let known = of(HookEvent::Stop, 0, r#"{"decision":"approve"}"#, "");
        assert!(known.notices.is_empty(), "{:?}", known.notices);
    }

    #[test]
    fn garbage_is_ignored_with_a_notice() {
        for text in ["{", "{\"continue\": \"maybe\"}", "{]"] {
            let response = of(HookEvent::PreToolUse, 0, text, "");
            assert!(
                response.block.is_none()
                    && response.permission.is_none()
                    && response.halt.is_none()
            );
            assert!(response.notices[0].contains("invalid JSON"), "{:?}", response.notices);
        }
        assert!(of(HookEvent::PreToolUse, 2, "{", "no").block.is_some());
    }
}
