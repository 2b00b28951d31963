//! What stands for a variable of a message: text or a number.
//!
//! Borrowed and copied: there are a thousand calls with arguments, and owned ones would each bring the code that drops them.

use std::borrow::Cow;

use fluent_bundle::FluentValue;

/// A text or a number.
#[derive(Debug, Clone, Copy)]
pub enum MessageArgument<'a> {
    /// Text.
    Text(&'a str),
    /// A number, which plural forms depend on. Beyond 2^53 it is rounded.
    Number(f64),
}

impl<'a> From<MessageArgument<'a>> for FluentValue<'a> {
    fn from(argument: MessageArgument<'a>) -> Self {
        match argument {
            MessageArgument::Text(text) => text.into(),
            MessageArgument::Number(number) => number.into(),
        }
    }
}

/// What can be an argument of a message.
pub trait AsMessageArgument {
    /// The argument, borrowed.
    fn as_argument(&self) -> MessageArgument<'_>;
}

impl<T: AsMessageArgument + ?Sized> AsMessageArgument for &T {
    fn as_argument(&self) -> MessageArgument<'_> {
        (**self).as_argument()
    }
}

impl AsMessageArgument for str {
    fn as_argument(&self) -> MessageArgument<'_> {
        MessageArgument::Text(self)
    }
}

impl AsMessageArgument for String {
    fn as_argument(&self) -> MessageArgument<'_> {
        MessageArgument::Text(self)
    }
}

impl AsMessageArgument for Cow<'_, str> {
    fn as_argument(&self) -> MessageArgument<'_> {
        MessageArgument::Text(self)
    }
}

impl AsMessageArgument for f64 {
    fn as_argument(&self) -> MessageArgument<'_> {
        MessageArgument::Number(*self)
    }
}

macro_rules! exact_numbers {
    ($($kind:ty),+) => {$(
        impl AsMessageArgument for $kind {
            fn as_argument(&self) -> MessageArgument<'_> {
                MessageArgument::Number(f64::from(*self))
            }
        }
    )+};
}

macro_rules! wide_numbers {
    ($($kind:ty),+) => {$(
        impl AsMessageArgument for $kind {
            #[expect(clippy::cast_precision_loss, reason = "numbers that people read")]
            fn as_argument(&self) -> MessageArgument<'_> {
                MessageArgument::Number(*self as f64)
            }
        }
    )+};
}

exact_numbers!(u8, u16, u32, i32);
wide_numbers!(u64, usize, i64);
