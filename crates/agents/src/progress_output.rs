//! Display of a running subagent's activity.

use std::sync::Arc;

use dormouse_engine::JobHandle;
use dormouse_tools::{CallContext, CommandProgress};

/// The display of a subagent's activity.
#[derive(Clone)]
pub(crate) enum ProgressOutput {
    None,
    Call(Arc<dyn CommandProgress>),
    Job(JobHandle),
}

impl ProgressOutput {
    pub(crate) fn for_call(context: &CallContext) -> Self {
        context.progress.clone().map_or(Self::None, Self::Call)
    }

    pub(crate) fn show_activity(&self, activity: &str) {
        match self {
            Self::None => {}
            Self::Call(progress) => progress.printed(&format!("{activity}\n")),
            Self::Job(job) => job.phase(activity),
        }
    }

    pub(crate) fn show_text(&self, text: &str) {
        if let Self::Job(job) = self {
            job.said(text);
        }
    }
}
