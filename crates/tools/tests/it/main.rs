//! The tools on real files and real processes, each in a temporary folder.

#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]
#![expect(clippy::disallowed_methods, reason = "tests make the files that the tools look at")]

mod background;
mod bash;
mod crash;
mod edit;
mod glob;
mod grep;
mod permissions;
mod process;
mod read;
mod reading;
mod todo;
mod web_fetch;
mod write;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use dormouse_base::Environment;
use dormouse_conversation::{ResultContent, ToolUse, ToolUseId};
use dormouse_permissions::PermissionGate;
use dormouse_tools::{CallContext, CallResult, CallRunner, ToolSet};
use serde_json::value::RawValue;

/// The only limit, for what hangs: what has not happened by now never will.
const HANGS: Duration = Duration::from_mins(5);

/// A folder and a context in it.
struct Scene {
    folder: tempfile::TempDir,
    context: CallContext,
}

impl Scene {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let context = CallContext::new(folder.path(), Environment::of_process(), 25_000);
        Self { folder, context }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        path
    }

    async fn call(&self, name: &str, input: &serde_json::Value) -> CallResult {
        let input = RawValue::from_string(input.to_string()).unwrap();
        let id = ToolUseId::new("t1");
        let call = ToolUse { id: &id, name, input: &input };
        CallRunner::new(Arc::new(ToolSet::builtin()), PermissionGate::allow_all())
            .run(call, &self.context)
            .await
    }

    /// Waits until the command has made a file.
    async fn wait_for_file(&self, name: &str) {
        wait_until(name, || self.path(name).exists()).await;
    }

    /// Waits until a call has opened a file: its work on it has begun.
    async fn wait_until_open(&self, path: &Path) {
        let is_open = || {
            let handles = std::fs::read_dir("/proc/self/fd").unwrap();
            handles
                .flatten()
                .any(|handle| std::fs::read_link(handle.path()).is_ok_and(|it| it == path))
        };
        wait_until("the file to be opened", is_open).await;
    }

    /// The text of a call that works.
    async fn text(&self, name: &str, input: &serde_json::Value) -> String {
        let result = self.call(name, input).await;
        let text = text_of(&result);
        assert!(!result.is_error, "{text}");
        text
    }

    /// The text of a call that does not.
    async fn error(&self, name: &str, input: &serde_json::Value) -> String {
        let result = self.call(name, input).await;
        let text = text_of(&result);
        assert!(result.is_error, "{text}");
        text
    }
}

fn text_of(result: &CallResult) -> String {
    let ResultContent::Text(text) = &result.content else { panic!("not text: {result:?}") };
    text.clone()
}

/// The engine runs calls on tasks and threads of its choice.
#[test]
fn contexts_sets_and_calls_go_to_other_threads() {
    fn check<T: Send + Sync + 'static>(_: &T) {}
    fn check_send<T: Send>(_: &T) {}
    let (tools, scene, id) = (ToolSet::builtin(), Scene::new(), ToolUseId::new("t"));
    check(&scene.context);
    check(&tools);
    let call = ToolUse { id: &id, name: "Read", input: RawValue::NULL };
    let caller = CallRunner::new(Arc::new(tools), PermissionGate::allow_all());
    check_send(&caller.run(call, &scene.context));
}

/// What a call gives that is to end by itself.
async fn in_time<T>(call: impl Future<Output = T>) -> T {
    tokio::time::timeout(HANGS, call).await.unwrap()
}

/// Waits until something is so.
async fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + HANGS;
    while !is_so() {
        assert!(Instant::now() < deadline, "waited in vain for {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
