//! What a rule forbids, found by plain code in its text: a command, or a path that must not be changed.
//!
//! The result is shown to the user, who decides. It may miss a prohibition, but must not invent one: a sentence
//! has to forbid in known words, and the forbidden thing has to look like a command or a path.

/// How strictly something is forbidden.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Firmness {
    /// Always.
    Never,
    /// Under a condition that only the user can judge.
    Sometimes,
}

/// A forbidden action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProhibitedAction {
    /// Running a command, as words.
    Command(Vec<String>),
    /// Changing a file or folder.
    Path(String),
}

/// A prohibition in a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prohibition {
    /// The forbidden action.
    pub thing: ProhibitedAction,
    /// How strictly it is forbidden.
    pub firmness: Firmness,
}

/// Words that forbid what follows.
const CUES: &[&str] = &[
    "never",
    "don't",
    "don’t",
    "do not",
    "dont",
    "must not",
    "mustn't",
    "mustn’t",
    "should not",
    "shouldn't",
    "instead of",
    "rather than",
    "不要",
    "禁止",
    "别",
    "不得",
    "不准",
    "切勿",
    "而不是",
];
/// After one of these words, nothing is forbidden any more, or the opposite is meant.
const TURNS: &[&str] = &[
    "forget",
    "skip",
    "omit",
    "without",
    "unless",
    "except",
    "until",
    "before",
    "hesitate",
    "but",
    "use instead",
    "忘",
    "跳过",
    "除非",
    "而是",
    "但",
    "之前",
];
/// A sentence with one of these words forbids only under a condition.
const CONDITIONS: &[&str] = &[
    "unless",
    "except",
    "without",
    "until",
    "before",
    "when",
    "while",
    "if",
    "after",
    "main",
    "master",
    "prod",
    "production",
    "除非",
    "如果",
    "之前",
    "没有",
    "时",
    "主分支",
];
/// Known programs: their names count as commands even without backticks.
const PROGRAMS: &[&str] = &[
    "apt",
    "apt-get",
    "brew",
    "bun",
    "cargo",
    "chmod",
    "chown",
    "curl",
    "docker",
    "gh",
    "git",
    "go",
    "gradle",
    "helm",
    "kill",
    "killall",
    "kubectl",
    "make",
    "mvn",
    "npm",
    "npx",
    "pip",
    "pip3",
    "pkill",
    "pnpm",
    "poetry",
    "psql",
    "python",
    "python3",
    "rm",
    "rsync",
    "ssh",
    "sudo",
    "systemctl",
    "terraform",
    "uv",
    "wget",
    "yarn",
];
/// Programs whose first argument is a subcommand.
const WITH_SUBCOMMANDS: &[&str] = &[
    "apt",
    "apt-get",
    "brew",
    "bun",
    "cargo",
    "docker",
    "gh",
    "git",
    "go",
    "helm",
    "kubectl",
    "npm",
    "pip",
    "pip3",
    "pnpm",
    "poetry",
    "systemctl",
    "terraform",
    "uv",
    "yarn",
];
/// Verbs after which a text in backticks is a command, whatever the program.
const RUNNING: &[&str] = &["run", "running", "execute", "executing", "call", "运行", "执行", "跑"];
/// Verbs after which a text in backticks is something that is changed.
const CHANGING: &[&str] = &[
    "edit",
    "editing",
    "change",
    "changing",
    "touch",
    "touching",
    "modify",
    "modifying",
    "write",
    "overwrite",
    "delete",
    "remove",
    "改",
    "编辑",
    "写",
    "碰",
    "动",
    "删",
];
/// Words in prose that end the words of a command.
const PROSE: &[&str] = &[
    "a", "an", "and", "anywhere", "as", "at", "because", "by", "directly", "ever", "for", "from",
    "here", "in", "it", "manually", "of", "on", "or", "since", "that", "the", "there", "this",
    "to", "use", "we", "with", "yourself",
];

/// The prohibitions of a rule, in order.
pub fn find_prohibitions(name: &str, body: &str) -> Vec<Prohibition> {
    let mut found: Vec<Prohibition> = Vec::new();
    for sentence in sentences(name).chain(sentences(body)) {
        for new in of_sentence(&sentence) {
            if !found.iter().any(|known| known.thing == new.thing) {
                found.push(new);
            }
        }
    }
    found
}

impl Prohibition {
    /// Whether a command line does the forbidden action: one of its commands has these words, with flags at any
    /// position.
    pub fn is_done_by(&self, line: &str) -> bool {
        let ProhibitedAction::Command(words) = &self.thing else { return false };
        line.split(['\n', ';', '|', '&', '(', ')']).any(|command| {
            let given: Vec<&str> = command.split_whitespace().collect();
            let (flags, plain): (Vec<&String>, Vec<&String>) =
                words.iter().partition(|word| word.starts_with('-'));
            plain.len() <= given.len()
                && plain.iter().zip(&given).all(|(word, given)| word.as_str() == *given)
                && flags.iter().all(|flag| given.contains(&flag.as_str()))
        })
    }
}

