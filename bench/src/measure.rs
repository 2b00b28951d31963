//! Samples of a time, and what is said about them: the median, and how far they spread.

use std::time::{Duration, Instant};

/// Times of one thing, measured again and again.
#[derive(Debug, Clone, Default)]
pub(crate) struct Samples {
    times: Vec<Duration>,
}

impl Samples {
    /// Adds a time.
    pub(crate) fn add(&mut self, time: Duration) {
        self.times.push(time);
    }

    /// Measures something and adds its time. What it gives is dropped outside of the time.
    pub(crate) fn time<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let made = std::hint::black_box(work());
        self.add(start.elapsed());
        made
    }

    /// Whether nothing was measured.
    pub(crate) fn is_empty(&self) -> bool {
        self.times.is_empty()
    }

    /// The time in the middle, in milliseconds.
    pub(crate) fn median(&self) -> f64 {
        let sorted = self.sorted();
        let middle = sorted.len() / 2;
        let upper = sorted.get(middle).copied().unwrap_or_default();
        if sorted.len() % 2 == 1 {
            return milliseconds(upper);
        }
        let lower = sorted.get(middle.saturating_sub(1)).copied().unwrap_or_default();
        milliseconds(lower + upper) / 2.0
    }

    /// The time that only one in a hundred exceeds, in milliseconds.
    pub(crate) fn of_100_the_99th(&self) -> f64 {
        let sorted = self.sorted();
        let place = (sorted.len() * 99).div_ceil(100).saturating_sub(1);
        milliseconds(sorted.get(place).copied().unwrap_or_default())
    }

    /// The longest time, in milliseconds.
    pub(crate) fn worst(&self) -> f64 {
        milliseconds(self.times.iter().max().copied().unwrap_or_default())
    }

    /// The shortest and the longest, in words.
    pub(crate) fn spread(&self) -> String {
        let best = milliseconds(self.times.iter().min().copied().unwrap_or_default());
        format!("{} to {} of {}", short(best), short(self.worst()), self.times.len())
    }

    fn sorted(&self) -> Vec<Duration> {
        let mut sorted = self.times.clone();
        sorted.sort();
        sorted
    }
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

/// A number with as many digits as it can bear.
pub(crate) fn short(value: f64) -> String {
    if value < 1.0 {
        format!("{value:.4}")
    } else if value < 100.0 {
        format!("{value:.2}")
    } else {
        format!("{value:.0}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle() {
        let samples = |times: &[u64]| Samples {
            times: times.iter().map(|time| Duration::from_millis(*time)).collect(),
        };
        assert!((samples(&[5, 1, 9]).median() - 5.0).abs() < 1e-9);
        assert!((samples(&[4, 1, 9, 2]).median() - 3.0).abs() < 1e-9);
        assert!((samples(&[4, 1, 9, 2]).worst() - 9.0).abs() < 1e-9);
        assert!(samples(&[]).median().abs() < 1e-9);
        let hundred: Vec<u64> = (1..=100).rev().collect();
        assert!((samples(&hundred).of_100_the_99th() - 99.0).abs() < 1e-9);
        assert!((samples(&[3, 7]).of_100_the_99th() - 7.0).abs() < 1e-9);
    }
}
