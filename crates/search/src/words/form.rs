//! What kind of message it is, told by its words. A project's memories seldom matter for a question of general knowledge, for
//! wording and looks, and for a word about the last answer.

use super::work::each_stem;
use super::{Tokenizer, is_unspaced};

/// Signs of a question of general knowledge, one per line; after `|` those of scripts without spaces.
const GENERAL: &str = "\
what is|是什么|是啥
what are|什么意思
whats|啥意思
what does|有什么区别
what do|有啥区别
how does|区别是
how long is|分别是
how long are|各是多少
how many|是多少
how big|全称
how large|一般叫
how do i write|怎么写
how do i say|怎么读
how do i spell|怎么拼
how do i escape|怎么翻
how do i split|怎么转
how do i sort|怎么关
how do i format|怎么开
how do i convert|怎么切换
how do i silence|怎么退出
how do i disable|怎么查看
how do i mark|怎么设置
how do i exit|怎么让
how do i list|怎么局部
how do i count|快捷键
difference between|语法
differ from|默认是
known problem|默认值是
known issue|原理
known bug|举个例子
is there a way|一句话
is there a setting|为什么叫
is there a shortcut|有没有插件
is there a flag|有没有命令
is there a plugin|怎么理解
does it have a|有多长
always forget|有多大
remind me|最大是
the default
stand for
stands for
mean
means
meaning of
syntax
cheat sheet
";

/// Words of what is the user's own: then a question is not of general knowledge.
const OWN: &str = "\
our|我们
ours|咱们
we|咱
us|我的
my
mine
";

/// Stems of words for texts, looks and small mechanical edits; after `|` words of scripts without spaces.
const PRESENTATION: &str = "\
typo spelling grammar wording phrase title heading headline caption paragraph sentence translate slide talk outline blog post \
newsletter announcement readme badge markdown changelog colour color font emoji icon logo css flexbox padding margin layout diagram \
mermaid arrow screenshot regex regexp jq awk sed vim emacs bash zsh snippet liner rename sort alphabetical indent reformat conflict \
lint linter rubocop clippy eslint prettier warning poem joke birthday welcome party md \
| 标题 错别字 措辞 润色 周报 幻灯 ppt 提纲 翻译 翻成 英文 中文 注释 readme 目录 表格 排序 排一下 markdown 对齐 字体 颜色 图标 截图 流程图 欢迎 团建 \
改名 重命名 脚本 正则 changelog 归档 高亮 格式化 文案 快捷键 邮件模板 演讲 分享会 新人 签到 告警信息 拼写 语气";

/// Signs of a short message about the last answer only, one per line; after `|` those of scripts without spaces.
const CORRECTION: &str = "\
undo that|不对
undo the last|撤回
undo it|撤销
go back to|刚才那步
previous version|再简洁
the other one|短一点
the other file|简短点
shorter|上一版
longer|重来
simpler|换一个
never mind|算了
not that|谢谢
thanks|等等
thank you|再详细
try again|再来一次
";

/// A longer message is not only about the last answer.
const LONGEST_CORRECTION: usize = 80;
/// What comes after this many characters does not tell what a message is.
const LONGEST_HEAD: usize = 400;
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
        let has = |signs: &str| has_sign(&plain, signs);
        Self {
            is_general: has(GENERAL) && !has(OWN),
            presentation: count_words(words, &head, PRESENTATION).min(MOST_PRESENTATION),
            is_correction: message.chars().count() <= LONGEST_CORRECTION && has(CORRECTION),
        }
    }
}

/// The words of a text in lower case with one space around each; characters of scripts without spaces stay together.
fn plain_words(text: &str) -> String {
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

fn has_sign(plain: &str, signs: &str) -> bool {
    signs.lines().any(|line| {
        let (spaced, unspaced) = line.split_once('|').unwrap_or((line, ""));
        let mut unspaced = unspaced.split('|').filter(|sign| !sign.is_empty());
        plain.contains(&format!(" {spaced} ")) || unspaced.any(|sign| plain.contains(sign))
    })
}

/// How many different words of a list a text has.
fn count_words(words: &Tokenizer, text: &str, list: &str) -> usize {
    let (spaced, unspaced) = list.split_once('|').unwrap_or((list, ""));
    let stems: Vec<_> = spaced.split_whitespace().map(|word| words.stem(word)).collect();
    let mut found: Vec<String> = Vec::new();
    each_stem(words, text, |stem| {
        if stems.iter().any(|known| known == stem) && !found.iter().any(|known| known == stem) {
            found.push(stem.to_owned());
        }
    });
    let has_unspaced = text.chars().any(is_unspaced);
    let unspaced = unspaced.split_whitespace().filter(|word| has_unspaced && text.contains(word));
    found.len() + unspaced.count()
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
