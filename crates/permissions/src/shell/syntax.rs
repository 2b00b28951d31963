//! Shell syntax that keeps a command line from being split into plain words.

use thiserror::Error;

/// Why the commands of a line are not known for certain.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum UnsupportedSyntax {
    /// Another control character than a tab or the end of a line.
    #[error("the line contains a control character (U+{:04X})", u32::from(*.0))]
    ControlCharacter(char),
    /// No command at all, or none after an operator.
    #[error("a command is missing at the end of the line")]
    NoCommandAtEnd,
    /// An operator without a command before it.
    #[error("a command is missing before an operator")]
    NoCommandBeforeOperator,
    /// A quote without its end.
    #[error("the quote {0} is not closed")]
    OpenQuote(char),
    /// A backslash at the end of a line.
    #[error("a line ends with a backslash")]
    TrailingBackslash,
    /// A character that stands for other text.
    #[error("`{0}` inserts a variable or the output of a command")]
    Substitution(char),
    /// A redirection that writes.
    #[error("`{0}` writes to a file")]
    OutputRedirect(&'static str),
    /// A redirection that reads.
    #[error("`<` reads from a file or a command")]
    InputRedirect,
    /// Parentheses.
    #[error("`{0}` groups commands")]
    Group(char),
    /// Braces that are not plain text.
    #[error("`{{` groups commands or stands for several words")]
    Braces,
    /// `&` at the end of a command.
    #[error("`&` leaves a command running in the background")]
    Background,
    /// `#` at the beginning of a word.
    #[error("`#` begins a comment")]
    Comment,
    /// A character that some shells take for a blank.
    #[error("`{0}` contains a byte that some shells treat as a space; put it in quotes")]
    ForeignBlank(char),
    /// An assignment, `export` or `unset`.
    #[error("the line sets or unsets a variable")]
    Assignment,
    /// `if`, `for`, `while`, `case`.
    #[error("the line contains a loop or a condition")]
    ControlFlow,
    /// A definition of a function.
    #[error("the line defines a function")]
    Function,
    /// Another operator.
    #[error("the operator `{0}` is not supported here")]
    Operator(String),
    /// Other syntax.
    #[error("the line uses shell syntax that is not supported here")]
    Other,
    /// Not valid.
    #[error("the line is not valid shell, or uses syntax that is not supported here")]
    Invalid,
    /// The two parsers disagree.
    #[error("the line can be read in more than one way")]
    Ambiguous,
    /// The grammar cannot be loaded.
    #[error("the shell grammar is not available")]
    NoGrammar,
}

impl UnsupportedSyntax {
    /// The reason for a named node of tree-sitter's bash grammar.
    pub(super) fn of_node(kind: &str) -> Self {
        match kind {
            "variable_assignment"
            | "variable_assignments"
            | "declaration_command"
            | "unset_command" => Self::Assignment,
            "if_statement"
            | "for_statement"
            | "c_style_for_statement"
            | "while_statement"
            | "case_statement" => Self::ControlFlow,
            "function_definition" => Self::Function,
            "negated_command" => Self::Operator("!".to_owned()),
            _ => Self::Other,
        }
    }
}
