//! Observers of calls, before and after they run: mainly hooks.
//!
//! Invariant: an observer can deny a call, change its arguments or its result and add notes for the model; it cannot
//! override a permission rule.

use std::fmt;
use std::time::Duration;

use dormouse_conversation::{ResultContent, ToolUseId};
use futures_util::future::{BoxFuture, ready};
use serde_json::value::RawValue;

use crate::call_result::CallResult;

/// A call, as observers see it.
#[derive(Debug, Clone, Copy)]
pub struct CallView<'a> {
    /// The call.
    pub id: &'a ToolUseId,
    /// The tool.
    pub name: &'a str,
    /// Its arguments.
    pub input: &'a RawValue,
}

/// An observer's opinion on a call that is about to run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum CallOpinion {
    /// No opinion.
    #[default]
    Neutral,
    /// It needs no confirmation, unless a rule asks for it.
    Allow {
        /// Why.
        why: String,
    },
    /// The user should decide.
    Ask {
        /// Why.
        why: String,
    },
    /// It must not run.
    Deny {
        /// Why, for the model.
        why: String,
    },
}

/// The result of observing a call before it runs.
#[derive(Debug, Default)]
pub struct BeforeCall {
    /// Whether it should run.
    pub opinion: CallOpinion,
    /// Changed arguments.
    pub input: Option<Box<RawValue>>,
    /// Notes for the model besides the result.
    pub notes: Vec<String>,
    /// Why the turn ends with this call, if it does.
    pub halt: Option<String>,
}

/// An observer's answer in place of the user's.
#[derive(Debug)]
pub enum ConfirmationOverride {
    /// It may run.
    Allow {
        /// Changed arguments.
        input: Option<Box<RawValue>>,
    },
    /// It may not run.
    Deny {
        /// Why, for the model.
        why: String,
    },
}

/// The result of observing a call that has ended.
#[derive(Debug, Default)]
pub struct AfterCall {
    /// A changed result.
    pub content: Option<ResultContent>,
    /// Notes for the model besides the result.
    pub notes: Vec<String>,
    /// Why the turn ends with this call, if it does.
    pub halt: Option<String>,
}

/// Observes calls.
pub trait CallObserver: Send + Sync {
    /// Called before a call is decided about.
    fn before<'a>(&'a self, _call: CallView<'a>) -> BoxFuture<'a, BeforeCall> {
        Box::pin(ready(BeforeCall::default()))
    }

    /// Called before the user is asked, or would be if there were a terminal. Returns an answer in place of the user's.
    fn asking<'a>(
        &'a self,
        _call: CallView<'a>,
        _why: &'a str,
    ) -> BoxFuture<'a, Option<ConfirmationOverride>> {
        Box::pin(ready(None))
    }

    /// Called after a denial. Returns notes for the model.
    fn denied<'a>(&'a self, _call: CallView<'a>, _why: &'a str) -> BoxFuture<'a, Vec<String>> {
        Box::pin(ready(Vec::new()))
    }

    /// Called after a call has run, whether it succeeded or not.
    fn after<'a>(
        &'a self,
        _call: CallView<'a>,
        _result: &'a CallResult,
        _took: Duration,
    ) -> BoxFuture<'a, AfterCall> {
        Box::pin(ready(AfterCall::default()))
    }
}

impl fmt::Debug for dyn CallObserver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CallObserver")
    }
}
