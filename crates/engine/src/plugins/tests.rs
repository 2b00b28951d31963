//! Trust of every byte, parts, mistakes, what is no plugin, names, sources.

use std::os::unix::fs::symlink;
use std::path::Path;

use super::*;

#[expect(clippy::disallowed_methods, reason = "the test lays out a plugin by hand")]
fn lay(root: &Path, files: &[(&str, &str)]) {
    for (path, text) in files {
        let path = root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
}

struct Desk {
    folder: tempfile::TempDir,
    store: PluginStore,
}

impl Desk {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        lay(&folder.path().join("spell"), files);
        let home = folder.path().join("home");
        Self { store: PluginStore::at(&home), folder }
    }

    fn source(&self) -> PluginSource {
        PluginSource::of("spell", self.folder.path()).unwrap()
    }

    fn install(&self) -> Result<Installed, PluginError> {
        let tree = Tree::read(&self.folder.path().join("spell"))?;
        self.store.install(&tree, &self.source(), "2026-11-15T08:00:00Z".parse().unwrap())
    }

    fn reasons(&self) -> Vec<String> {
        let installed = self.install().unwrap();
        let root = installed.plugin.root.display().to_string();
        let shown = |problem: &PluginProblem| problem.to_string().replace(&format!("{root}/"), "");
        installed.plugin.problems.iter().map(shown).collect()
    }
}

const SKILL: &str = "---\ndescription: Checks.\n---\nCheck it.\n";

#[test]
fn trust_is_of_every_byte() {
    let desk = Desk::new(&[("skills/check/SKILL.md", SKILL), ("bin/x.sh", "echo 1\n")]);
    let installed = desk.install().unwrap();
    assert_eq!((installed.plugin.name.as_str(), installed.trust), ("spell", PluginTrust::Unknown));
    assert!(!installed.in_use());
    assert!(matches!(desk.store.trust("spell", "another"), Err(PluginError::Changed(_))));
    desk.store.trust("spell", &installed.digest).unwrap();
    assert!(desk.store.get("spell").unwrap().in_use());
    // The same again stays trusted; a script that has changed does not, nor one that was changed in place.
    assert!(desk.install().unwrap().in_use());
    lay(&desk.folder.path().join("spell"), &[("bin/x.sh", "echo 2\n")]);
    let changed = desk.install().unwrap();
    assert_eq!(changed.trust, PluginTrust::Changed);
    desk.store.trust("spell", &changed.digest).unwrap();
    lay(&changed.plugin.root, &[("bin/new.sh", "echo 3\n")]);
    assert_eq!(desk.store.get("spell").unwrap().trust, PluginTrust::Changed);
    // Installed again it is as it was trusted.
    assert!(desk.install().unwrap().in_use());
    desk.store.set_enabled("spell", false).unwrap();
    assert!(!desk.install().unwrap().in_use(), "switched off stays off");
    desk.store.remove("spell").unwrap();
    assert!(matches!(desk.store.get("spell"), Err(PluginError::Unknown { .. })));
    assert!(!desk.folder.path().join("home/plugins/spell").exists());
}

