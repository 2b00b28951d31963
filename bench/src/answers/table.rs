//! Scores by source of the memories and by category.

use std::collections::BTreeMap;

use super::memories::AnswerMemories;
use super::model::ModelReply;

const ALL: &str = "all";

/// The scores of one file.
pub(super) struct AnswerTable {
    heading: String,
    sources: Vec<AnswerMemories>,
    scores: BTreeMap<(AnswerMemories, String), Mean>,
    prompt_tokens: BTreeMap<AnswerMemories, Mean>,
    seconds: BTreeMap<AnswerMemories, Mean>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Mean {
    sum: f64,
    count: f64,
}

impl Mean {
    fn add(&mut self, value: f64) {
        self.sum += value;
        self.count += 1.0;
    }

    fn value(self) -> f64 {
        self.sum / self.count.max(1.0)
    }
}

impl AnswerTable {
    pub(super) fn new(file: &str, what: &str, sources: &[AnswerMemories]) -> Self {
        Self {
            heading: format!("{file}: {what}"),
            sources: sources.to_vec(),
            scores: BTreeMap::new(),
            prompt_tokens: BTreeMap::new(),
            seconds: BTreeMap::new(),
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "small counts")]
    pub(super) fn add(
        &mut self,
        source: AnswerMemories,
        category: &str,
        score: f64,
        reply: &ModelReply,
    ) {
        for category in [ALL, category] {
            self.scores.entry((source, category.to_owned())).or_default().add(100.0 * score);
        }
        self.prompt_tokens.entry(source).or_default().add(reply.prompt_tokens as f64);
        self.seconds.entry(source).or_default().add(reply.time.as_secs_f64());
    }

    /// The table; nothing if nothing was asked.
    pub(super) fn render(&self) -> String {
        let mut categories: BTreeMap<&str, f64> = BTreeMap::new();
        for ((_, category), mean) in &self.scores {
            categories.insert(category, mean.count);
        }
        if categories.is_empty() {
            return String::new();
        }
        let mut text = format!("\n### {}\n\n| memories |", self.heading);
        for (category, count) in &categories {
            text.push_str(&format!(" {category} ({count}) |"));
        }
        text.push_str(" tokens of the prompt | seconds |\n| --- |");
        text.push_str(&" --- |".repeat(categories.len() + 2));
        text.push('\n');
        for source in &self.sources {
            text.push_str(&format!("| {source} |"));
            for category in categories.keys() {
                let mean = self.scores.get(&(*source, (*category).to_owned())).copied();
                text.push_str(&format!(" {:.1} |", mean.unwrap_or_default().value()));
            }
            let of = |means: &BTreeMap<AnswerMemories, Mean>| {
                means.get(source).copied().unwrap_or_default().value()
            };
            text.push_str(&format!(
                " {:.0} | {:.1} |\n",
                of(&self.prompt_tokens),
                of(&self.seconds)
            ));
        }
        text
    }
}
