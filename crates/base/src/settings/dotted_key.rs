//! Dotted keys of settings: `permissions.allow`, `prices."gpt-5.4".input`.
//!
//! A name that contains a dot is written in quotes. Without them it is still found in tables whose names users choose, such as
//! `contextWindows.gpt-5.4`: the schema says what can follow.

use std::fmt;

use serde_json::Value;

use super::schema::SCHEMA;

/// The path of names to a setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingKey {
    names: Vec<String>,
}

impl SettingKey {
    /// Reads a key as users write it.
    pub fn parse(text: &str) -> Self {
        let mut words = split(text);
        let mut names = Vec::new();
        let mut schema = Some(&*SCHEMA);
        while !words.is_empty() {
            let name = take_name(&mut words, schema);
            schema = schema.and_then(|above| below(above, &name));
            names.push(name);
        }
        Self { names }
    }

    /// The key of these names.
    pub fn of<N: Into<String>>(names: impl IntoIterator<Item = N>) -> Self {
        Self { names: names.into_iter().map(Into::into).collect() }
    }

    /// The names, outermost first.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The value at this key; `null` counts as none.
    pub fn find<'a>(&self, value: &'a Value) -> Option<&'a Value> {
        self.at(value).filter(|value| !value.is_null())
    }

    /// What stands at this key, be it `null`.
    pub(super) fn at<'a>(&self, value: &'a Value) -> Option<&'a Value> {
        self.names.iter().try_fold(value, |value, name| value.get(name))
    }

    /// The default of a setting that has a fixed one.
    pub fn default_value(&self) -> Option<Value> {
        let key = self.names.iter().try_fold(&*SCHEMA, |schema, name| below(schema, name))?;
        key.get("default").filter(|value| !is_nothing(value)).cloned()
    }

    /// All settings that have a fixed default, with it.
    pub fn all_defaults() -> Vec<(Self, Value)> {
        let mut found = Vec::new();
        collect_defaults(&SCHEMA, &mut Vec::new(), &mut found);
        found
    }
}

impl fmt::Display for SettingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, name) in self.names.iter().enumerate() {
            if index > 0 {
                f.write_str(".")?;
            }
            if name.is_empty() || name.contains(['.', '"']) {
                write!(f, "{}", Value::from(name.as_str()))?;
            } else {
                f.write_str(name)?;
            }
        }
        Ok(())
    }
}

fn collect_defaults(schema: &Value, names: &mut Vec<String>, found: &mut Vec<(SettingKey, Value)>) {
    let Some(Value::Object(keys)) = schema.get("properties") else { return };
    for (name, key) in keys {
        names.push(name.clone());
        if let Some(default) = key.get("default").filter(|value| !is_nothing(value)) {
            found.push((SettingKey::of(names.iter().cloned()), default.clone()));
        }
        collect_defaults(key, names, found);
        names.pop();
    }
}

/// No value, or an empty list or table. Of a table with keys, each key has its own default.
fn is_nothing(default: &Value) -> bool {
    match default {
        Value::Null | Value::Object(_) => true,
        Value::Array(items) => items.is_empty(),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// A part of a key between dots.
struct Word {
    text: String,
    is_quoted: bool,
}

fn split(mut text: &str) -> Vec<Word> {
    let mut words = Vec::new();
    loop {
        let (word, rest) = quoted(text).unwrap_or_else(|| {
            let (word, rest) = match text.split_once('.') {
                Some((word, rest)) => (word, Some(rest)),
                None => (text, None),
            };
            (Word { text: word.to_owned(), is_quoted: false }, rest)
        });
        words.push(word);
        let Some(rest) = rest else { return words };
        text = rest;
    }
}

/// A name in quotes at the start, and what follows its dot; none if there is no such name.
fn quoted(text: &str) -> Option<(Word, Option<&str>)> {
    if !text.starts_with('"') {
        return None;
    }
    let mut strings = serde_json::Deserializer::from_str(text).into_iter::<String>();
    let name = strings.next()?.ok()?;
    let rest = text.get(strings.byte_offset()..)?;
    let word = Word { text: name, is_quoted: true };
    if rest.is_empty() { Some((word, None)) } else { Some((word, Some(rest.strip_prefix('.')?))) }
}

/// Takes the next name. In a table whose names users choose, unquoted words up to the next known name are one.
fn take_name(words: &mut Vec<Word>, schema: Option<&Value>) -> String {
    let mut count = 1;
    let chosen = schema.filter(|schema| schema.get("properties").is_none());
    let values = chosen.and_then(|schema| schema.get("additionalProperties"));
    let is_described = |values: &&Value| values.get("type").is_some();
    if let Some(values) = values.filter(is_described)
        && words.iter().all(|word| !word.is_quoted)
    {
        let ends_in_known = words.last().is_some_and(|last| below(values, &last.text).is_some());
        count = if ends_in_known { words.len().saturating_sub(1).max(1) } else { words.len() };
    }
    let name: Vec<String> = words.drain(..count.min(words.len())).map(|word| word.text).collect();
    name.join(".")
}

/// The schema of the key of that name.
fn below<'a>(schema: &'a Value, name: &str) -> Option<&'a Value> {
    match schema.get("properties") {
        Some(known) => known.get(name),
        None => schema.get("additionalProperties").filter(|values| values.is_object()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        assert_eq!(SettingKey::parse(text).names(), expected);
    }

    #[test]
    fn names_with_dots_stay_whole() {
        check("model", &["model"]);
        check("permissions.allow", &["permissions", "allow"]);
        check("contextWindows.gpt-5.4", &["contextWindows", "gpt-5.4"]);
        check(r#"contextWindows."gpt-5.4""#, &["contextWindows", "gpt-5.4"]);
        check("prices.gpt-5.4.input", &["prices", "gpt-5.4", "input"]);
        check("prices.gpt-5.4", &["prices", "gpt-5.4"]);
        check(r#"prices."gpt-5.4".input"#, &["prices", "gpt-5.4", "input"]);
        check("mcpServers.files.command", &["mcpServers", "files", "command"]);
        check(r#"mcpServers."my.files".command"#, &["mcpServers", "my.files", "command"]);
        check("model.name", &["model", "name"]);
        check(r#""open"#, &[r#""open"#]);
        check(r#""a"b.c"#, &[r#""a"b"#, "c"]);
    }

    #[test]
    fn defaults_are_those_of_the_schema() {
        assert_eq!(SettingKey::parse("cacheEdits.above").default_value(), Some(20.into()));
        assert_eq!(SettingKey::parse("model").default_value(), None);
        assert_eq!(SettingKey::parse("contextWindows").default_value(), None);
        let all = SettingKey::all_defaults();
        assert!(all.iter().any(|(key, _)| key.to_string() == "sandbox.mode"), "{all:?}");
    }

    proptest! {
        #[test]
        fn a_key_reads_as_it_is_printed(names in prop::collection::vec(r#"[a-z."\\]{0,5}"#, 1..4)) {
            let key = SettingKey::of(names.clone());
            prop_assert_eq!(split(&key.to_string()).into_iter().map(|word| word.text).collect::<Vec<_>>(), names);
        }
    }
}
