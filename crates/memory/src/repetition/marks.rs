//! Words that change a statement instead of being its subject: `not`, `instead of`, `from … to`, `because`.

/// The effect of a word on the words around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    /// Negates its whole part of the sentence: `do not`, `never`.
    DeniesPart,
    /// Negates what follows: `instead of`, `without`.
    DeniesRest,
    /// Begins another part of the sentence: `because`, `but`.
    Begins,
    /// The origin follows, if a [`Mark::To`] comes after it.
    From,
    /// The destination follows.
    To,
    /// What follows is negated if something is preferred over it.
    Over,
    /// No meaning of its own.
    Nothing,
}

/// After these words `not` negates the whole part (`must not`); after others what follows (`pnpm, not npm`).
const AUXILIARIES: &[&str] = &[
    "am", "are", "be", "been", "can", "could", "did", "do", "does", "had", "has", "have", "is",
    "may", "might", "must", "need", "shall", "should", "was", "were", "will", "would", "to",
    "please", "ought", "and", "or", "but", "if", "it", "i", "we", "they", "he", "she", "you",
];

/// English words, folded, without apostrophes. Two words are joined by a space.
const ENGLISH: &[(&str, Mark)] = &[
    ("never", Mark::DeniesPart),
    ("no", Mark::DeniesPart),
    ("no longer", Mark::DeniesPart),
    ("not any more", Mark::DeniesPart),
    ("cannot", Mark::DeniesPart),
    ("nothing", Mark::DeniesPart),
    ("nobody", Mark::DeniesPart),
    ("none of", Mark::DeniesPart),
    ("neither", Mark::DeniesPart),
    ("avoid", Mark::DeniesPart),
    ("avoids", Mark::DeniesPart),
    ("avoided", Mark::DeniesPart),
    ("avoiding", Mark::DeniesPart),
    ("dislike", Mark::DeniesPart),
    ("dislikes", Mark::DeniesPart),
    ("hate", Mark::DeniesPart),
    ("hates", Mark::DeniesPart),
    ("refuse", Mark::DeniesPart),
    ("refuses", Mark::DeniesPart),
    ("forbidden", Mark::DeniesPart),
    ("forbid", Mark::DeniesPart),
    ("forbids", Mark::DeniesPart),
    ("prohibited", Mark::DeniesPart),
    ("banned", Mark::DeniesPart),
    ("stop using", Mark::DeniesPart),
    ("stopped using", Mark::DeniesPart),
    ("stop doing", Mark::DeniesPart),
    ("stop adding", Mark::DeniesPart),
    ("stop writing", Mark::DeniesPart),
    ("refrain from", Mark::DeniesPart),
    ("nor", Mark::DeniesRest),
    ("without", Mark::DeniesRest),
    ("instead of", Mark::DeniesRest),
    ("rather than", Mark::DeniesRest),
    ("in place of", Mark::DeniesRest),
    ("preferred to", Mark::DeniesRest),
    ("over", Mark::Over),
    ("but", Mark::Begins),
    ("because", Mark::Begins),
    ("since", Mark::Begins),
    ("when", Mark::Begins),
    ("whenever", Mark::Begins),
    ("if", Mark::Begins),
    ("unless", Mark::Begins),
    ("although", Mark::Begins),
    ("though", Mark::Begins),
    ("whereas", Mark::Begins),
    ("so", Mark::Begins),
    ("from", Mark::From),
    ("to", Mark::To),
];