#[test]
fn parts_are_found_where_the_format_has_them() {
    let manifest = r#"{"name":"spell","version":"1.2","skills":["./more","./extra/one"],"agents":"./helpers/a.md",
        "hooks":{"Stop":[]},"mcpServers":"./servers.json","lspServers":{},"defaultEnabled":false}"#;
    let desk = Desk::new(&[
        (".claude-plugin/plugin.json", manifest),
        ("skills/check/SKILL.md", SKILL),
        ("skills/notes.txt", "no skill"),
        ("more/two/SKILL.md", SKILL),
        ("extra/one/SKILL.md", SKILL),
        ("agents/unused.md", "x"),
        ("helpers/a.md", "x"),
        ("hooks/hooks.json", r#"{"hooks":{}}"#),
        (".mcp.json", r#"{"mcpServers":{}}"#),
        ("servers.json", r#"{"mcpServers":{}}"#),
        ("CLAUDE.md", "not loaded"),
        ("commands/old.md", "x"),
        (".git/config", "left out"),
    ]);
    let Installed { plugin, enabled, .. } = desk.install().unwrap();
    let below = |paths: &[std::path::PathBuf]| -> Vec<String> {
        let inside = |path: &std::path::PathBuf| {
            path.strip_prefix(&plugin.root).unwrap().display().to_string()
        };
        paths.iter().map(inside).collect()
    };
    assert_eq!(below(&plugin.skills), ["skills/check", "extra/one", "more/two"]);
    assert_eq!(below(&plugin.agents), ["helpers/a.md"]);
    assert_eq!((plugin.hooks.len(), plugin.servers.len(), enabled), (2, 2, false));
    assert!(matches!(&plugin.hooks[1], PluginConfig::Inline { line: Some(2), .. }));
    assert_eq!(plugin.version.as_deref(), Some("1.2"));
    assert_eq!(plugin.problems, []);
    assert_eq!(
        plugin.ignored,
        [
            "`lspServers` of the manifest has no effect here",
            "`commands` has no effect here; a command can be a skill"
        ]
    );
    assert!(!plugin.root.join(".git").exists());
    assert!(plugin.data.ends_with("plugin-data/spell"));
}

#[test]
fn mistakes_are_told_with_file_and_line_and_the_rest_loads() {
    let manifest = "{\"name\":\"spell\",\n\"skills\":[\"../out\",\"./none\"],\n\"agents\":7,\n\"hooks\":\"/etc/passwd\",\n\"versoin\":\"1\"}";
    let desk = Desk::new(&[
        (".claude-plugin/plugin.json", manifest),
        ("skills/check/SKILL.md", SKILL),
        (".mcp.json", "{\n\"mcpServers\": oops}"),
    ]);
    let reasons = desk.reasons().join("\n");
    for says in [
        "plugin.json:2: `skills`: `../out` leads out of the plugin",
        "none: the manifest names it as skills, and there is none",
        "plugin.json:3: `agents` is a path or a list of paths",
        "plugin.json:4: `hooks`: `/etc/passwd` leads out of the plugin",
        ".mcp.json:2: expected value",
    ] {
        assert!(reasons.contains(says), "{says}\n{reasons}");
    }
    let plugin = desk.store.get("spell").unwrap().plugin;
    assert_eq!(plugin.skills.len(), 1);
    assert!(plugin.ignored[0].contains("did you mean `version`?"), "{:?}", plugin.ignored);
}

#[test]
fn what_is_no_plugin_is_refused_and_leaves_nothing() {
    let check = |files: &[(&str, &str)], says: &str| {
        let desk = Desk::new(files);
        let error = desk.install().unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
        assert_eq!(desk.store.all().0.len(), 0);
    };
    check(&[(".claude-plugin/plugin.json", "{\n\"name\": }")], "plugin.json:2: expected value");
    check(&[(".claude-plugin/plugin.json", "{}")], "plugin.json:1: it has no `name`");
    check(&[(".claude-plugin/plugin.json", "[]")], "an object is expected");
    check(&[(".dormouse-plugin/plugin.json", r#"{"name":"../x"}"#)], "is no name for a plugin");
    let desk = Desk::new(&[("a/b", "x")]);
    symlink("/etc/hosts", desk.folder.path().join("spell/a/link")).unwrap();
    let error = desk.install().unwrap_err().to_string();
    assert!(error.contains("a/link: the link leads out of the plugin"), "{error}");
    let desk = Desk::new(&[("a/b", "x"), ("skills/check/SKILL.md", SKILL)]);
    symlink("b", desk.folder.path().join("spell/a/link")).unwrap();
    let root = desk.install().unwrap().plugin.root;
    assert_eq!(std::fs::read_to_string(root.join("a/link")).unwrap(), "x");
}

#[test]
fn one_name_is_one_plugins() {
    let desk = Desk::new(&[("skills/check/SKILL.md", SKILL)]);
    desk.install().unwrap();
    let other = desk.folder.path().join("other");
    lay(&other, &[(".claude-plugin/plugin.json", r#"{"name":"spell"}"#)]);
    let source = PluginSource::of("other", desk.folder.path()).unwrap();
    let tree = Tree::read(&other).unwrap();
    let error = desk.store.install(&tree, &source, jiff::Timestamp::UNIX_EPOCH).unwrap_err();
    assert!(matches!(error, PluginError::NameTaken { .. }), "{error}");
    assert_eq!(desk.store.get("spell").unwrap().plugin.skills.len(), 1);
    // A record that somebody has spoilt is told, and can be removed.
    let home = desk.folder.path().join("home");
    lay(&home, &[("plugins/spell.json", "{")]);
    assert!(matches!(desk.store.get("spell"), Err(PluginError::NoPlugin(_))));
    desk.store.remove("spell").unwrap();
    assert_eq!(desk.store.all().1, []);
}

#[test]
fn sources() {
    let folder = tempfile::tempdir().unwrap();
    let of = |text: &str| PluginSource::of(text, folder.path());
    let git = of("https://example.invalid/a/spell.git#v1").unwrap();
    assert_eq!(git.name().unwrap().as_str(), "spell");
    assert_eq!(git.to_string(), "https://example.invalid/a/spell.git#v1");
    assert_eq!(of("git@example.invalid:a/spell").unwrap().name().unwrap().as_str(), "spell");
    for bad in ["ext::sh -c x", "ext://x", "nowhere", "-x@h:y", "https://a#-x", "https://a#"] {
        assert!(of(bad).is_err(), "{bad}");
    }
}

#[test]
fn a_folder_with_nothing_of_a_plugin_is_none() {
    for files in [&[][..], &[("README.md", "hello"), ("src/main.rs", "fn main() {}")]] {
        let desk = Desk::new(files);
        lay(&desk.folder.path().join("spell"), &[("notes/.keep", "")]);
        let error = desk.install().unwrap_err().to_string();
        assert!(error.contains("there is nothing of a plugin in it"), "{error}");
        assert!(matches!(desk.store.get("spell"), Err(PluginError::Unknown { .. })));
    }
    let desk = Desk::new(&[(".dormouse-plugin/plugin.json", r#"{"name": "spell"}"#)]);
    assert!(desk.install().is_ok());
}
