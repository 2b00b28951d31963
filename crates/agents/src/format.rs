//! One-line texts about a subagent.

use serde_json::Value;

use crate::runs::SubagentRun;

const MAX_CALL_CHARS: usize = 100;

/// Formats a tool call: the tool and its main argument.
pub(crate) fn format_call(name: &str, input: &str) -> String {
    let input: Value = serde_json::from_str(input).unwrap_or_default();
    let about = ["file_path", "command", "pattern", "query", "url", "description", "name", "path"]
        .into_iter()
        .find_map(|key| input.get(key)?.as_str());
    let line = about.map_or_else(|| name.to_owned(), |about| format!("{name} {about}"));
    let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
    line.chars().take(MAX_CALL_CHARS).collect()
}

/// The line below a result: cost, calls and remarks.
pub(crate) fn result_footer(run: &SubagentRun, remarks: &[String]) -> String {
    let tokens = run.usage.total();
    let requests = if run.requests == 1 {
        "1 request".to_owned()
    } else {
        format!("{} requests", run.requests)
    };
    let calls = if run.activity.call_count == 1 {
        "1 call".to_owned()
    } else {
        format!("{} calls", run.activity.call_count)
    };
    let mut parts = vec![
        format!("agent {} ({})", run.name, run.agent_type),
        requests,
        calls,
        format!("{tokens} tokens"),
    ];
    if let Some(cost) = run.cost_usd.filter(|cost| *cost > 0.0) {
        parts.push(format!("${cost:.4}"));
    }
    parts.extend(remarks.iter().cloned());
    format!("[{}]", parts.join(" · "))
}
