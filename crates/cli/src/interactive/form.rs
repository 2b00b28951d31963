//! Forms of MCP servers (`elicitation/create`): one question after the other, and before anything is sent, all of it.

use dormouse_base::printable;
use dormouse_mcp_client::{ElicitationForm, ElicitationReply, Elicitor, FieldKind, FormField};
use dormouse_tui::menu::{Choice, MenuAnswer};
use futures_util::future::BoxFuture;
use serde_json::{Map, Value};
use tokio::sync::{Semaphore, mpsc, oneshot};

use crate::message_catalog::msg;

/// Letters of choices; those of `skip` and `decline` are not among them.
const LETTERS: &str = "abcefghijklmnopqrtuvwxyz";
const SKIP: char = 's';
const DECLINE: char = 'd';

/// Which question of a form it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StepPlace {
    /// The user may be typing something else.
    First,
    /// The user has just answered another.
    Next,
}

/// A question of a form that waits for its answer.
#[derive(Debug)]
pub(crate) struct PendingStep {
    pub(crate) text: String,
    pub(crate) choices: Vec<Choice>,
    pub(crate) place: StepPlace,
    pub(crate) reply: oneshot::Sender<MenuAnswer>,
}

/// Sends the questions of forms to the task that owns the terminal, one form after the other.
#[derive(Debug)]
pub(crate) struct FormAsker {
    steps: mpsc::UnboundedSender<PendingStep>,
    one_at_a_time: Semaphore,
}

/// An asker and the receiver of its questions.
pub(crate) fn channel() -> (FormAsker, mpsc::UnboundedReceiver<PendingStep>) {
    let (steps, receiver) = mpsc::unbounded_channel();
    (FormAsker { steps, one_at_a_time: Semaphore::new(1) }, receiver)
}

impl Elicitor for FormAsker {
    fn ask(&self, form: ElicitationForm) -> BoxFuture<'_, ElicitationReply> {
        Box::pin(async move {
            let Ok(_turn) = self.one_at_a_time.acquire().await else {
                return ElicitationReply::Cancel;
            };
            match self.fill_in(&form).await {
                Ok(values) => ElicitationReply::Accept(values),
                Err(FormEnd::Declined) => ElicitationReply::Decline,
                Err(FormEnd::Cancelled) => ElicitationReply::Cancel,
            }
        })
    }
}

/// How a form ends without an answer.
enum FormEnd {
    Declined,
    Cancelled,
}

impl FormAsker {
    async fn fill_in(&self, form: &ElicitationForm) -> Result<Map<String, Value>, FormEnd> {
        let server = form.server.as_str();
        let mut heading =
            format!("{}\n{}\n", msg!("form-intro", server = server), printable(&form.message));
        let mut values = Map::new();
        let mut place = StepPlace::First;
        for field in &form.fields {
            let value = self.fill_in_field(field, std::mem::take(&mut heading), place).await?;
            place = StepPlace::Next;
            values.extend(value.map(|value| (field.name.clone(), value)));
        }
        // One answer was seen as it was given; several, or none, are shown together.
        if form.fields.len() != 1 {
            let shown = form.fields.iter().filter_map(|field| {
                let value = values.get(&field.name)?;
                Some(format!("  {}: {}\n", printable(&field.label), shown_value(field, value)))
            });
            let text = format!(
                "{heading}{}{}",
                shown.collect::<String>(),
                msg!("form-send", server = server)
            );
            let choices =
                vec![choice('y', msg!("form-send-yes")), choice(DECLINE, msg!("form-decline"))];
            self.step(text, choices, place).await?;
        }
        Ok(values)
    }

    /// The value of a field; none if the user leaves it empty.
    async fn fill_in_field(
        &self,
        field: &FormField,
        heading: String,
        mut place: StepPlace,
    ) -> Result<Option<Value>, FormEnd> {
        let mut about = format!("{heading}{}", printable(&field.label));
        if !field.description.is_empty() {
            about.push_str(&format!(": {}", printable(&field.description)));
        }
        if let FieldKind::SomeOf { choices, .. } = &field.kind {
            for (at, (_, name)) in choices.iter().enumerate() {
                about.push_str(&format!("\n  {} {}", at + 1, printable(name)));
            }
        }
        let mut choices = choices_of(field);
        loop {
            let (letter, index, typed) = self.step(about, choices.clone(), place).await?;
            place = StepPlace::Next;
            let value = match (&field.kind, typed) {
                _ if letter == SKIP => return Ok(None),
                (FieldKind::YesNo, _) => Some(Value::from(letter == 'y')),
                (FieldKind::OneOf(values), _) => {
                    values.get(index).map(|(value, _)| value.as_str().into())
                }
                (
                    FieldKind::Text { .. } | FieldKind::Number { .. } | FieldKind::SomeOf { .. },
                    typed,
                ) => {
                    let typed = typed.unwrap_or_default();
                    let value = field.read(&typed);
                    if let Some(answer) = choices.first_mut() {
                        answer.text = Some(typed);
                    }
                    value
                }
            };
            if value.is_some() {
                return Ok(value);
            }
            about = msg!("form-invalid", expected = expected(&field.kind));
        }
    }

