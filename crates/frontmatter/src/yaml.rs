//! The YAML parser, behind this module only. It reads at most [`LONGEST`] bytes with a tight budget: frontmatter
//! has a few keys, so deep nesting or many aliases are hostile.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

use crate::value::{FrontmatterProblem, LONGEST, Value};

/// Limits of the parser, far above what frontmatter needs.
const NODES: usize = 4_000;
const DEPTH: usize = 8;
const ALIASES: usize = 16;

pub(crate) fn fields(inner: &str) -> Result<Vec<(String, Value)>, FrontmatterProblem> {
    if inner.trim().is_empty() {
        return Ok(Vec::new());
    }
    match serde_saphyr::from_str_with_options::<Value>(inner, options()) {
        Ok(Value::Map(pairs)) => Ok(pairs),
        Ok(Value::Text(text)) if text.is_empty() => Ok(Vec::new()),
        Ok(Value::Text(_) | Value::List(_)) => Err(FrontmatterProblem::NoMapping),
        Err(error) => {
            let line = error.location().map_or(1, |location| location.line()) + 1;
            let reason = error.to_string().lines().next().unwrap_or_default().to_owned();
            Err(FrontmatterProblem::Yaml { line, reason })
        }
    }
}

fn options() -> serde_saphyr::Options {
    serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_events: 4 * NODES,
            max_nodes: NODES,
            max_depth: DEPTH,
            flow_nesting_limit: DEPTH,
            max_aliases: ALIASES,
            max_anchors: ALIASES,
            max_recorded_anchor_events: NODES,
            max_recorded_anchor_bytes: 2 * LONGEST,
            max_documents: 1,
            max_merge_keys: ALIASES,
        },
        non_finite_float_policy: serde_saphyr::options::NonFiniteFloatPolicy::AsString,
        strict_booleans: true,
        with_snippet: false,
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValueVisitor)
    }
}

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::Text(text.to_owned()))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Text(value.to_string()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Text(value.to_string()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Text(value.to_string()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Value::Text(value.to_string()))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Text(String::new()))
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Text(String::new()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Value::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut pairs = Vec::new();
        while let Some((key, value)) = entries.next_entry::<Value, Value>()? {
            let key = key.as_text().unwrap_or_default().to_owned();
            pairs.push((key, value));
        }
        Ok(Value::Map(pairs))
    }
}
