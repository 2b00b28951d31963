//! Reading: a text into fields and body.

use crate::split::{Split, split};
use crate::value::{FrontmatterFields, FrontmatterProblem, LONGEST, Value};
use crate::{plain, unquoted, yaml};

/// A text split into frontmatter fields and body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParsedFrontmatter<'a> {
    /// Empty if there is no frontmatter or it could not be read.
    pub fields: FrontmatterFields,
    /// The text after the frontmatter.
    pub body: &'a str,
    /// Why the fields could not be read.
    pub problem: Option<FrontmatterProblem>,
}

/// Splits a text into its frontmatter fields and its body.
pub fn parse(text: &str) -> ParsedFrontmatter<'_> {
    let span = match split(text) {
        Split::None => {
            // A byte-order mark belongs to the file, not to its content.
            let body = text.strip_prefix('\u{feff}').unwrap_or(text);
            return ParsedFrontmatter { fields: FrontmatterFields::default(), body, problem: None };
        }
        Split::Unclosed => {
            let problem = Some(FrontmatterProblem::Unclosed);
            return ParsedFrontmatter { fields: FrontmatterFields::default(), body: text, problem };
        }
        Split::Block(span) => span,
    };
    match fields_of(span.inner) {
        Ok(fields) => {
            ParsedFrontmatter { fields: FrontmatterFields(fields), body: span.body, problem: None }
        }
        Err(problem) => ParsedFrontmatter {
            fields: FrontmatterFields::default(),
            body: span.body,
            problem: Some(problem),
        },
    }
}

/// Reads the fields from the first lines of a file. A frontmatter that is cut off gives the fields of its complete lines.
pub fn parse_head(head: &str) -> FrontmatterFields {
    let parsed = parse(head);
    if parsed.problem != Some(FrontmatterProblem::Unclosed) {
        return parsed.fields;
    }
    let inner = head.split_once('\n').map_or("", |(_, inner)| inner);
    let whole_lines = inner.rsplit_once('\n').map_or("", |(lines, _)| lines);
    if whole_lines.len() > LONGEST {
        return FrontmatterFields::default();
    }
    // Problems are reported when the whole file is read.
    fields_of(whole_lines).map(FrontmatterFields).unwrap_or_default()
}

/// Tries the line reader first: most files need no YAML parser, which keeps a scan of thousands of files fast.
fn fields_of(inner: &str) -> Result<Vec<(String, Value)>, FrontmatterProblem> {
    match plain::fields(inner) {
        Some(fields) => Ok(fields),
        None => yaml_fields(inner),
    }
}

/// The fields as YAML, or, where it is not valid, with the missing quotes.
pub(crate) fn yaml_fields(inner: &str) -> Result<Vec<(String, Value)>, FrontmatterProblem> {
    yaml::fields(inner).or_else(|problem| {
        if yaml::is_valid(inner) {
            return Err(problem);
        }
        yaml::fields(&unquoted::with_quotes(inner))
    })
}
