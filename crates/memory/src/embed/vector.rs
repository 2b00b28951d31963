//! A direction, in small: one byte a number is enough to compare by.

/// A vector, of which only the direction counts.
#[derive(Debug, Clone, PartialEq)]
pub struct Vector {
    steps: Vec<i8>,
    length: f32,
}

/// A vector that lies somewhere in a file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ray<'a> {
    /// Each byte an `i8`.
    pub(crate) steps: &'a [u8],
    pub(crate) length: f32,
}

impl Vector {
    /// The direction of these numbers; none if they have none, or are no numbers.
    pub fn new(values: &[f32]) -> Option<Self> {
        let most = values.iter().fold(0.0_f32, |most, value| most.max(value.abs()));
        if !values.iter().all(|value| value.is_finite()) || most <= 0.0 {
            return None;
        }
        let steps: Vec<i8> = values.iter().map(|value| step(value / most)).collect();
        let length = length(steps.iter().copied());
        (length > 0.0).then_some(Self { steps, length })
    }

    /// How many numbers it has.
    pub fn dimension(&self) -> usize {
        self.steps.len()
    }

    pub(crate) fn length(&self) -> f32 {
        self.length
    }

    pub(crate) fn bytes(&self) -> impl Iterator<Item = u8> + '_ {
        self.steps.iter().map(|step| step.cast_unsigned())
    }

    /// How near another one is: 1 the same direction, 0 none in common; 0 too for one of another dimension.
    pub(crate) fn similarity(&self, other: Ray<'_>) -> f64 {
        if other.steps.len() != self.steps.len() || other.length <= 0.0 {
            return 0.0;
        }
        let products = self.steps.iter().zip(other.steps);
        let dot: i32 = products.map(|(a, b)| i32::from(*a) * i32::from(b.cast_signed())).sum();
        f64::from(dot) / (f64::from(self.length) * f64::from(other.length))
    }
}

#[expect(clippy::cast_possible_truncation, reason = "between -127 and 127, and rounded")]
fn step(share: f32) -> i8 {
    (share * 127.0).round() as i8
}

fn length(steps: impl Iterator<Item = i8>) -> f32 {
    steps.map(|step| f32::from(step) * f32::from(step)).sum::<f32>().sqrt()
}

/// Adds what a row of bytes stands for, times a factor.
pub(super) fn add(sum: &mut [f32], steps: &[u8], factor: f32) {
    for (sum, step) in sum.iter_mut().zip(steps) {
        *sum += f32::from(step.cast_signed()) * factor;
    }
}
