//! What other agents keep about a project in formats of their own: Codex' memory and Cursor's rules.

use std::path::Path;

use super::{Imported, ImportedText};
use crate::entry::NewMemory;
use crate::kind::MemoryType;

/// The heading of a part of Codex' memory.
const CODEX_GROUP: &str = "# Task Group:";
/// The sections of such a part that hold knowledge; the others list sessions and keywords.
const CODEX_KNOWLEDGE: [&str; 3] =
    ["## User preferences", "## Reusable knowledge", "## Failures and how to do differently"];

/// The parts of Codex' `MEMORY.md` that are about a project, one memory each.
pub fn from_codex(text: &str, project: &Path) -> Vec<Imported> {
    let mut groups: Vec<Vec<&str>> = Vec::new();
    for line in text.lines() {
        if line.starts_with(CODEX_GROUP) {
            groups.push(Vec::new());
        }
        if let Some(group) = groups.last_mut() {
            group.push(line);
        }
    }
    groups.iter().filter_map(|lines| codex_group(lines, project)).collect()
}

fn codex_group(lines: &[&str], project: &Path) -> Option<Imported> {
    let value = |key: &str| lines.iter().find_map(|line| line.strip_prefix(key)).map(str::trim);
    let (_, applies) = value("applies_to:")?.split_once("cwd=")?;
    let folder = Path::new(applies.split(';').next().unwrap_or_default().trim());
    if !folder.starts_with(project) {
        return None;
    }
    let mut body = String::new();
    let mut is_knowledge = false;
    for line in lines {
        if line.starts_with("## ") {
            is_knowledge = CODEX_KNOWLEDGE.iter().any(|section| line.starts_with(section));
        }
        if is_knowledge {
            body.push_str(line);
            body.push('\n');
        }
    }
    memory(value(CODEX_GROUP)?, value("scope:").unwrap_or_default(), &body)
}

/// A rule of Cursor: `description` and `globs` stand in front of the text. They are no YAML: `globs: *.ts` would be an alias.
pub fn from_cursor_rule(file_stem: &str, text: &str) -> Option<Imported> {
    let (head, body) = text
        .strip_prefix("---")
        .and_then(|rest| rest.split_once("\n---"))
        .map_or(("", text), |(head, rest)| (head, rest.split_once('\n').map_or("", |(_, b)| b)));
    let value = |key: &str| {
        let found = head.lines().find_map(|line| line.strip_prefix(key)).map(str::trim);
        found.map(|value| value.trim_matches(['"', '\''])).filter(|value| !value.is_empty())
    };
    let first = || body.lines().map(|line| line.trim_start_matches('#').trim());
    let first = || first().find(|line| !line.is_empty()).unwrap_or_default();
    let description = value("description:").unwrap_or_else(first);
    let name = file_stem.replace(['-', '_'], " ");
    let body = match value("globs:") {
        Some(globs) => format!("For files: {globs}\n\n{}", body.trim_start()),
        None => body.to_owned(),
    };
    memory(name.trim(), description, &body)
}

fn memory(name: &str, description: &str, body: &str) -> Option<Imported> {
    let body = body.trim();
    if body.is_empty() {
        return None;
    }
    let memory = NewMemory::new(name, description, body).with_kind(MemoryType::Project);
    Some(Imported { what: ImportedText::Memory(memory), modified: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memories(list: &[Imported]) -> Vec<(String, String, String)> {
        let one = |imported: &Imported| match &imported.what {
            ImportedText::Memory(memory) => {
                (memory.name.clone(), memory.description.clone(), memory.body.clone())
            }
            ImportedText::File(..) => panic!("a file"),
        };
        list.iter().map(one).collect()
    }

    #[test]
    fn of_codex_come_the_parts_about_this_project() {
        let text = "intro\n# Task Group: app releases\nscope: cutting a release of app\n\
            applies_to: cwd=/home/me/app; reuse_rule=safe here\n\n## Task 1: cut 1.2, done\n\
            ### keywords\n- release\n\n## User preferences\n- tags are signed [Task 1]\n\n\
            ## Reusable knowledge\n- `make dist` builds it\n\n\
            # Task Group: elsewhere\nscope: other\napplies_to: cwd=/home/me/apples; reuse_rule=x\n\
            ## Reusable knowledge\n- not ours\n\n\
            # Task Group: 前端构建\nscope: 构建前端\napplies_to: cwd=/home/me/app/web\n\
            ## Reusable knowledge\n- 用 pnpm,不要用 npm\n\
            # Task Group: empty\nscope: s\napplies_to: cwd=/home/me/app\n## Task 1: t\n";
        let found = memories(&from_codex(text, Path::new("/home/me/app")));
        let names: Vec<_> = found.iter().map(|(name, ..)| name.as_str()).collect();
        assert_eq!(names, ["app releases", "前端构建"]);
        assert_eq!(found[0].1, "cutting a release of app");
        assert!(found[0].2.contains("tags are signed") && found[0].2.contains("make dist"));
        assert!(!found[0].2.contains("keywords") && !found[1].2.contains("不是"));
        assert!(from_codex("", Path::new("/")).is_empty());
    }

    #[test]
    fn rules_of_cursor_need_no_frontmatter() {
        let rule = "---\r\ndescription: \"React components\"\nglobs: *.tsx,*.ts\nalwaysApply: false\n---\n\n# React\n\nNo classes.\n";
        let found = memories(&[from_cursor_rule("react-style", rule).unwrap()]);
        assert_eq!(found[0].0, "react style");
        assert_eq!(found[0].1, "React components");
        assert_eq!(found[0].2, "For files: *.tsx,*.ts\n\n# React\n\nNo classes.");
        let plain = memories(&[from_cursor_rule("规则", "# 提交信息用中文\n\n一行。").unwrap()]);
        assert_eq!((plain[0].0.as_str(), plain[0].1.as_str()), ("规则", "提交信息用中文"));
        assert_eq!(from_cursor_rule("empty", "---\ndescription: x\n---\n"), None);
    }
}