    /// Asks one question: the letter and place of the choice, and its text.
    async fn step(
        &self,
        text: String,
        choices: Vec<Choice>,
        place: StepPlace,
    ) -> Result<(char, usize, Option<String>), FormEnd> {
        let letters: Vec<char> = choices.iter().map(|choice| choice.letter).collect();
        let (reply, answer) = oneshot::channel();
        // Without a terminal task there is no answer.
        let step = PendingStep { text, choices, place, reply };
        self.steps.send(step).map_err(|_| FormEnd::Cancelled)?;
        match answer.await {
            Ok(MenuAnswer::Chosen { index, text }) => match letters.get(index) {
                Some(&DECLINE) | None => Err(FormEnd::Declined),
                Some(letter) => Ok((*letter, index, text)),
            },
            Ok(MenuAnswer::Cancelled) | Err(_) => Err(FormEnd::Cancelled),
        }
    }
}

fn choice(letter: char, label: String) -> Choice {
    Choice { letter, label, text: None }
}

/// The choices for a field, in the order of its values.
fn choices_of(field: &FormField) -> Vec<Choice> {
    let mut choices = match &field.kind {
        FieldKind::Text { .. } | FieldKind::Number { .. } => {
            let start = field.default.as_ref().map(|value| match value {
                Value::String(text) => text.clone(),
                other => other.to_string(),
            });
            let text = Some(start.unwrap_or_default());
            vec![Choice { letter: 'a', label: msg!("form-answer"), text }]
        }
        FieldKind::SomeOf { .. } => {
            vec![Choice { letter: 'a', label: msg!("form-numbers"), text: Some(String::new()) }]
        }
        FieldKind::YesNo => vec![choice('y', msg!("form-yes")), choice('n', msg!("form-no"))],
        FieldKind::OneOf(values) => {
            let letters = LETTERS.chars().chain(std::iter::repeat('·'));
            let named = values.iter().zip(letters);
            named.map(|((_, name), letter)| choice(letter, printable(name).into_owned())).collect()
        }
    };
    if !field.required {
        choices.push(choice(SKIP, msg!("form-skip")));
    }
    choices.push(choice(DECLINE, msg!("form-decline")));
    choices
}

/// What a field takes, in words.
fn expected(kind: &FieldKind) -> String {
    match kind {
        FieldKind::Number { whole, least, most } => {
            let range = match (least.is_finite(), most.is_finite()) {
                (true, true) => format!(" ({least} – {most})"),
                (true, false) => format!(" (≥ {least})"),
                (false, true) => format!(" (≤ {most})"),
                (false, false) => String::new(),
            };
            if *whole {
                msg!("form-expects-whole-number", range = range)
            } else {
                msg!("form-expects-number", range = range)
            }
        }
        FieldKind::Text { least, most } if *most < usize::MAX => {
            msg!("form-expects-text", range = format!("{least} – {most}"))
        }
        FieldKind::Text { least, .. } => msg!("form-expects-text", range = format!("≥ {least}")),
        FieldKind::SomeOf { least, most, .. } if *most < usize::MAX => {
            msg!("form-expects-numbers", range = format!("{least} – {most}"))
        }
        FieldKind::SomeOf { least, .. } => {
            msg!("form-expects-numbers", range = format!("≥ {least}"))
        }
        FieldKind::YesNo | FieldKind::OneOf(_) => String::new(),
    }
}

fn shown_value(field: &FormField, value: &Value) -> String {
    let text = match (&field.kind, value) {
        (FieldKind::OneOf(values), Value::String(own)) => {
            let named = values.iter().find(|(value, _)| value == own);
            named.map_or(own, |(_, name)| name).clone()
        }
        (FieldKind::SomeOf { choices, .. }, Value::Array(chosen)) => {
            let names = chosen.iter().filter_map(|own| {
                choices.iter().find(|(value, _)| own == value).map(|(_, name)| name.as_str())
            });
            names.collect::<Vec<_>>().join(", ")
        }
        (_, Value::String(text)) => text.clone(),
        (_, Value::Bool(true)) => msg!("form-yes"),
        (_, Value::Bool(false)) => msg!("form-no"),
        (_, other) => other.to_string(),
    };
    printable(&text).into_owned()
}
