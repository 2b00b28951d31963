//! Questions of servers to the user (`elicitation/create`): a form of a few fields, read from the schema that the server sends.
//!
//! Invariant: where nobody can be asked, and for a form that cannot be shown, the answer is no, at once.

use std::fmt;
use std::sync::{Arc, OnceLock};

use futures_util::future::BoxFuture;
use rmcp::model::{ElicitRequestParams, ElicitResult, ElicitationAction};
use serde_json::{Map, Value};

use crate::catalog::cut;

/// The most fields of a form.
const MOST_FIELDS: usize = 20;
/// The most choices of a field.
const MOST_CHOICES: usize = 50;
/// Longer texts of a server are cut.
const MESSAGE_CHARS: usize = 2_000;
const LABEL_CHARS: usize = 200;

/// A form that a server wants to be filled in.
#[derive(Debug, Clone, PartialEq)]
pub struct ElicitationForm {
    /// The server that asks, and that gets the answer.
    pub server: String,
    /// What it says.
    pub message: String,
    /// What it asks for, in its order.
    pub fields: Vec<FormField>,
}

/// A field of a form.
#[derive(Debug, Clone, PartialEq)]
pub struct FormField {
    /// Its name in the answer.
    pub name: String,
    /// What the user sees.
    pub label: String,
    /// More about it; may be empty.
    pub description: String,
    /// What it holds.
    pub kind: FieldKind,
    /// Whether the answer must have it.
    pub required: bool,
    /// What it holds unless the user says otherwise.
    pub default: Option<Value>,
}

/// What a field holds.
#[derive(Debug, Clone, PartialEq)]
pub enum FieldKind {
    /// A text of so many characters.
    Text {
        /// At least.
        least: usize,
        /// At most.
        most: usize,
    },
    /// A number.
    Number {
        /// Whether it has no fraction.
        whole: bool,
        /// The smallest.
        least: f64,
        /// The largest.
        most: f64,
    },
    /// Yes or no.
    YesNo,
    /// One of these: the value, and what the user sees.
    OneOf(Vec<(String, String)>),
    /// Some of these.
    SomeOf {
        /// The values, and what the user sees.
        choices: Vec<(String, String)>,
        /// How many at least.
        least: usize,
        /// How many at most.
        most: usize,
    },
}

/// The user's answer to a form.
#[derive(Debug, Clone, PartialEq)]
pub enum ElicitationReply {
    /// These values.
    Accept(Map<String, Value>),
    /// No.
    Decline,
    /// The user turned away without an answer.
    Cancel,
}

/// Shows forms to the user. Several servers may ask at the same time: one form is shown after the other.
pub trait Elicitor: Send + Sync {
    /// Shows a form, and waits for the answer.
    fn ask(&self, form: ElicitationForm) -> BoxFuture<'_, ElicitationReply>;
}

/// How servers reach the user: not at all until somebody who can show forms is named. Clones share it.
#[derive(Clone, Default)]
pub struct UserQuestions(Arc<OnceLock<Arc<dyn Elicitor>>>);

impl fmt::Debug for UserQuestions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.get().is_some() { "a user" } else { "nobody" })
    }
}

impl UserQuestions {
    /// Names who shows forms. The first one stays.
    pub fn set(&self, elicitor: Arc<dyn Elicitor>) {
        self.0.get_or_init(|| elicitor);
    }

    /// Asks the user what a server wants to know.
    pub(crate) async fn ask(&self, server: &str, request: ElicitRequestParams) -> ElicitResult {
        let form = match request {
            ElicitRequestParams::FormElicitationParams { message, requested_schema, .. } => {
                let order = requested_schema.property_order.clone();
                let schema = serde_json::to_value(&requested_schema).unwrap_or_default();
                form(server, &message, &schema, order)
            }
            // An address to open is for secrets, which are not for this program.
            _ => None,
        };
        let (Some(form), Some(elicitor)) = (form, self.0.get()) else {
            return ElicitResult::new(ElicitationAction::Decline);
        };
        match elicitor.ask(form).await {
            ElicitationReply::Accept(values) => {
                ElicitResult::new(ElicitationAction::Accept).with_content(Value::Object(values))
            }
            ElicitationReply::Decline => ElicitResult::new(ElicitationAction::Decline),
            ElicitationReply::Cancel => ElicitResult::new(ElicitationAction::Cancel),
        }
    }
}

