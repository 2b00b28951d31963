//! A quantized vector: one byte per number is enough for comparison.

/// A vector, used only for its direction.
#[derive(Debug, Clone, PartialEq)]
pub struct Vector {
    steps: Vec<i8>,
    length: f32,
}

/// A vector in the bytes of a file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct VectorBytes<'a> {
    /// Each byte an `i8`.
    pub(crate) steps: &'a [u8],
    pub(crate) length: f32,
}

impl VectorBytes<'_> {
    pub(super) fn to_vector(self) -> Option<Vector> {
        let steps: Vec<f32> = self.steps.iter().map(|step| f32::from(step.cast_signed())).collect();
        Vector::new(&steps)
    }
}

impl Vector {
    /// Quantizes; `None` if all numbers are zero or one is not finite.
    pub fn new(values: &[f32]) -> Option<Self> {
        let most = values.iter().fold(0.0_f32, |most, value| most.max(value.abs()));
        if !values.iter().all(|value| value.is_finite()) || most <= 0.0 {
            return None;
        }
        let steps: Vec<i8> = values.iter().map(|value| step(value / most)).collect();
        let length = length(steps.iter().copied());
        (length > 0.0).then_some(Self { steps, length })
    }

    /// Number of components.
    pub fn dimension(&self) -> usize {
        self.steps.len()
    }

    pub(crate) fn length(&self) -> f32 {
        self.length
    }

    pub(crate) fn bytes(&self) -> impl Iterator<Item = u8> + '_ {
        self.steps.iter().map(|step| step.cast_unsigned())
    }

    /// Cosine similarity; 0 for a vector of another dimension.
    pub(crate) fn similarity(&self, other: VectorBytes<'_>) -> f64 {
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

/// Adds a quantized row, times a factor.
pub(super) fn add_scaled(sum: &mut [f32], steps: &[u8], factor: f32) {
    for (sum, step) in sum.iter_mut().zip(steps) {
        *sum += f32::from(step.cast_signed()) * factor;
    }
}
