//! Languages: their keywords, comments and quotes.

use super::token::CodeToken;

/// What is written between two marks.
#[derive(Debug)]
pub(super) struct Delimiter {
    pub(super) open: &'static str,
    close: &'static str,
    pub(super) token: CodeToken,
    /// Whether a backslash takes the meaning of the next character.
    escapes: bool,
    pub(super) spans_lines: bool,
    /// Whether it must be closed after one character, as in Rust, where the mark also begins a lifetime.
    is_character: bool,
}

impl Delimiter {
    const fn text(mark: &'static str) -> Self {
        let (escapes, spans_lines, is_character) = (true, false, false);
        Self { open: mark, close: mark, token: CodeToken::Text, escapes, spans_lines, is_character }
    }

    const fn raw(open: &'static str, close: &'static str) -> Self {
        Self { close, escapes: false, ..Self::text(open) }
    }

    const fn long(self) -> Self {
        Self { spans_lines: true, ..self }
    }

    const fn character() -> Self {
        Self { is_character: true, ..Self::text("'") }
    }

    const fn comment(open: &'static str, close: &'static str) -> Self {
        Self { token: CodeToken::Comment, spans_lines: true, ..Self::raw(open, close) }
    }

    /// Whether a text begins with it.
    pub(super) fn opens(&self, text: &str) -> bool {
        let Some(after) = text.strip_prefix(self.open) else { return false };
        let mut letters = after.chars();
        !self.is_character
            || match letters.next() {
                Some('\\') => after.chars().skip(2).take(8).any(|letter| letter == '\''),
                Some(_) => letters.next() == Some('\''),
                None => false,
            }
    }

    /// The length up to its end in a text within it, and whether the end is there.
    pub(super) fn length_in(&self, text: &str) -> (usize, bool) {
        let mut rest = text;
        loop {
            let used = text.len() - rest.len();
            if rest.starts_with(self.close) {
                return (used + self.close.len(), true);
            }
            let mut letters = rest.chars();
            if letters.next() == Some('\\') && self.escapes {
                letters.next();
            }
            rest = letters.as_str();
            if rest.is_empty() {
                return (text.len(), false);
            }
        }
    }
}

/// What words that are no keywords may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WordKinds {
    /// Names of functions, and with a capital of types.
    TypesAndFunctions,
    /// Names of functions.
    Functions,
    /// Keys of values.
    Keys,
}

/// A language, as far as its colors go.
#[derive(Debug)]
pub(super) struct CodeLanguage {
    /// Its names, and the endings of its files, separated by blanks.
    names: &'static str,
    pub(super) keywords: &'static str,
    /// Whether keywords are written in capitals as well.
    pub(super) any_case: bool,
    pub(super) line_comments: &'static [&'static str],
    /// Whether a comment begins only after a blank.
    pub(super) comment_after_blank: bool,
    /// The longer ones first.
    pub(super) delimiters: &'static [Delimiter],
    pub(super) words: WordKinds,
    /// What words contain beside letters, digits and `_`.
    pub(super) word_marks: &'static [char],
}

const BASE: CodeLanguage = CodeLanguage {
    names: "",
    keywords: "",
    any_case: false,
    line_comments: &["//"],
    comment_after_blank: false,
    delimiters: &[],
    words: WordKinds::TypesAndFunctions,
    word_marks: &[],
};

const C_COMMENT: Delimiter = Delimiter::comment("/*", "*/");
const C_TEXTS: &[Delimiter] = &[C_COMMENT, Delimiter::text("\""), Delimiter::text("'")];
const DATA: CodeLanguage = CodeLanguage {
    line_comments: &["#"],
    comment_after_blank: true,
    words: WordKinds::Keys,
    word_marks: &['-', '.'],
    ..BASE
};