/// Chinese words, in any order: the longest match is taken.
const CHINESE: &[(&str, Mark)] = &[
    ("不", Mark::DeniesPart),
    ("不要", Mark::DeniesPart),
    ("不能", Mark::DeniesPart),
    ("不可", Mark::DeniesPart),
    ("不可以", Mark::DeniesPart),
    ("不得", Mark::DeniesPart),
    ("不许", Mark::DeniesPart),
    ("不准", Mark::DeniesPart),
    ("不允许", Mark::DeniesPart),
    ("不用", Mark::DeniesPart),
    ("不使用", Mark::DeniesPart),
    ("不必", Mark::DeniesPart),
    ("不会", Mark::DeniesPart),
    ("不应", Mark::DeniesPart),
    ("不应该", Mark::DeniesPart),
    ("不该", Mark::DeniesPart),
    ("不想", Mark::DeniesPart),
    ("不想要", Mark::DeniesPart),
    ("不希望", Mark::DeniesPart),
    ("不喜欢", Mark::DeniesPart),
    ("不再", Mark::DeniesPart),
    ("不需要", Mark::DeniesPart),
    ("没", Mark::DeniesPart),
    ("没有", Mark::DeniesPart),
    ("别", Mark::DeniesPart),
    ("勿", Mark::DeniesPart),
    ("切勿", Mark::DeniesPart),
    ("请勿", Mark::DeniesPart),
    ("禁止", Mark::DeniesPart),
    ("严禁", Mark::DeniesPart),
    ("从不", Mark::DeniesPart),
    ("绝不", Mark::DeniesPart),
    ("绝对不要", Mark::DeniesPart),
    ("永远不要", Mark::DeniesPart),
    ("永不", Mark::DeniesPart),
    ("避免", Mark::DeniesPart),
    ("讨厌", Mark::DeniesPart),
    ("拒绝", Mark::DeniesPart),
    ("无需", Mark::DeniesPart),
    ("停止使用", Mark::DeniesPart),
    ("而不是", Mark::DeniesRest),
    ("而非", Mark::DeniesRest),
    ("不是", Mark::DeniesRest),
    ("而不用", Mark::DeniesRest),
    ("代替", Mark::DeniesRest),
    ("替代", Mark::DeniesRest),
    ("但", Mark::Begins),
    ("但是", Mark::Begins),
    ("不过", Mark::Begins),
    ("因为", Mark::Begins),
    ("由于", Mark::Begins),
    ("所以", Mark::Begins),
    ("如果", Mark::Begins),
    ("除非", Mark::Begins),
    ("虽然", Mark::Begins),
    ("从", Mark::From),
    ("到", Mark::To),
    ("换成", Mark::To),
    ("改成", Mark::To),
    ("换到", Mark::To),
    ("改为", Mark::To),
    ("迁到", Mark::To),
];

/// Chinese words without meaning, and words that contain a `not` and negate nothing.
const CHINESE_NOTHING: &[&str] = &[
    "的", "了", "吗", "呢", "啊", "吧", "呀", "嘛", "着", "哦", "么", "个", "那", "这", "和", "与",
    "及", "以及", "你", "他", "她", "它", "们", "之", "地", "把", "被", "将", "给", "对", "于",
    "对于", "为", "以", "等等", "里", "里面", "上", "中", "会", "可以", "能", "能够", "可", "并",
    "或", "或者", "来", "去", "过", "更", "最", "又", "跟", "由", "向", "按", "而", "其", "该",
    "此", "每当", "关于", "这样", "那样", "这种", "分别", "别人", "别的", "所", "多", "比", "让",
    "使得", "内", "出", "起来", "一下", "样", "自己", "您", "哪", "什么",
];

/// Common words that are also names of programs.
const NAMES_TOO: &[&str] = &[
    "access", "azure", "chrome", "dart", "edge", "express", "go", "just", "less", "linear", "make",
    "next", "node", "notion", "rest", "slack", "spring", "word",
];

/// After these words such a word is a name even without a capital: `use just`, `with make`.
const BEFORE_NAMES: &[&str] = &["of", "use", "uses", "using", "with"];

/// Whether a word is also a name, and `before` or its capital shows that the name is meant.
pub(super) fn is_name(word: &str, before: Option<&str>, looks_like_one: bool) -> bool {
    let is_used = before.is_some_and(|before| BEFORE_NAMES.contains(&before));
    NAMES_TOO.contains(&word) && (looks_like_one || is_used)
}

/// The effect of an English word; `before` is the previous word.
pub(super) fn english(word: &str, before: Option<&str>) -> Option<Mark> {
    if word == "not" {
        let is_verb = before.is_none_or(|before| AUXILIARIES.contains(&before));
        return Some(if is_verb { Mark::DeniesPart } else { Mark::DeniesRest });
    }
    if word.ends_with("n't") || matches!(word, "dont" | "doesnt" | "cant" | "wont" | "shouldnt") {
        return Some(Mark::DeniesPart);
    }
    ENGLISH.iter().find(|(known, _)| *known == word).map(|(_, mark)| *mark)
}

/// The effect of a Chinese word.
pub(super) fn chinese(word: &str) -> Option<Mark> {
    if CHINESE_NOTHING.contains(&word) {
        return Some(Mark::Nothing);
    }
    CHINESE.iter().find(|(known, _)| *known == word).map(|(_, mark)| *mark)
}
