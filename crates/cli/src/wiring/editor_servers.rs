//! MCP servers that an editor brings along. They start once the user has allowed that, like those of a project (L-29).

use dormouse_base::{Project, SettingsStack, TrustState, TrustStore};
use dormouse_mcp_client::{ServerSpec, Transport};
use serde_json::{Map, Value, json};

use crate::wiring::exit::Failure;
use crate::wiring::world::{World, is_bare};

/// What the trust is for, in the record.
const KEY: &str = "editorServers";

/// The servers of an editor for a project. The default is none.
#[derive(Default)]
pub(crate) struct EditorServers {
    specs: Vec<ServerSpec>,
    is_trusted: bool,
}

impl EditorServers {
    /// These servers, and whether the user has trusted them before.
    pub(crate) fn new(
        specs: Vec<ServerSpec>,
        project: &Project,
        world: &World,
    ) -> Result<Self, Failure> {
        if specs.is_empty() || is_bare(&world.environment)? {
            return Ok(Self::default());
        }
        let state = TrustStore::for_editor(&world.home()?).state(project, &stack(&specs));
        Ok(Self { specs, is_trusted: state == TrustState::Trusted })
    }

    /// Adds them to the servers of the settings, which win over one of the same name. Answers with those that may not start yet.
    pub(crate) fn join(&self, configured: &mut Vec<ServerSpec>) -> Vec<String> {
        let is_new = |spec: &&ServerSpec| configured.iter().all(|known| known.name != spec.name);
        let new: Vec<ServerSpec> = self.specs.iter().filter(is_new).cloned().collect();
        let names = new.iter().map(|spec| spec.name.clone()).filter(|_| !self.is_trusted);
        let held = names.collect();
        configured.extend(new);
        held
    }

    /// The servers that wait for the user.
    pub(crate) fn waiting(self) -> Option<Vec<ServerSpec>> {
        (!self.is_trusted && !self.specs.is_empty()).then_some(self.specs)
    }
}

/// Keeps that the user trusts these servers in this project, as they are now.
pub(crate) fn trust_editor_servers(
    specs: &[ServerSpec],
    project: &Project,
    world: &World,
) -> Result<(), Failure> {
    let store = TrustStore::for_editor(&world.home()?);
    Ok(store.grant(project, &stack(specs), world.clock.now())?)
}

/// The servers as something that waits for trust, with all that they are started with.
fn stack(specs: &[ServerSpec]) -> SettingsStack {
    let entry = |spec: &ServerSpec| {
        let entry = match &spec.transport {
            Transport::Stdio { command, args, env, folder } => {
                json!({"command": command, "args": args, "env": env, "cwd": folder})
            }
            Transport::Http { url, headers, oauth: _ } => json!({"url": url, "headers": headers}),
        };
        (spec.name.clone(), entry)
    };
    let entries: Map<String, Value> = specs.iter().map(entry).collect();
    SettingsStack::new(Vec::new()).with_trust_request(KEY, Value::Object(entries))
}
