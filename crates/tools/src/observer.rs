//! Whoever looks at a call before and after it runs: hooks, above all.
//!
//! Invariant: an observer can stop a call, change its arguments or its result and add to what the model
//! reads; it can not make the gate forget a rule.

use std::fmt;
use std::time::Duration;

use dormouse_conversation::{ResultContent, ToolUseId};
use futures_util::future::{BoxFuture, ready};
use serde_json::value::RawValue;

use crate::CallResult;

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

/// What an observer thinks of a call that is about to run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum CallOpinion {
    /// Nothing.
    #[default]
    Neutral,
    /// It need not be asked about, unless a rule says so.
    Allow {
        /// Why.
        why: String,
    },
    /// A person should decide.
    Ask {
        /// Why.
        why: String,
    },
    /// It must not run.
    Deny {
        /// Why, for the model to read.
        why: String,
    },
}

/// What comes of looking at a call before it runs.
#[derive(Debug, Default)]
pub struct BeforeCall {
    /// Whether it should run.
    pub stance: CallOpinion,
    /// Other arguments, to run it with.
    pub input: Option<Box<RawValue>>,
    /// What the model is told besides the result.
    pub notes: Vec<String>,
    /// Why the whole turn is to end with this call.
    pub halt: Option<String>,
}

/// An observer's word in place of the person's.
#[derive(Debug)]
pub enum ConfirmationOverride {
    /// It may run, perhaps with other arguments.
    Allow {
        /// Those.
        input: Option<Box<RawValue>>,
    },
    /// It may not.
    Deny {
        /// Why, for the model to read.
        why: String,
    },
}

/// What comes of looking at a call that has ended.
#[derive(Debug, Default)]
pub struct AfterCall {
    /// Another result.
    pub content: Option<ResultContent>,
    /// What the model is told besides the result.
    pub notes: Vec<String>,
    /// Why the whole turn is to end with this call.
    pub halt: Option<String>,
}

/// Sees calls come and go.
pub trait CallObserver: Send + Sync {
    /// A call is about to be decided about.
    fn before<'a>(&'a self, _call: CallView<'a>) -> BoxFuture<'a, BeforeCall> {
        Box::pin(ready(BeforeCall::default()))
    }

    /// A person is about to be asked, or would be if one were there. The first word counts.
    fn asking<'a>(
        &'a self,
        _call: CallView<'a>,
        _why: &'a str,
    ) -> BoxFuture<'a, Option<ConfirmationOverride>> {
        Box::pin(ready(None))
    }

    /// A call was denied; what the model is told besides.
    fn denied<'a>(&'a self, _call: CallView<'a>, _why: &'a str) -> BoxFuture<'a, Vec<String>> {
        Box::pin(ready(Vec::new()))
    }

    /// A call has run, well or not.
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
