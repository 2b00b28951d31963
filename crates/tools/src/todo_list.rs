//! The list of steps that `TodoWrite` keeps for a conversation.

use std::fmt;

use serde::Deserialize;

/// How far a step has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TodoStatus {
    /// Not begun.
    Pending,
    /// Begun.
    InProgress,
    /// Done.
    Completed,
}

/// A step. Unknown fields are ignored: models that know a similar tool send more.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Todo {
    /// What is to be done.
    pub content: String,
    /// How far it has come.
    pub status: TodoStatus,
}

/// The steps, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TodoList {
    /// The steps.
    pub items: Vec<Todo>,
}

impl TodoList {
    pub(crate) fn count(&self, status: TodoStatus) -> usize {
        self.items.iter().filter(|item| item.status == status).count()
    }
}

impl fmt::Display for TodoList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for item in &self.items {
            let mark = match item.status {
                TodoStatus::Pending => "[ ]",
                TodoStatus::InProgress => "[>]",
                TodoStatus::Completed => "[x]",
            };
            writeln!(f, "{mark} {}", item.content)?;
        }
        write!(f, "{} of {} done", self.count(TodoStatus::Completed), self.items.len())
    }
}
