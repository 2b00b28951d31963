//! Branches in transcripts of other agents: `parentUuid` links their lines to a tree, and a user who goes back begins another
//! branch. The conversation is the branch that ends in the last message.
//!
//! Our own transcripts name what was gone back from in a line of its own: see `rewound`.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Deserializer};

use super::format::LineContent;
use super::lines::each_line;
use crate::block::{Block, BlockKind};

/// What a line is linked by.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct LinkedLine<'a> {
    #[serde(rename = "type", borrow, default)]
    kind: Cow<'a, str>,
    #[serde(borrow, default)]
    uuid: Option<Cow<'a, str>>,
    #[serde(default)]
    parent_uuid: Parent,
    /// At a compaction: the last line before it.
    #[serde(borrow, default)]
    logical_parent_uuid: Option<Cow<'a, str>>,
    /// Only our own lines have it.
    #[serde(borrow, default)]
    message_uuid: Option<Cow<'a, str>>,
    #[serde(default)]
    is_sidechain: bool,
    #[serde(borrow, default)]
    message: Option<LinkedMessage<'a>>,
}

#[derive(Deserialize)]
struct LinkedMessage<'a> {
    #[serde(borrow, default)]
    id: Option<Cow<'a, str>>,
    #[serde(default)]
    content: LineContent,
}

/// What precedes a line.
#[derive(Default)]
enum Parent {
    /// Nothing: the conversation begins here.
    Root,
    Line(String),
    /// The line does not tell.
    #[default]
    Unknown,
}

impl<'de> Deserialize<'de> for Parent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Option::deserialize(deserializer)?.map_or(Self::Root, Self::Line))
    }
}

struct Node {
    number: usize,
    parent: Parent,
    /// Whether it is a line of the main conversation's messages.
    is_message: bool,
    /// The server's id of the response that it is a part of.
    response: Option<String>,
    calls: Vec<String>,
    results: Vec<String>,
}

impl Node {
    fn of(number: usize, line: LinkedLine<'_>) -> Self {
        let is_message = matches!(&*line.kind, "user" | "assistant") && !line.is_sidechain;
        let parent = match (line.logical_parent_uuid, line.parent_uuid) {
            (Some(uuid), Parent::Root | Parent::Unknown) => Parent::Line(uuid.into_owned()),
            (_, parent) => parent,
        };
        let (response, blocks) = line.message.map_or_else(Default::default, |message| {
            (message.id.map(Cow::into_owned), message.content.0)
        });
        let ids = |of: fn(&Block) -> Option<String>| blocks.iter().filter_map(of).collect();
        let calls = ids(|block| block.as_tool_use().map(|call| call.id.as_str().to_owned()));
        let results = ids(|block| match block.kind() {
            BlockKind::ToolResult { id } => Some(id.as_str().to_owned()),
            _ => None,
        });
        Self { number, parent, is_message, response, calls, results }
    }
}

/// Finds the lines whose messages are on other branches than the last message.
#[derive(Default)]
pub(super) struct BranchFinder {
    nodes: Vec<Node>,
    by_uuid: HashMap<String, usize>,
    /// Whether the transcript is one of ours, which has no branches.
    is_ours: bool,
}

impl BranchFinder {
    /// Looks at a line. What cannot be read is reported by whoever reads the whole line.
    pub(super) fn see(&mut self, number: usize, line: &[u8]) {
        if !self.is_ours
            && let Ok(mut line) = serde_json::from_slice::<LinkedLine<'_>>(line)
        {
            self.is_ours = line.message_uuid.is_some();
            if let Some(uuid) = line.uuid.take() {
                self.by_uuid.insert(uuid.into_owned(), self.nodes.len());
            }
            self.nodes.push(Node::of(number, line));
        }
    }

    /// The numbers of those lines, from 1.
    pub(super) fn finish(self) -> HashSet<usize> {
        if self.is_ours {
            return HashSet::new();
        }
        let branch = Branch::to_last(&self.nodes, &self.by_uuid);
        let nodes = self.nodes.iter().enumerate();
        let others = nodes.filter(|(index, node)| !branch.has(*index, node));
        others.map(|(_, node)| node.number).collect()
    }
}

/// The numbers of the lines, from 1, whose messages are on other branches than the last message. None in our own
/// transcripts.
pub(super) fn lines_of_other_branches(bytes: &[u8]) -> HashSet<usize> {
    let mut finder = BranchFinder::default();
    each_line(bytes, |number, line| {
        finder.see(number, line);
        Ok(())
    });
    finder.finish()
}

/// The branch that ends in the last message.
struct Branch {
    lines: HashSet<usize>,
    /// Responses and calls on it: their other blocks and their results hang on lines beside it.
    responses: HashSet<String>,
    calls: HashSet<String>,
    /// Lines before this one count: nothing tells where they belong.
    known_from: usize,
}

