//! What is said about an agent, in a line.

use serde_json::Value;

use crate::runs::SubagentRun;

/// A call, short.
const LONGEST_CALL: usize = 100;

/// A call, in a line: the tool and what it is about.
pub(crate) fn format_call(name: &str, input: &str) -> String {
    let input: Value = serde_json::from_str(input).unwrap_or_default();
    let about = ["file_path", "command", "pattern", "query", "url", "description", "name", "path"]
        .into_iter()
        .find_map(|key| input.get(key)?.as_str());
    let line = about.map_or_else(|| name.to_owned(), |about| format!("{name} {about}"));
    let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
    line.chars().take(LONGEST_CALL).collect()
}

/// What an agent has cost, and what else is to be known: below its answer.
pub(crate) fn footer(run: &SubagentRun, remarks: &[String]) -> String {
    let tokens = run.usage.total();
    let requests = if run.requests == 1 {
        "1 request".to_owned()
    } else {
        format!("{} requests", run.requests)
    };
    let calls =
        if run.calls_made == 1 { "1 call".to_owned() } else { format!("{} calls", run.calls_made) };
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