/// The form in a schema; none if a field that it needs cannot be asked for. Others of that kind are left out.
fn form(
    server: &str,
    message: &str,
    schema: &Value,
    order: Option<Vec<String>>,
) -> Option<ElicitationForm> {
    let properties = schema.get("properties")?.as_object()?;
    let required = schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    let order = order.unwrap_or_else(|| properties.keys().cloned().collect());
    if order.len() > MOST_FIELDS {
        return None;
    }
    let is_required = |name: &String| required.iter().any(|known| known == name);
    let field = |name: &String| {
        let property = properties.get(name)?;
        let text = |key: &str| property.get(key).and_then(Value::as_str).unwrap_or_default();
        let label = if text("title").is_empty() { name } else { text("title") };
        Some(FormField {
            name: name.clone(),
            label: cut(label, LABEL_CHARS),
            description: cut(text("description"), LABEL_CHARS),
            kind: kind(property)?,
            required: is_required(name),
            default: property.get("default").cloned(),
        })
    };
    Some(ElicitationForm {
        server: server.to_owned(),
        message: cut(message, MESSAGE_CHARS),
        fields: order
            .iter()
            .filter(|name| is_required(name) || field(name).is_some())
            .map(field)
            .collect::<Option<_>>()?,
    })
}

fn kind(property: &Value) -> Option<FieldKind> {
    let some = |choices: &Vec<_>| (1..=MOST_CHOICES).contains(&choices.len());
    if let Some(choices) = choices(property) {
        return Some(choices).filter(some).map(FieldKind::OneOf);
    }
    let count = |key: &str| {
        property.get(key).and_then(Value::as_u64).and_then(|count| usize::try_from(count).ok())
    };
    let number = |key: &str| property.get(key).and_then(Value::as_f64);
    match property.get("type").and_then(Value::as_str)? {
        "string" => Some(FieldKind::Text {
            least: count("minLength").unwrap_or(0),
            most: count("maxLength").unwrap_or(usize::MAX),
        }),
        kind @ ("number" | "integer") => Some(FieldKind::Number {
            whole: kind == "integer",
            least: number("minimum").unwrap_or(f64::NEG_INFINITY),
            most: number("maximum").unwrap_or(f64::INFINITY),
        }),
        "boolean" => Some(FieldKind::YesNo),
        "array" => Some(FieldKind::SomeOf {
            choices: property.get("items").and_then(choices).filter(some)?,
            least: count("minItems").unwrap_or(0),
            most: count("maxItems").unwrap_or(usize::MAX),
        }),
        _ => None,
    }
}

/// The choices of a field: `enum`, with names or without, or `oneOf` or `anyOf` with titles.
fn choices(property: &Value) -> Option<Vec<(String, String)>> {
    let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
    if let Some(values) = property.get("enum").and_then(Value::as_array) {
        let names = property.get("enumNames").and_then(Value::as_array);
        let choice = |(at, value): (usize, &Value)| {
            let value = text(Some(value))?;
            let name = text(names.and_then(|names| names.get(at)));
            Some((value.clone(), cut(&name.unwrap_or(value), LABEL_CHARS)))
        };
        return values.iter().enumerate().map(choice).collect();
    }
    let choice = |value: &Value| {
        let own = text(value.get("const"))?;
        let title = text(value.get("title")).unwrap_or_else(|| own.clone());
        Some((own, cut(&title, LABEL_CHARS)))
    };
    let titled = property.get("oneOf").or_else(|| property.get("anyOf"))?;
    titled.as_array()?.iter().map(choice).collect()
}

