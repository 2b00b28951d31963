//! The tools, each beside a program that does the same, on the same machine in the same minute.

mod commands;
mod search;

use std::path::Path;

use dormouse_base::Environment;
use dormouse_tools::{CallContext, ToolOutput, ToolSet};
use serde_json::value::RawValue;

use crate::report::BenchSection;

/// All sections of the suite.
pub(crate) fn run(rg: &str, fd: &str) -> Vec<BenchSection> {
    let bench = Bench::new();
    vec![
        search::run(&bench, rg, fd),
        commands::run(&bench),
        commands::verdicts(),
        commands::layer_one(),
    ]
}

/// What calls tools here: the built-in set, on one thread as in the program.
struct Bench {
    tools: ToolSet,
    runtime: tokio::runtime::Runtime,
}

impl Bench {
    fn new() -> Self {
        let mut builder = tokio::runtime::Builder::new_current_thread();
        let runtime = builder.enable_all().build().expect("a runtime");
        Self { tools: ToolSet::builtin(), runtime }
    }

    fn context(folder: &Path) -> CallContext {
        CallContext::new(folder, Environment::of_process(), 25_000)
    }

    /// Calls a tool; one that fails ends the run.
    fn call(&self, name: &str, input: &str, context: &CallContext) -> ToolOutput {
        let input = RawValue::from_string(input.to_owned()).expect("JSON");
        let tool = self.tools.get(name).expect("a tool of that name");
        let output = self.runtime.block_on(tool.call(&input, context));
        output.unwrap_or_else(|error| crate::fail::fail(&format!("{name}: {error}")))
    }
}
