//! A second parse of where the words of a line are: tree-sitter's bash grammar.
//!
//! Invariant: a line passes only if every node of its tree, named or not, is of a kind listed here, and
//! its commands, words and redirections stand where the scanner found them. The grammar alone is not
//! enough: it reads `a | b | c⏎touch x </dev/null` as one pipeline whose last command is
//! `c touch x`.

use std::cell::RefCell;
use std::ops::Range;

use tree_sitter::{Node, Parser, Tree, TreeCursor};

use super::scan::ShellCommand;
use super::syntax::UnsupportedSyntax;

thread_local! {
    static PARSER: RefCell<Option<Parser>> = RefCell::new(new_parser());
}

fn new_parser() -> Option<Parser> {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_bash::LANGUAGE.into()).ok()?;
    Some(parser)
}

/// Fails unless the grammar sees what the scanner saw.
pub(super) fn confirm(line: &str, commands: &[ShellCommand]) -> Result<(), UnsupportedSyntax> {
    let tree = PARSER
        .with_borrow_mut(|parser| parser.as_mut()?.parse(line, None))
        .ok_or(UnsupportedSyntax::NoGrammar)?;
    if tree.root_node().has_error() {
        return Err(UnsupportedSyntax::Invalid);
    }
    let mut seen = Seen::default();
    collect(&tree, &mut seen)?;
    if seen == expected(commands) { Ok(()) } else { Err(UnsupportedSyntax::Ambiguous) }
}

/// Places in the line, in order.
#[derive(Debug, Default, PartialEq, Eq)]
struct Seen {
    commands: Vec<Vec<Range<usize>>>,
    redirects: Vec<Range<usize>>,
}

fn expected(commands: &[ShellCommand]) -> Seen {
    let words = |command: &ShellCommand| -> Vec<Range<usize>> {
        let ranges = command.words.iter().map(|word| word.range.clone());
        match (command.words.first(), command.words.last()) {
            // The grammar has a node of its own for this one, with an expression inside.
            (Some(first), Some(last)) if first.text == "[" => {
                std::iter::once(first.range.start..last.range.end).collect()
            }
            _ => ranges.collect(),
        }
    };
    Seen {
        commands: commands.iter().map(words).collect(),
        redirects: commands.iter().flat_map(|command| command.redirects.clone()).collect(),
    }
}

/// Walks the tree without recursion: a list of a thousand commands is a tree a thousand deep.
fn collect(tree: &Tree, seen: &mut Seen) -> Result<(), UnsupportedSyntax> {
    let mut cursor = tree.walk();
    loop {
        let enter = visit(cursor.node(), seen)?;
        if enter && cursor.goto_first_child() {
            continue;
        }
        if !goto_next(&mut cursor) {
            return Ok(());
        }
    }
}

fn goto_next(cursor: &mut TreeCursor<'_>) -> bool {
    while !cursor.goto_next_sibling() {
        if !cursor.goto_parent() {
            return false;
        }
    }
    true
}

/// Notes one node and says whether to look inside.
fn visit(node: Node<'_>, seen: &mut Seen) -> Result<bool, UnsupportedSyntax> {
    if node.is_error() || node.is_missing() {
        return Err(UnsupportedSyntax::Invalid);
    }
    match (node.is_named(), node.kind()) {
        (true, "command") => {
            let mut cursor = node.walk();
            let children = node.children(&mut cursor);
            seen.commands.push(children.map(|child| child.byte_range()).collect());
            Ok(true)
        }
        (true, "test_command") => {
            seen.commands.push(vec![node.byte_range()]);
            Ok(false)
        }
        (true, "file_redirect") => {
            seen.redirects.push(node.byte_range());
            Ok(false)
        }
        (
            true,
            "program"
            | "list"
            | "pipeline"
            | "redirected_statement"
            | "command_name"
            | "word"
            | "number"
            | "concatenation"
            | "string"
            | "string_content"
            | "raw_string",
        )
        | (false, "|" | "&&" | "||" | ";" | "\n" | "\"") => Ok(true),
        (true, kind) => Err(UnsupportedSyntax::of_node(kind)),
        (false, operator) => Err(UnsupportedSyntax::Operator(operator.escape_debug().to_string())),
    }
}