impl Branch {
    fn to_last(nodes: &[Node], by_uuid: &HashMap<String, usize>) -> Self {
        let mut lines = HashSet::new();
        let mut known_from = 0;
        let mut next = nodes.iter().rposition(|node| node.is_message);
        while let Some((index, node)) = next.and_then(|index| Some((index, nodes.get(index)?))) {
            // Links in a circle end here.
            if !lines.insert(index) {
                break;
            }
            next = match &node.parent {
                Parent::Line(uuid) => by_uuid.get(uuid).copied(),
                Parent::Root | Parent::Unknown => None,
            };
            if next.is_none() && !matches!(node.parent, Parent::Root) {
                known_from = node.number;
            }
        }
        let on_branch = |index: &usize| nodes.get(*index);
        let responses: HashSet<String> =
            lines.iter().filter_map(on_branch).filter_map(|node| node.response.clone()).collect();
        let of_branch = |(index, node): &(usize, &Node)| {
            lines.contains(index) || node.response.as_ref().is_some_and(|id| responses.contains(id))
        };
        let calls = nodes.iter().enumerate().filter(of_branch);
        let calls = calls.flat_map(|(_, node)| node.calls.iter().cloned()).collect();
        Self { lines, responses, calls, known_from }
    }

    fn has(&self, index: usize, node: &Node) -> bool {
        !node.is_message
            || node.number < self.known_from
            || self.lines.contains(&index)
            || node.response.as_ref().is_some_and(|id| self.responses.contains(id))
            || node.results.iter().any(|id| self.calls.contains(id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// A line, by its id and that of its parent.
    fn line(kind: &str, uuid: &str, parent: Option<&str>, content: &serde_json::Value) -> String {
        json!({"type": kind, "uuid": uuid, "parentUuid": parent, "message": {"role": kind, "content": content}})
            .to_string()
    }

    fn said(kind: &str, uuid: &str, parent: Option<&str>) -> String {
        line(kind, uuid, parent, &json!("text"))
    }

    #[track_caller]
    fn check(lines: &[String], expected: &[usize]) {
        let mut others: Vec<usize> =
            lines_of_other_branches(lines.join("\n").as_bytes()).into_iter().collect();
        others.sort_unstable();
        assert_eq!(others, expected);
    }

    #[test]
    fn the_branch_of_the_last_message_counts() {
        let mut lines = vec![
            said("user", "a", None),
            said("assistant", "b", Some("a")),
            said("user", "c", Some("b")),
            said("assistant", "d", Some("c")),
        ];
        check(&lines, &[]);
        lines.extend([said("user", "e", Some("b")), said("assistant", "f", Some("e"))]);
        check(&lines, &[3, 4]);
        lines.push(said("user", "g", None));
        check(&lines, &[1, 2, 3, 4, 5, 6]);
        // Back on the branch of before.
        lines.push(said("user", "h", Some("d")));
        check(&lines, &[5, 6, 7]);
    }

    #[test]
    fn results_beside_the_branch_belong_to_it() {
        let call = |id: &str, uuid: &str, parent: &str| {
            json!({"type": "assistant", "uuid": uuid, "parentUuid": parent, "message": {"id": "m1", "role": "assistant",
                "content": [{"type": "tool_use", "id": id, "name": "Read", "input": {}}]}})
            .to_string()
        };
        let result = |id: &str| json!([{"type": "tool_result", "tool_use_id": id, "content": "x"}]);
        check(
            &[
                said("user", "a", None),
                call("t1", "b", "a"),
                call("t2", "c", "b"),
                line("user", "d", Some("b"), &result("t1")),
                line("user", "e", Some("c"), &result("t2")),
                said("assistant", "f", Some("e")),
            ],
            &[],
        );
    }

    #[test]
    fn what_does_not_tell_counts() {
        check(
            &[
                r#"{"type":"user","uuid":"a","message":{"role":"user","content":"x"}}"#.to_owned(),
                said("user", "b", Some("gone")),
            ],
            &[],
        );
        let compacted = r#"{"type":"system","subtype":"compact_boundary","uuid":"c","parentUuid":null,"logicalParentUuid":"b"}"#;
        check(
            &[
                said("user", "a", None),
                said("assistant", "b", Some("a")),
                compacted.to_owned(),
                said("user", "d", Some("c")),
            ],
            &[],
        );
        check(&[said("user", "a", Some("b")), said("user", "b", Some("a"))], &[]);
        let ours = r#"{"type":"user","uuid":"x","parentUuid":null,"messageUuid":"x","message":{"role":"user","content":"y"}}"#;
        check(&[said("user", "a", None), ours.to_owned()], &[]);
        let side = r#"{"type":"user","uuid":"s","parentUuid":null,"isSidechain":true,"message":{"role":"user","content":"y"}}"#;
        check(&[side.to_owned(), said("user", "a", None), side.replace("\"s\"", "\"t\"")], &[]);
    }
}
