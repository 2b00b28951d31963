//! `TodoWrite`: the to-do list of the model, which the user sees as well.
//!
//! Invariant: a call gives the whole list, which is kept as given; nothing else is touched.

use std::borrow::Cow;
use std::path::Path;
use std::sync::PoisonError;

use dormouse_conversation::known_tools::TODO_WRITE;
use dormouse_permissions::{Access, InternalAccess};
use futures_util::future::BoxFuture;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::todo_list::{Todo, TodoList, TodoStatus};
use crate::{
    CallContext, ResultLimit, Tool, ToolClass, ToolError, ToolOutput, ToolSpec, parse_input,
};

/// The most entries of a list.
const MAX_ITEMS: usize = 100;
/// The most characters of an entry.
const MAX_CHARS: usize = 1_000;

const SCHEMA: &str = concat!(
    r#"{"type":"object","properties":{"#,
    r#""todos":{"type":"array","maxItems":100,"#,
    r#""description":"The whole list, in order.","#,
    r#""items":{"type":"object","properties":{"#,
    r#""content":{"type":"string","description":"What is to be done."},"#,
    r#""status":{"type":"string","enum":["pending","in_progress","completed"],"#,
    r#""description":"How far it is."}"#,
    r#"},"required":["content","status"],"additionalProperties":false}}"#,
    r#"},"required":["todos"],"additionalProperties":false}"#,
);

const SHORT: &str = "Keeps the list of steps of a longer task; each call gives the whole list.";

const FULL: &str = "\
Keeps a list of the steps of the task at hand, which the user sees too. Use it for work of three \
or more steps.

- Each call replaces the whole list. An empty list clears it.
- Set one step to `in_progress` before you begin it, and to `completed` when it is done in full: \
not while tests fail.";

/// The tool. See the module.
#[derive(Debug, Clone, Copy)]
pub struct TodoWrite;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    todos: Vec<Todo>,
}

static SPEC: ToolSpec = ToolSpec {
    name: Cow::Borrowed(TODO_WRITE.name),
    full: Cow::Borrowed(FULL),
    short: Cow::Borrowed(SHORT),
    schema: Cow::Borrowed(SCHEMA),
    class: ToolClass::Exclusive,
    limit: ResultLimit::OwnBound,
    traits: TODO_WRITE.traits,
};

impl Tool for TodoWrite {
    fn spec(&self) -> &ToolSpec {
        &SPEC
    }

    fn access(&self, _: &RawValue, _: &Path) -> Access {
        Access::Internal(InternalAccess {
            reason: "it changes nothing but the list of what is to be done",
            denied_in_plan_mode: None,
        })
    }

    fn call<'a>(
        &'a self,
        input: &'a RawValue,
        context: &'a CallContext,
    ) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async {
            let list = checked(parse_input(input)?)?;
            let report = report(&list);
            *context.todos.lock().unwrap_or_else(PoisonError::into_inner) = list;
            Ok(ToolOutput::text(report))
        })
    }
}

fn checked(input: Input) -> Result<TodoList, ToolError> {
    let mut items = input.todos;
    if items.len() > MAX_ITEMS {
        return Err(ToolError::invalid(format!(
            "`todos`: has {} entries, and a list has at most {MAX_ITEMS}; put steps together",
            items.len()
        )));
    }
    for (item, number) in items.iter_mut().zip(1..) {
        // A line each: an entry of several lines would look like several entries.
        item.content = item.content.split_whitespace().collect::<Vec<_>>().join(" ");
        let chars = item.content.chars().count();
        if chars == 0 || chars > MAX_CHARS {
            return Err(ToolError::invalid(format!(
                "`todos`: the `content` of entry {number} has {chars} characters; 1 to {MAX_CHARS} \
                 are expected"
            )));
        }
    }
    Ok(TodoList { items })
}

fn report(list: &TodoList) -> String {
    if list.items.is_empty() {
        return "the list is empty".to_owned();
    }
    let under_way = list.count(TodoStatus::InProgress);
    if under_way > 1 {
        return format!("{list}\n[{under_way} entries are in progress; keep it to one at a time]");
    }
    list.to_string()
}
