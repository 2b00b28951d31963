//! What kind of message it is, told by its words. A project's memories seldom matter for a question of general knowledge, for
//! wording and looks, and for a word about the last answer.

use std::sync::LazyLock;

use super::Tokenizer;
use super::work::KindWords;

/// Phrases of a question of general knowledge.
const GENERAL: &[&str] = &[
    "what is",
    "what are",
    "whats",
    "what does",
    "what do",
    "how does",
    "how long is",
    "how long are",
    "how many",
    "how big",
    "how large",
    "how do i write",
    "how do i say",
    "how do i spell",
    "how do i escape",
    "how do i split",
    "how do i sort",
    "how do i format",
    "how do i convert",
    "how do i exit",
    "difference between",
    "differ from",
    "known problem",
    "known issue",
    "known bug",
    "is there a way",
    "is there a setting",
    "is there a shortcut",
    "is there a flag",
    "is there a plugin",
    "does it have a",
    "always forget",
    "remind me",
    "the default",
    "stand for",
    "stands for",
    "mean",
    "means",
    "meaning of",
    "syntax",
    "cheat sheet",
    "是什么",
    "是啥",
    "什么意思",
    "啥意思",
    "有什么区别",
    "有啥区别",
    "区别是",
    "分别是",
    "各是多少",
    "是多少",
    "全称",
    "怎么写",
    "怎么读",
    "怎么拼",
    "怎么翻",
    "怎么转",
    "怎么切换",
    "怎么退出",
    "怎么查看",
    "怎么设置",
    "快捷键",
    "语法",
    "默认是",
    "默认值是",
    "原理",
    "举个例子",
    "一句话",
    "为什么叫",
    "有没有插件",
    "有没有命令",
    "怎么理解",
    "有多长",
    "有多大",
    "最大是",
];

/// Words of what is the user's own: then a question is not of general knowledge.
const OWN: &[&str] = &["our", "ours", "we", "us", "my", "mine", "我们", "咱们", "咱", "我的"];

/// Stems of words for texts, looks and small mechanical edits; after `|` words of scripts without spaces.
const PRESENTATION: &str = "\
typo spelling grammar wording phrase title heading headline caption paragraph sentence translate slide ppt talk outline blog post \
newsletter announcement readme badge markdown md changelog colour color font emoji icon logo css flexbox padding margin layout diagram \
mermaid screenshot regex regexp jq awk sed vim emacs bash zsh snippet liner rename sort alphabetical indent reformat conflict lint \
linter clippy eslint prettier warning poem joke \
| 标题 错别字 拼写 措辞 语气 文案 润色 周报 幻灯 演讲 分享会 提纲 翻译 翻成 英文 中文 注释 目录 表格 排序 对齐 字体 颜色 图标 截图 流程图 高亮 \
格式化 改名 重命名 脚本 正则 快捷键";

/// Phrases of a short message about the last answer only.
pub(super) const CORRECTION: &[&str] = &[
    "undo that",
    "undo the last",
    "undo it",
    "go back to",
    "previous version",
    "the other one",
    "the other file",
    "shorter",
    "longer",
    "simpler",
    "never mind",
    "not that",
    "thanks",
    "thank you",
    "try again",
    "不对",
    "撤回",
    "撤销",
    "刚才那步",
    "再简洁",
    "短一点",
    "简短点",
    "上一版",
    "重来",
    "换一个",
    "算了",
    "谢谢",
    "等等",
    "再详细",
    "再来一次",
];

pub(super) static PRESENTATION_WORDS: LazyLock<KindWords> =
    LazyLock::new(|| KindWords::read([("", PRESENTATION)].into_iter()));

/// A longer message is not only about the last answer.
pub(super) const LONGEST_CORRECTION: usize = 80;
/// What comes after this many characters does not tell what a message is.
pub(super) const LONGEST_HEAD: usize = 400;
/// Words of presentation beyond this number say nothing new.
const MOST_PRESENTATION: usize = 2;

/// What kind of message it is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct MessageForm {
    /// It asks for general knowledge.
    pub(crate) is_general: bool,
    /// Number of its words for texts, looks and mechanical edits, at most 2.
    pub(crate) presentation: usize,
    /// It is about the last answer only.
    pub(crate) is_correction: bool,
}

impl MessageForm {
    /// The form of a message. Its first paragraph tells: what is pasted comes behind.
    pub(crate) fn read(words: &Tokenizer, message: &str) -> Self {
        let message = message.trim();
        let paragraph = message.split("\n\n").next().unwrap_or_default();
        let head: String = paragraph.chars().take(LONGEST_HEAD).collect();
        let plain = plain_words(&head);
        let has = |phrases: &[&str]| phrases.iter().any(|phrase| has_phrase(&plain, phrase));
        Self {
            is_general: has(GENERAL) && !has(OWN),
            presentation: PRESENTATION_WORDS.count(words, &head).min(MOST_PRESENTATION),
            is_correction: message.chars().count() <= LONGEST_CORRECTION && has(CORRECTION),
        }
    }
}

/// The words of a text in lower case with one space around each; characters of scripts without spaces stay together.
pub(super) fn plain_words(text: &str) -> String {
    let mut plain = String::from(" ");
    for c in text.chars().filter(|c| !matches!(c, '\'' | '’')) {
        match c.is_alphanumeric() {
            true => plain.extend(c.to_lowercase()),
            false if plain.ends_with(' ') => {}
            false => plain.push(' '),
        }
    }
    plain.push(' ');
    plain
}

/// Whether a text, as [`plain_words`] gives it, has a phrase; in scripts with spaces, as whole words.
fn has_phrase(plain: &str, phrase: &str) -> bool {
    if !phrase.is_ascii() {
        return plain.contains(phrase);
    }
    plain.match_indices(phrase).any(|(start, found)| {
        let before = plain.get(..start).is_some_and(|text| text.ends_with(' '));
        before && plain.get(start + found.len()..).is_some_and(|text| text.starts_with(' '))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(text: &str) -> MessageForm {
        MessageForm::read(&Tokenizer::new(), text)
    }

    #[test]
    fn general_questions_are_told_from_those_about_the_project() {
        assert!(form("what's the default port of redis?").is_general);
        assert!(form("乐观锁和悲观锁有什么区别").is_general);
        assert!(!form("what is our default port?").is_general);
        assert!(!form("我们的接口默认值是多少").is_general);
        assert!(!form("who signs off the new prices?").is_general);
    }

    #[test]
    fn wording_and_corrections_are_known() {
        assert_eq!(form("there is a typo in the title of the README").presentation, 2);
        assert_eq!(form("把标题里的错别字改一下").presentation, 2);
        assert_eq!(form("Add a column to the orders").presentation, 0);
        assert!(form("no, go back to the previous version").is_correction);
        assert!(form("不对，撤回刚才那步").is_correction);
        let long = "thanks for the analysis; now write down what we need to change in the importer, step by step";
        assert!(!form(long).is_correction);
    }
}