static LANGUAGES: &[CodeLanguage] = &[
    CodeLanguage {
        names: "rust rs",
        keywords: "as async await break const continue crate dyn else enum extern false fn for if impl in let loop match mod \
                   move mut pub ref return self Self static struct super trait true type unsafe use where while",
        delimiters: &[
            C_COMMENT,
            Delimiter::raw("r##\"", "\"##").long(),
            Delimiter::raw("r#\"", "\"#").long(),
            Delimiter::raw("r\"", "\"").long(),
            Delimiter::text("\"").long(),
            Delimiter::character(),
        ],
        ..BASE
    },
    CodeLanguage {
        names: "python py py3 pyi",
        keywords: "and as assert async await break case class continue def del elif else except False finally for from global if \
                   import in is lambda match None nonlocal not or pass raise return self True try while with yield",
        line_comments: &["#"],
        delimiters: &[
            Delimiter::raw("\"\"\"", "\"\"\"").long(),
            Delimiter::raw("'''", "'''").long(),
            Delimiter::text("\""),
            Delimiter::text("'"),
        ],
        ..BASE
    },
    CodeLanguage {
        names: "javascript js jsx mjs cjs typescript ts tsx mts",
        keywords: "abstract any as async await boolean break case catch class const continue debugger declare default delete do \
                   else enum export extends false finally for from function get if implements import in instanceof interface \
                   keyof let namespace never new null number of private protected public readonly return set static string \
                   super switch this throw true try type typeof undefined unknown var void while yield",
        delimiters: &[
            C_COMMENT,
            Delimiter::text("`").long(),
            Delimiter::text("\""),
            Delimiter::text("'"),
        ],
        ..BASE
    },
    CodeLanguage {
        names: "go golang",
        keywords: "any bool break byte case chan const continue default defer else error fallthrough false float64 for func go \
                   goto if import int int64 interface iota map nil package range return rune select string struct switch true \
                   type uint8 var",
        delimiters: &[
            C_COMMENT,
            Delimiter::raw("`", "`").long(),
            Delimiter::text("\""),
            Delimiter::text("'"),
        ],
        ..BASE
    },
    CodeLanguage {
        names: "c h cpp cc cxx hpp hh c++ objective-c m",
        keywords: "alignas auto bool break case catch char class const constexpr continue decltype default delete do double else \
                   enum explicit extern false float for friend goto if inline int long namespace new noexcept nullptr NULL \
                   operator override private protected public register return short signed sizeof static struct switch \
                   template this throw true try typedef typename union unsigned using virtual void volatile while include \
                   define ifdef ifndef endif pragma",
        delimiters: C_TEXTS,
        ..BASE
    },
    CodeLanguage {
        names: "java kotlin kt kts scala csharp cs c# dart groovy gradle",
        keywords: "abstract as async await base bool boolean break byte case catch char class companion const continue data \
                   default do double else enum extends false final finally float for foreach fun get if implements import in \
                   init instanceof int interface internal is lateinit let long namespace new null object open out override \
                   package private protected public readonly record ref return sealed set short static string struct super \
                   suspend switch this throw throws trait true try typeof using val var virtual void volatile when where while \
                   with yield",
        delimiters: &[
            C_COMMENT,
            Delimiter::raw("\"\"\"", "\"\"\"").long(),
            Delimiter::text("\""),
            Delimiter::text("'"),
        ],
        ..BASE
    },
    CodeLanguage {
        names: "swift",
        keywords: "actor as async await break case catch class continue default defer do else enum extension false for func guard \
                   if import in init inout internal is let mutating nil override private protocol public repeat return self \
                   Self static struct super switch throw throws true try typealias var where while",
        delimiters: &[C_COMMENT, Delimiter::raw("\"\"\"", "\"\"\"").long(), Delimiter::text("\"")],
        ..BASE
    },
    CodeLanguage {
        names: "ruby rb",
        keywords: "alias and begin break case class def do else elsif end ensure extend false for if in include module next nil \
                   not or private protected raise redo require rescue retry return self super then true undef unless until \
                   when while yield",
        line_comments: &["#"],
        comment_after_blank: true,
        delimiters: &[Delimiter::text("\""), Delimiter::text("'")],
        ..BASE
    },
    CodeLanguage {
        names: "php",
        keywords: "abstract and array as break case catch class const continue declare default do echo else elseif extends false \
                   final finally fn for foreach function global if implements include instanceof interface isset match \
                   namespace new null or private protected public readonly require return static string switch this throw \
                   trait true try unset use var void while yield",
        line_comments: &["//", "#"],
        delimiters: C_TEXTS,
        ..BASE
    },
    CodeLanguage {
        names: "shell sh bash zsh fish console dockerfile makefile make mk",
        keywords: "alias break case cd continue do done echo elif else esac eval exec exit export fi for function if in local \
                   readonly return set shift source then trap unset until while ADD ARG CMD COPY ENTRYPOINT ENV EXPOSE FROM RUN \
                   USER VOLUME WORKDIR",
        line_comments: &["#"],
        comment_after_blank: true,
        delimiters: &[Delimiter::text("\"").long(), Delimiter::raw("'", "'").long()],
        words: WordKinds::Functions,
        word_marks: &['-'],
        ..BASE
    },
    CodeLanguage {
        names: "sql psql mysql sqlite",
        keywords: "add all alter and as asc begin between bigint boolean by case check column commit constraint create default \
                   delete desc distinct drop else end exists false foreign from full group having if in index inner insert \
                   integer into is join key left like limit not null offset on or order outer primary references returning \
                   right rollback select serial set table text then timestamp transaction true union unique update using \
                   values varchar view when where with",
        any_case: true,
        line_comments: &["--"],
        delimiters: &[C_COMMENT, Delimiter::raw("'", "'")],
        words: WordKinds::Functions,
        ..BASE
    },
    CodeLanguage {
        names: "lua",
        keywords: "and break do else elseif end false for function goto if in local nil not or repeat return then true until while",
        line_comments: &["--"],
        delimiters: &[
            Delimiter::comment("--[[", "]]"),
            Delimiter::raw("[[", "]]").long(),
            Delimiter::text("\""),
            Delimiter::text("'"),
        ],
        ..BASE
    },
    CodeLanguage {
        names: "css scss less",
        keywords: "important media import include mixin extend from to and not",
        delimiters: C_TEXTS,
        words: WordKinds::Keys,
        word_marks: &['-'],
        ..BASE
    },
    CodeLanguage {
        names: "html xml svg vue svelte",
        line_comments: &[],
        delimiters: &[Delimiter::comment("<!--", "-->"), Delimiter::text("\"")],
        words: WordKinds::Keys,
        word_marks: &['-', ':'],
        ..BASE
    },
    CodeLanguage {
        names: "json jsonc json5 jsonl",
        keywords: "true false null",
        delimiters: &[C_COMMENT, Delimiter::text("\"")],
        words: WordKinds::Keys,
        ..BASE
    },
    CodeLanguage {
        names: "yaml yml",
        keywords: "true false null yes no",
        delimiters: &[Delimiter::text("\""), Delimiter::raw("'", "'")],
        ..DATA
    },
    CodeLanguage {
        names: "toml ini cfg conf properties env",
        keywords: "true false",
        delimiters: &[
            Delimiter::raw("\"\"\"", "\"\"\"").long(),
            Delimiter::raw("'''", "'''").long(),
            Delimiter::text("\""),
            Delimiter::raw("'", "'"),
        ],
        ..DATA
    },
];

/// The language of this name.
pub(super) fn language(name: &str) -> Option<&'static CodeLanguage> {
    let has_name = |language: &&CodeLanguage| {
        language.names.split(' ').any(|known| known.eq_ignore_ascii_case(name))
    };
    LANGUAGES.iter().find(has_name)
}