/// A full stop ends a sentence only before a space: names contain full stops.
fn sentences(text: &str) -> impl Iterator<Item = String> {
    let text = text.replace(". ", ".\n").replace("; ", ";\n").replace(['。', '；', '！'], "\n");
    text.lines().map(str::to_owned).collect::<Vec<_>>().into_iter()
}

fn of_sentence(sentence: &str) -> Vec<Prohibition> {
    let lower = sentence.to_ascii_lowercase();
    let first = CUES.iter().filter_map(|cue| Some((find_word(&lower, cue)?, cue.len()))).min();
    let Some((at, length)) = first else { return Vec::new() };
    let rest = sentence.get(at + length..).unwrap_or_default();
    let prose: String = rest.split('`').step_by(2).collect();
    let firmness = if has_any(&prose, CONDITIONS) { Firmness::Sometimes } else { Firmness::Never };
    let quoted = quoted_things(rest);
    let things =
        if rest.contains('`') { quoted } else { plain_command(rest).into_iter().collect() };
    things.into_iter().map(|thing| Prohibition { thing, firmness }).collect()
}

/// The texts in backticks that are still part of the prohibition.
fn quoted_things(rest: &str) -> Vec<ProhibitedAction> {
    let mut things = Vec::new();
    let mut before = String::new();
    for (number, part) in rest.split('`').enumerate() {
        if number % 2 == 0 {
            before.push_str(part);
            if has_any(&before, TURNS) {
                break;
            }
        } else {
            things.extend(thing(part.trim(), &before));
        }
    }
    things
}

fn thing(quoted: &str, before: &str) -> Option<ProhibitedAction> {
    let words: Vec<&str> = quoted.split_whitespace().collect();
    let first = *words.first()?;
    if has_any(before, CHANGING) && words.len() == 1 {
        return is_path(first).then(|| ProhibitedAction::Path(first.to_owned()));
    }
    let is_command = PROGRAMS.contains(&first) || (has_any(before, RUNNING) && is_program(first));
    is_command.then(|| command(&words)).flatten()
}

/// A command without backticks: only for known programs.
fn plain_command(rest: &str) -> Option<ProhibitedAction> {
    let words: Vec<&str> =
        rest.split_whitespace().map(|word| word.trim_matches(['"', '\'', ',', '.', ':'])).collect();
    let at = words.iter().position(|word| PROGRAMS.contains(word))?;
    let (before, from) = words.split_at(at);
    // "never make things up" is no command: the verb must be one of running or using.
    let verbs = ["run", "running", "use", "using", "execute", "call", "用", "使用", "运行", "执行"];
    if has_any(&before.join(" "), TURNS)
        || !before.iter().any(|word| verbs.contains(&word.to_lowercase().as_str()))
    {
        return None;
    }
    let (program, mut rest) = from.split_first()?;
    let mut taken = vec![*program];
    if let Some((next, further)) = rest.split_first()
        && WITH_SUBCOMMANDS.contains(program)
        && !PROSE.contains(next)
        && !CONDITIONS.contains(next)
        && next.chars().all(|c| c.is_ascii_lowercase() || c == '-')
        && !next.starts_with('-')
    {
        taken.push(next);
        rest = further;
    }
    taken.extend(rest.iter().take_while(|word| word.starts_with('-') && word.len() > 1));
    command(&taken)
}

/// The words of a command up to the first placeholder; `None` if they are not plain.
fn command(words: &[&str]) -> Option<ProhibitedAction> {
    let stands_for =
        |word: &str| word.starts_with(['<', '$', '[', '{']) || word.contains('…') || word == "...";
    let words: Vec<String> =
        words.iter().take_while(|word| !stands_for(word)).map(|word| (*word).to_owned()).collect();
    let plain = |c: char| c.is_ascii_alphanumeric() || "._/@:=+,-".contains(c);
    let fine = !words.is_empty() && words.iter().all(|word| word.chars().all(plain));
    fine.then_some(ProhibitedAction::Command(words))
}

fn is_program(word: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._/-".contains(c);
    word.chars().all(plain)
        && word.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '.' | '/'))
}

fn is_path(word: &str) -> bool {
    let plain = |c: char| c.is_alphanumeric() || "._/@+*-".contains(c);
    let (stem, end) = word.rsplit_once('.').unwrap_or((word, ""));
    let is_file = (1..=5).contains(&end.len()) && !stem.ends_with('.');
    !word.starts_with('-')
        && word.chars().all(plain)
        && !word.split('/').any(|part| part == "..")
        && word.chars().any(char::is_alphanumeric)
        && (word.contains('/') || is_file)
}

fn has_any(text: &str, words: &[&str]) -> bool {
    let text = text.to_ascii_lowercase();
    words.iter().any(|word| find_word(&text, word).is_some())
}

/// The positions of a word; as a whole word, except in scripts without spaces.
fn find_word(text: &str, word: &str) -> Option<usize> {
    let letter = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_' || c == '/';
    text.match_indices(word).map(|(at, _)| at).find(|at| {
        let before = text.get(..*at).and_then(|head| head.chars().next_back());
        let after = text.get(*at + word.len()..).and_then(|tail| tail.chars().next());
        !word.is_ascii() || !(before.is_some_and(letter) || after.is_some_and(letter))
    })
}
