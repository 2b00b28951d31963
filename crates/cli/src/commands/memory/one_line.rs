//! `dormouse memory add "we deploy from main"`: a memory from one sentence. Its name and description are taken from the
//! sentence, and its type is guessed from a few words; the user is shown both.

use dormouse_tui::width;

use crate::args::MemoryTypeArgument;

/// Columns of a name that is made from a sentence.
const NAME_COLUMNS: usize = 48;
/// Columns of a description that is made from a text.
const DESCRIPTION_COLUMNS: usize = 120;

/// The beginnings and words by which a type is guessed, the first that fits.
const SIGNS: &[(MemoryTypeArgument, &[&str], &[&str])] = &[
    (
        MemoryTypeArgument::User,
        &[
            "i am ",
            "i'm ",
            "i work ",
            "i have ",
            "i know ",
            "i use ",
            "i like ",
            "i prefer ",
            "my name ",
            "my role ",
        ],
        &["我是", "我叫", "我的职位", "我负责", "我不懂", "我熟悉", "我喜欢", "我习惯", "我偏好"],
    ),
    (
        MemoryTypeArgument::Feedback,
        &[
            "always ", "never ", "don't ", "do not ", "please ", "prefer ", "use ", "avoid ",
            "i want ",
        ],
        &["不要", "总是", "始终", "务必", "请", "避免", "我希望", "别"],
    ),
    (
        MemoryTypeArgument::Reference,
        &["see ", "look at "],
        &["http://", "https://", "参见", "文档在", "详见"],
    ),
];

/// The name of a memory with this text: its first words.
pub(super) fn name_of(text: &str) -> String {
    let sentence = first_sentence(text);
    if width::of(sentence) <= NAME_COLUMNS {
        return sentence.to_owned();
    }
    let mut name = String::new();
    for word in sentence.split_inclusive(char::is_whitespace) {
        if width::of(&name) + width::of(word.trim_end()) > NAME_COLUMNS {
            break;
        }
        name.push_str(word);
    }
    let name = name.trim_end();
    // A sentence without blanks is cut between two characters.
    if name.is_empty() { width::fitted(sentence, NAME_COLUMNS) } else { name.to_owned() }
}

/// The description of a memory with this text: its first sentence.
pub(super) fn description_of(text: &str) -> String {
    width::fitted(first_sentence(text), DESCRIPTION_COLUMNS)
}

/// The likely type of a memory with this text.
pub(super) fn type_of(text: &str) -> MemoryTypeArgument {
    let text = text.trim().to_lowercase();
    let fits = |(_, beginnings, words): &&(MemoryTypeArgument, &[&str], &[&str])| {
        beginnings.iter().any(|beginning| text.starts_with(beginning))
            || words.iter().any(|word| text.contains(word))
    };
    SIGNS.iter().find(fits).map_or(MemoryTypeArgument::Project, |(kind, ..)| *kind)
}

fn first_sentence(text: &str) -> &str {
    let line = text.trim().lines().next().unwrap_or_default().trim();
    let end = line.find(". ").or_else(|| line.find(['。', '！', '？'])).unwrap_or(line.len());
    line.get(..end).unwrap_or(line).trim_end_matches('.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_descriptions_and_types() {
        let long = "we deploy from main on Thursdays after the nightly build. Ask Bo.";
        assert_eq!(name_of("We deploy from main."), "We deploy from main");
        assert_eq!(name_of(long), "we deploy from main on Thursdays after the");
        assert_eq!(
            description_of(long),
            "we deploy from main on Thursdays after the nightly build"
        );
        assert_eq!(name_of("部署从主分支进行。周五不部署。"), "部署从主分支进行");
        for (text, kind) in [
            ("we deploy from main", MemoryTypeArgument::Project),
            ("Never push on Fridays", MemoryTypeArgument::Feedback),
            ("I am new to Rust", MemoryTypeArgument::User),
            ("I prefer tabs over spaces", MemoryTypeArgument::User),
            ("我喜欢简短的回答", MemoryTypeArgument::User),
            ("dashboards: https://example.com", MemoryTypeArgument::Reference),
            ("不要用 npm", MemoryTypeArgument::Feedback),
            ("我是后端开发", MemoryTypeArgument::User),
            ("测试数据库的端口是 5433", MemoryTypeArgument::Project),
        ] {
            assert_eq!(type_of(text), kind, "{text}");
        }
    }
}