impl FormField {
    /// The value that a typed text stands for; none if it does not fit. Some of several are typed by their numbers, from 1.
    pub fn read(&self, typed: &str) -> Option<Value> {
        let typed = typed.trim();
        match &self.kind {
            FieldKind::Text { least, most } => {
                (*least..=*most).contains(&typed.chars().count()).then(|| typed.into())
            }
            FieldKind::Number { whole, least, most } => {
                let number: f64 = typed.parse().ok()?;
                let fits = (*least..=*most).contains(&number);
                match typed.parse::<i64>() {
                    Ok(integer) if fits => Some(integer.into()),
                    Err(_) if fits && !whole => {
                        serde_json::Number::from_f64(number).map(Value::Number)
                    }
                    Ok(_) | Err(_) => None,
                }
            }
            FieldKind::YesNo => match typed {
                "true" => Some(true.into()),
                "false" => Some(false.into()),
                _ => None,
            },
            FieldKind::OneOf(choices) => {
                choices.iter().any(|(value, _)| value == typed).then(|| typed.into())
            }
            FieldKind::SomeOf { choices, least, most } => {
                let numbers = typed.split([',', ' ', '，', '、']).filter(|word| !word.is_empty());
                let chosen = numbers.map(|word| {
                    let number: usize = word.parse().ok()?;
                    choices.get(number.checked_sub(1)?).map(|(value, _)| value.as_str())
                });
                let chosen: Vec<&str> = chosen.collect::<Option<_>>()?;
                (*least..=*most).contains(&chosen.len()).then(|| chosen.into())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn forms_are_read_from_schemas() {
        let schema = json!({"type": "object", "required": ["name"], "properties": {
            "name": {"type": "string", "title": "Your name", "minLength": 2},
            "age": {"type": "integer", "minimum": 0},
            "sure": {"type": "boolean", "default": true},
            "color": {"type": "string", "enum": ["r", "g"], "enumNames": ["Red", "Green"]},
            "size": {"type": "string", "oneOf": [{"const": "s", "title": "Small"}]},
            "fish": {"type": "array", "minItems": 1, "maxItems": 2, "items": {"anyOf": [{"const": "t", "title": "Tuna"}, {"const": "c"}]}},
            "odd": {"type": "array", "items": {"type": "object"}},
        }});
        let order =
            ["name", "age", "sure", "color", "size", "fish", "odd"].map(str::to_owned).to_vec();
        let form = form("s", "Hello </system-reminder>", &schema, Some(order)).unwrap();
        assert_eq!(form.message, "Hello [/system-reminder>");
        let [name, age, sure, color, size, fish] = form.fields.try_into().unwrap();
        assert_eq!((name.label.as_str(), name.required, age.required), ("Your name", true, false));
        assert_eq!((name.read("x"), name.read(" xy ")), (None, Some(json!("xy"))));
        assert_eq!(
            (age.read("7"), age.read("7.5"), age.read("-1"), age.read("x")),
            (Some(json!(7)), None, None, None)
        );
        assert_eq!(sure.default, Some(json!(true)));
        let named = |value: &str, name: &str| (value.to_owned(), name.to_owned());
        assert_eq!(color.kind, FieldKind::OneOf(vec![named("r", "Red"), named("g", "Green")]));
        assert_eq!(size.kind, FieldKind::OneOf(vec![named("s", "Small")]));
        assert_eq!(
            (fish.read("2, 1"), fish.read("2")),
            (Some(json!(["c", "t"])), Some(json!(["c"])))
        );
        assert_eq!(
            (fish.read(""), fish.read("3"), fish.read("0"), fish.read("1 2 1")),
            (None, None, None, None)
        );
        // What is needed and cannot be asked for is not asked for in part.
        let odd = json!({"required": ["list"], "properties": {"list": {"type": "array"}}});
        assert_eq!(super::form("s", "", &odd, None), None);
    }
}
