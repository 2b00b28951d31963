//! How work beside a conversation tells hooks what it does.

use std::sync::Arc;

use serde_json::value::RawValue;

use super::runner::HookRunner;

/// Rings for hooks; silent where there are none.
#[derive(Debug, Clone, Default)]
pub struct Bell(pub(crate) Option<Arc<HookRunner>>);

/// A dream that has ended.
#[derive(Debug, Clone, Copy)]
pub struct DreamNews<'a> {
    /// Which.
    pub id: &'a str,
    /// How it ended: what a matcher is compared with.
    pub status: &'a str,
    /// How many memories are better for it.
    pub improved: usize,
    /// In one line.
    pub headline: &'a str,
    /// All of it, as JSON.
    pub report: &'a RawValue,
}

impl Bell {
    /// A dream begins, over this many sessions and the memories of these scopes. Waits for the hooks.
    pub async fn dream_starts(&self, id: &str, sessions: usize, scopes: &[String]) {
        if let Some(hooks) = &self.0 {
            hooks.dream_starts(id, sessions, scopes).await;
        }
    }

    /// It has ended. Waits for the hooks.
    pub async fn dream_ends(&self, news: DreamNews<'_>) {
        if let Some(hooks) = &self.0 {
            let (of, came_to) = ((news.id, news.status), (news.improved, news.headline));
            hooks.dream_ends(of, came_to, news.report).await;
        }
    }

    /// The same where nobody can wait: it was ended.
    pub fn dream_is_ended(&self, news: DreamNews<'_>) {
        if let Some(hooks) = &self.0 {
            hooks.dream_is_ended(news);
        }
    }

    /// What hooks have said to the person.
    pub fn take_notices(&self) -> Vec<String> {
        self.0.as_ref().map(|hooks| hooks.take_notices()).unwrap_or_default()
    }
}
