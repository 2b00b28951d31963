//! Rules that hold for a kind of task, whatever its subject: "indent with tabs" when code is edited, "no summary at the end" in every
//! answer. No word of a message tells that they apply.

use std::sync::LazyLock;

use super::common::{Commonness, word_commonness};
use super::rarity::usual_share;
use super::work::KindWords;
use super::{TextPiece, Tokenizer, split_text};

/// What a user asks for, and the words of messages that ask for it. To edit is last: other requests have its words as well.
const TASKS: &str = "\
commit: commit push rebase squash merge branch | 提交 推上 推送 推一下 变基 合并
install: install dependency dependencies library package upgrade cargo npm pnpm yarn pip gem | 安装 装一下 装个 装上 依赖 引入 升级
edit: write implement add fix refactor change rename create build update extract rewrite port convert replace move split | 写 实现 加 修 改 重构 拆 新增 做个 补
";

/// The words of rules for each kind of task. Those for answers hold for every message.
const RULES: &str = "\
edit: indent indentation tab space comment naming style quote semicolon code docstring test change | 缩进 空格 注释 命名 风格 格式 引号 分号 代码 函数 变量 测试 改动 修改
answer: answer reply response summary summarize explain explanation concise short brief terse verbose language english chinese emoji analogy analogies bullet tone jargon detail | 回答 回复 总结 解释 简短 简洁 比方 语气 列表 中文 英文 表情 详细
commit: commit push branch squash rebase merge pr | 提交 推送 分支 变基 合并
install: dependency dependencies install package library upgrade | 依赖 安装 升级
";

/// Words that a question begins with.
const QUESTION: [&str; 13] = [
    "what", "why", "how", "which", "when", "where", "who", "is", "are", "does", "did", "explain",
    "describe",
];
const QUESTION_UNSPACED: [&str; 8] =
    ["为什么", "怎么", "什么", "吗", "是不是", "区别", "讲讲", "解释"];

/// A word that this share of documents has is no subject of its own.
const GENERAL: f64 = 0.02;
/// The same for pairs of characters.
const GENERAL_PAIR: f64 = 0.005;
/// Characters that say nothing between words.
const FILLING: &str = "的了是不要都也就在里用把被和与及按先再每次个一二三四五六七八九十两小大少多写加带能可以别勿请时前后上中下我你他";

static TASK_WORDS: LazyLock<KindWords> = LazyLock::new(|| read(TASKS));
static RULE_WORDS: LazyLock<KindWords> = LazyLock::new(|| read(RULES));

fn read(table: &'static str) -> KindWords {
    KindWords::read(table.lines().filter_map(|line| line.split_once(": ")))
}

/// Reads the tables ahead of need.
pub(super) fn start_reading() {
    LazyLock::force(&TASK_WORDS);
    LazyLock::force(&RULE_WORDS);
}

/// The kind of rule that holds for every message.
pub(crate) const ANSWER: &str = "answer";

/// The kinds of task that a message asks for; an answer is always one.
pub(crate) fn kinds_of_task(words: &Tokenizer, message: &str) -> Vec<&'static str> {
    let mut kinds = TASK_WORDS.kinds(words, message);
    // "commit the changes" and "how does the change get there?" ask for no edit.
    let only_commits = kinds.contains(&"commit") && kinds.first() != Some(&"edit");
    if is_question(message) || only_commits {
        kinds.retain(|kind| *kind != "edit");
    }
    kinds.push(ANSWER);
    kinds
}

fn is_question(message: &str) -> bool {
    let first = message.split(|c: char| !c.is_alphanumeric()).find(|word| !word.is_empty());
    first.is_some_and(|word| QUESTION.contains(&word.to_lowercase().as_str()))
        || QUESTION_UNSPACED.iter().any(|word| message.contains(word))
}

/// Whose rule it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RuleAbout {
    /// The user: what they say of answers holds for all, whatever else they say.
    User,
    /// The work.
    Work,
}

/// The kinds of task that a rule with this name and description holds for; none if it has a subject of its own.
pub(crate) fn kinds_of_rule(
    words: &Tokenizer,
    about: RuleAbout,
    subject: &str,
) -> Vec<&'static str> {
    let kinds = RULE_WORDS.kinds(words, subject);
    if about == RuleAbout::User && kinds.contains(&ANSWER) {
        return vec![ANSWER];
    }
    let is_narrow = || {
        let mut is_narrow = false;
        split_text(&RULE_WORDS.without_unspaced(subject), |piece| {
            is_narrow |= match piece {
                TextPiece::Word { text, .. } => !is_general_word(words, text),
                TextPiece::Part { .. } => false,
                TextPiece::Run { text } => !is_general_run(text),
            };
        });
        is_narrow
    };
    if kinds.is_empty() || is_narrow() { Vec::new() } else { kinds }
}

fn is_general_word(words: &Tokenizer, word: &str) -> bool {
    let Some(term) = words.term(word) else { return true };
    RULE_WORDS.has_stem(&term)
        || word_commonness(&term) == Commonness::Request
        || usual_share(&term) >= GENERAL
}

/// Whether a run of characters is made of usual pairs and of characters that say nothing.
fn is_general_run(run: &str) -> bool {
    let mut rest = run;
    while let Some(first) = rest.chars().next() {
        let pair = rest.char_indices().nth(2).map_or(rest, |(end, _)| rest.split_at(end).0);
        let usual = if usual_share(pair) >= GENERAL_PAIR {
            pair.len()
        } else if FILLING.contains(first) {
            first.len_utf8()
        } else {
            return false;
        };
        rest = rest.split_at(usual).1;
    }
    true
}

/// The term under which rules for a kind of task are indexed; no word has this form.
pub(crate) fn rule_term(kind: &str) -> String {
    format!("!{kind}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_without_a_subject_of_its_own_is_known() {
        let words = Tokenizer::new();
        let kinds = |subject| kinds_of_rule(&words, RuleAbout::Work, subject);
        assert_eq!(kinds("Indent with tabs"), ["edit"]);
        assert_eq!(kinds("No summary at the end"), ["answer"]);
        assert_eq!(kinds("不要写注释"), ["edit"]);
        assert_eq!(kinds("回答要简短"), ["answer"]);
        assert!(kinds("Logs of the kiln are in English").is_empty(), "it is about the kiln");
        assert!(kinds("陶窑的代码在旧仓库").is_empty());
        assert!(kinds("Deployments are made from main").is_empty());
    }

    #[test]
    fn what_a_message_asks_for_is_known() {
        let words = Tokenizer::new();
        let kinds = |message| kinds_of_task(&words, message);
        assert_eq!(kinds("write a function that parses dates"), ["edit", ANSWER]);
        assert_eq!(kinds("what changed between these two versions?"), [ANSWER]);
        assert_eq!(kinds("commit the changes"), ["commit", ANSWER]);
        assert_eq!(kinds("install a library for CSV"), ["install", ANSWER]);
        assert_eq!(kinds("写个函数解析日期"), ["edit", ANSWER]);
        assert_eq!(kinds("这个组件为什么渲染两次"), [ANSWER]);
        assert_eq!(kinds("先把现在的改动提交了"), ["commit", ANSWER]);
    }
}
