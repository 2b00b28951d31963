//! The MCP servers that an editor offers for a session, and asking the user about them.

use std::collections::BTreeMap;

use dormouse_mcp_client::{OAuthSettings, ServerOrigin, ServerSpec, Transport};

use crate::message_catalog::msg;
use crate::wiring::print;

use super::editor_link::EditorLink;
use super::permission::{EditorAnswer, ask_permission};
use super::protocol::{
    CallContent, EditorUpdate, NamedValue, OfferedServer, ShownCall, ShownStatus,
};

/// The id of the call that the question is shown as.
const CALL: &str = "mcp-servers";

/// The servers that can be used. What cannot is reported.
pub(super) fn server_specs(offered: Vec<OfferedServer>) -> Vec<ServerSpec> {
    offered.into_iter().filter_map(server_spec).collect()
}

fn server_spec(offered: OfferedServer) -> Option<ServerSpec> {
    let values = |values: Vec<NamedValue>| -> BTreeMap<String, String> {
        values.into_iter().map(|NamedValue { name, value }| (name, value)).collect()
    };
    let name = tool_prefix(&offered.name);
    let transport = match (offered.kind.as_deref(), offered.command, offered.url) {
        (None | Some("stdio"), Some(command), _) => {
            Transport::Stdio { command, args: offered.args, env: values(offered.env), folder: None }
        }
        (Some("http"), _, Some(url)) => Transport::Http {
            url,
            headers: values(offered.headers),
            oauth: OAuthSettings::default(),
        },
        (kind, _, _) => {
            let kind = kind.unwrap_or("?").to_owned();
            print::note(&msg!("acp-server-unsupported", name = offered.name, kind = kind));
            return None;
        }
    };
    let origin = ServerOrigin::new("editor", "session/new");
    (!name.is_empty()).then_some(ServerSpec { name, origin, transport, timeout: None })
}

/// A name for people as one for tools: letters, digits and single dashes.
fn tool_prefix(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { ' ' };
    let words: String = name.chars().map(plain).take(40).collect();
    words.split_whitespace().collect::<Vec<_>>().join("-")
}

/// Asks whether these servers may start. The values of variables and headers are not shown: they may be secret.
pub(super) async fn ask_about_servers(specs: &[ServerSpec], link: &EditorLink) -> EditorAnswer {
    let line = |spec: &ServerSpec| {
        let (kind, what) = (spec.transport.kind(), spec.transport.shown());
        let names: Vec<&str> = match &spec.transport {
            Transport::Stdio { env, .. } => env.keys().map(String::as_str).collect(),
            Transport::Http { headers, .. } => headers.keys().map(String::as_str).collect(),
        };
        let with =
            if names.is_empty() { String::new() } else { format!(" ({})", names.join(", ")) };
        format!("- {} ({kind}): {what}{with}", spec.name)
    };
    let lines: Vec<String> = specs.iter().map(line).collect();
    let call = ShownCall {
        tool_call_id: CALL.to_owned(),
        title: Some(msg!("acp-servers-question")),
        content: vec![CallContent::text(lines.join("\n"))],
        ..ShownCall::default()
    };
    let answer = ask_permission(call, msg!("acp-servers-always"), link).await;
    let status = match answer {
        EditorAnswer::Once | EditorAnswer::Always => ShownStatus::Completed,
        EditorAnswer::No => ShownStatus::Failed,
    };
    link.show(EditorUpdate::ToolCallUpdate(ShownCall {
        tool_call_id: CALL.to_owned(),
        status: Some(status),
        ..ShownCall::default()
    }));
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_for_people_becomes_one_for_tools() {
        assert_eq!(tool_prefix("My server (beta)"), "My-server-beta");
        assert_eq!(tool_prefix("a__b_"), "a-b");
        assert_eq!(tool_prefix("服务器"), "");
    }
}
