//! Figures beside their aims.

use serde_json::{Value, json};

use crate::measure::{Samples, short};

/// What a number counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FigureUnit {
    /// Time.
    Milliseconds,
    /// Memory, in units of 1,000,000 bytes.
    Megabytes,
    /// How often one fits into the other.
    Times,
    /// A part of the whole.
    Percent,
    /// A small part of the whole, to a tenth.
    Share,
    /// How many there are.
    Count,
}

impl FigureUnit {
    fn symbol(self) -> &'static str {
        match self {
            Self::Milliseconds => "ms",
            Self::Megabytes => "MB",
            Self::Times => "x",
            Self::Percent | Self::Share => "%",
            Self::Count => "",
        }
    }

    fn show(self, value: f64) -> String {
        match self {
            Self::Milliseconds => format!("{} ms", short(value)),
            Self::Megabytes => format!("{} MB", short(value)),
            Self::Times => format!("{}x", short(value)),
            Self::Percent => format!("{value:.0} %"),
            Self::Share => format!("{value:.1} %"),
            Self::Count => format!("{value:.0}"),
        }
    }
}

/// One line of the table.
#[derive(Debug, Clone)]
pub(crate) struct BenchFigure {
    name: String,
    value: f64,
    unit: FigureUnit,
    spread: String,
    below: Option<f64>,
}

impl BenchFigure {
    /// A figure without an aim: something to compare with, or a part of another.
    pub(crate) fn new(name: impl Into<String>, value: f64, unit: FigureUnit) -> Self {
        Self { name: name.into(), value, unit, spread: String::new(), below: None }
    }

    /// The median of samples, with their spread.
    pub(crate) fn median(name: impl Into<String>, samples: &Samples) -> Self {
        let figure = Self::new(name, samples.median(), FigureUnit::Milliseconds);
        Self { spread: samples.spread(), ..figure }
    }

    /// How much longer one takes than the other, by their medians.
    pub(crate) fn ratio(name: impl Into<String>, of: &Samples, to: &Samples) -> Self {
        Self::new(name, of.median() / to.median(), FigureUnit::Times)
    }

    /// The aim: it is to be below this.
    #[must_use]
    pub(crate) fn aim_below(self, limit: f64) -> Self {
        Self { below: Some(limit), ..self }
    }

    /// What to say beside it.
    #[must_use]
    pub(crate) fn beside(self, spread: impl Into<String>) -> Self {
        Self { spread: spread.into(), ..self }
    }

    fn is_missed(&self) -> bool {
        // A figure that is no number has missed its aim too.
        self.below.is_some_and(|limit| self.value.is_nan() || self.value >= limit)
    }

    fn json(&self) -> Value {
        json!({"name": self.name, "value": self.value, "unit": self.unit.symbol(), "missed": self.is_missed()})
    }

    fn row(&self) -> [String; 5] {
        let (aim, met) = match self.below {
            None => ("–".to_owned(), ""),
            Some(limit) => {
                let met = if self.is_missed() { "**MISSED**" } else { "met" };
                (format!("below {}", self.unit.show(limit)), met)
            }
        };
        [self.name.clone(), self.unit.show(self.value), self.spread.clone(), aim, met.to_owned()]
    }
}

/// The figures of one benchmark.
#[derive(Debug, Clone)]
pub(crate) struct BenchSection {
    name: &'static str,
    how: String,
    figures: Vec<BenchFigure>,
}

impl BenchSection {
    /// A section, and how its figures come about.
    pub(crate) fn new(name: &'static str, how: impl Into<String>) -> Self {
        Self { name, how: how.into(), figures: Vec::new() }
    }

    /// Adds figures.
    pub(crate) fn add(&mut self, figures: impl IntoIterator<Item = BenchFigure>) {
        self.figures.extend(figures);
    }

    /// How many aims were missed.
    pub(crate) fn missed(&self) -> usize {
        self.figures.iter().filter(|figure| figure.is_missed()).count()
    }

    /// The section for programs.
    pub(crate) fn json(&self) -> Value {
        let figures: Vec<Value> = self.figures.iter().map(BenchFigure::json).collect();
        json!({"section": self.name, "figures": figures})
    }

    /// The section as markdown, its columns aligned for the terminal.
    pub(crate) fn render(&self) -> String {
        let head = ["Figure", "Measured", "Spread", "Aim", ""].map(str::to_owned);
        let rows: Vec<[String; 5]> =
            std::iter::once(head).chain(self.figures.iter().map(BenchFigure::row)).collect();
        let mut widths = [3; 5];
        for row in &rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = cell.chars().count().max(*width);
            }
        }
        let mut text = format!("### {}\n\n{}\n\n", self.name, self.how);
        for (index, row) in rows.iter().enumerate() {
            let cells = row.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}"));
            text.push_str(&format!("| {} |\n", cells.collect::<Vec<_>>().join(" | ")));
            if index == 0 {
                let lines = widths.map(|width| "-".repeat(width));
                text.push_str(&format!("| {} |\n", lines.join(" | ")));
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_miss_is_said() {
        let figure = |value| BenchFigure::new("x", value, FigureUnit::Times).aim_below(5.0);
        assert!(!figure(4.9).is_missed());
        assert!(figure(5.0).is_missed());
        assert!(figure(f64::NAN).is_missed());
        let mut section = BenchSection::new("s", "how");
        section.add([figure(1.0), figure(7.0), BenchFigure::new("y", 9.0, FigureUnit::Times)]);
        assert_eq!(section.missed(), 1);
        assert!(section.render().contains("| 7.00x    |        | below 5.00x | **MISSED** |"));
    }
}
