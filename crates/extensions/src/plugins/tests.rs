//! Tests of trust, parts, problems, invalid plugins, names and sources.

use std::os::unix::fs::symlink;
use std::path::Path;

use super::*;

#[expect(clippy::disallowed_methods, reason = "the test writes the files of a plugin")]
fn write_files(root: &Path, files: &[(&str, &str)]) {
    for (path, text) in files {
        let path = root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
}

struct Fixture {
    folder: tempfile::TempDir,
    store: PluginStore,
}

impl Fixture {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        write_files(&folder.path().join("spell"), files);
        let home = folder.path().join("home");
        Self { store: PluginStore::at(&home), folder }
    }

    fn source(&self) -> PluginSource {
        PluginSource::parse("spell", self.folder.path()).unwrap()
    }

    fn install(&self) -> Result<InstalledPlugin, PluginError> {
        let tree = PluginTree::read(&self.folder.path().join("spell"))?;
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
fn trust_covers_every_byte() {
    let fixture = Fixture::new(&[("skills/check/SKILL.md", SKILL), ("bin/x.sh", "echo 1\n")]);
    let installed = fixture.install().unwrap();
    assert_eq!(
        (installed.plugin.name.as_str(), installed.trust),
        ("spell", PluginTrust::Untrusted)
    );
    assert!(!installed.in_use());
    assert!(matches!(fixture.store.trust("spell", "another"), Err(PluginError::Changed(_))));
    fixture.store.trust("spell", &installed.digest).unwrap();
    assert!(fixture.store.get("spell").unwrap().in_use());
    // The same content stays trusted; a changed script does not, nor a new file in the copy.
    assert!(fixture.install().unwrap().in_use());
    write_files(&fixture.folder.path().join("spell"), &[("bin/x.sh", "echo 2\n")]);
    let changed = fixture.install().unwrap();
    assert_eq!(changed.trust, PluginTrust::Changed);
    fixture.store.trust("spell", &changed.digest).unwrap();
    write_files(&changed.plugin.root, &[("bin/new.sh", "echo 3\n")]);
    assert_eq!(fixture.store.get("spell").unwrap().trust, PluginTrust::Changed);
    // Installed again it is as it was trusted.
    assert!(fixture.install().unwrap().in_use());
    fixture.store.set_enabled("spell", false).unwrap();
    assert!(!fixture.install().unwrap().in_use(), "disabled stays disabled");
    fixture.store.remove("spell").unwrap();
    assert!(matches!(fixture.store.get("spell"), Err(PluginError::Unknown { .. })));
    assert!(!fixture.folder.path().join("home/plugins/spell").exists());
}

#[test]
fn parts_are_found_in_the_folders_of_the_format() {
    let manifest = r#"{"name":"spell","version":"1.2","skills":["./more","./extra/one"],"agents":"./helpers/a.md",
        "hooks":{"Stop":[]},"mcpServers":"./servers.json","lspServers":{},"defaultEnabled":false}"#;
    let fixture = Fixture::new(&[
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
        ("commands/ship.md", "x"),
        ("commands/git/commit.md", "x"),
        ("commands/notes.txt", "no command"),
        (".git/config", "left out"),
    ]);
    let InstalledPlugin { plugin, enabled, .. } = fixture.install().unwrap();
    let below = |paths: &[std::path::PathBuf]| -> Vec<String> {
        let inside = |path: &std::path::PathBuf| {
            path.strip_prefix(&plugin.root).unwrap().display().to_string()
        };
        paths.iter().map(inside).collect()
    };
    assert_eq!(below(&plugin.skills), ["skills/check", "extra/one", "more/two"]);
    assert_eq!(below(&plugin.agents), ["helpers/a.md"]);
    let commands = plugin.commands.iter().map(|command| command.group.clone());
    assert_eq!(commands.collect::<Vec<_>>(), [Some("git".to_owned()), None]);
    let files: Vec<_> = plugin.commands.iter().map(|command| command.file.clone()).collect();
    assert_eq!(below(&files), ["commands/git/commit.md", "commands/ship.md"]);
    assert_eq!((plugin.hooks.len(), plugin.servers.len(), enabled), (2, 2, false));
    assert!(matches!(&plugin.hooks[1], PluginConfig::Inline { line: Some(2), .. }));
    assert_eq!(plugin.version.as_deref(), Some("1.2"));
    assert_eq!(plugin.problems, []);
    assert_eq!(plugin.ignored, ["`lspServers` in the manifest has no effect here"]);
    assert!(!plugin.root.join(".git").exists());
    assert!(plugin.data.ends_with("plugin-data/spell"));
}

#[test]
fn problems_are_reported_with_file_and_line_and_the_rest_loads() {
    let manifest = "{\"name\":\"spell\",\n\"skills\":[\"../out\",\"./none\"],\n\"agents\":7,\n\"hooks\":\"/etc/passwd\",\n\"versoin\":\"1\"}";
    let fixture = Fixture::new(&[
        (".claude-plugin/plugin.json", manifest),
        ("skills/check/SKILL.md", SKILL),
        (".mcp.json", "{\n\"mcpServers\": oops}"),
    ]);
    let reasons = fixture.reasons().join("\n");
    for expected in [
        "plugin.json:2: `skills`: `../out` leads out of the plugin",
        "none: listed in the manifest as skills, but there are none",
        "plugin.json:3: `agents` must be a path or a list of paths",
        "plugin.json:4: `hooks`: `/etc/passwd` leads out of the plugin",
        ".mcp.json:2: expected value",
    ] {
        assert!(reasons.contains(expected), "{expected}\n{reasons}");
    }
    let plugin = fixture.store.get("spell").unwrap().plugin;
    assert_eq!(plugin.skills.len(), 1);
    assert!(plugin.ignored[0].contains("did you mean `version`?"), "{:?}", plugin.ignored);
}

#[test]
fn an_invalid_plugin_is_rejected_and_leaves_nothing() {
    let check = |files: &[(&str, &str)], expected: &str| {
        let fixture = Fixture::new(files);
        let error = fixture.install().unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
        assert_eq!(fixture.store.all().0.len(), 0);
    };
    check(&[(".claude-plugin/plugin.json", "{\n\"name\": }")], "plugin.json:2: expected value");
    check(&[(".claude-plugin/plugin.json", "{}")], "plugin.json:1: missing `name`");
    check(&[(".claude-plugin/plugin.json", "[]")], "expected an object");
    check(&[(".dormouse-plugin/plugin.json", r#"{"name":"../x"}"#)], "is not a valid plugin name");
    let fixture = Fixture::new(&[("a/b", "x")]);
    symlink("/etc/hosts", fixture.folder.path().join("spell/a/link")).unwrap();
    let error = fixture.install().unwrap_err().to_string();
    assert!(error.contains("a/link: the link leads out of the plugin"), "{error}");
    let fixture = Fixture::new(&[("a/b", "x"), ("skills/check/SKILL.md", SKILL)]);
    symlink("b", fixture.folder.path().join("spell/a/link")).unwrap();
    let root = fixture.install().unwrap().plugin.root;
    assert_eq!(std::fs::read_to_string(root.join("a/link")).unwrap(), "x");
}

#[test]
fn a_name_belongs_to_one_plugin() {
    let fixture = Fixture::new(&[("skills/check/SKILL.md", SKILL)]);
    fixture.install().unwrap();
    let other = fixture.folder.path().join("other");
    write_files(&other, &[(".claude-plugin/plugin.json", r#"{"name":"spell"}"#)]);
    let source = PluginSource::parse("other", fixture.folder.path()).unwrap();
    let tree = PluginTree::read(&other).unwrap();
    let error = fixture.store.install(&tree, &source, jiff::Timestamp::UNIX_EPOCH).unwrap_err();
    assert!(matches!(error, PluginError::NameTaken { .. }), "{error}");
    assert_eq!(fixture.store.get("spell").unwrap().plugin.skills.len(), 1);
    // An invalid record is reported and can be removed.
    let home = fixture.folder.path().join("home");
    write_files(&home, &[("plugins/spell.json", "{")]);
    assert!(matches!(fixture.store.get("spell"), Err(PluginError::Invalid(_))));
    fixture.store.remove("spell").unwrap();
    assert_eq!(fixture.store.all().1, []);
}

#[test]
fn sources() {
    let folder = tempfile::tempdir().unwrap();
    let of = |text: &str| PluginSource::parse(text, folder.path());
    let git = of("https://example.invalid/a/spell.git#v1").unwrap();
    assert_eq!(git.default_name().unwrap().as_str(), "spell");
    assert_eq!(git.to_string(), "https://example.invalid/a/spell.git#v1");
    assert_eq!(
        of("git@example.invalid:a/spell").unwrap().default_name().unwrap().as_str(),
        "spell"
    );
    for bad in ["ext::sh -c x", "ext://x", "nowhere", "-x@h:y", "https://a#-x", "https://a#"] {
        assert!(of(bad).is_err(), "{bad}");
    }
}

#[test]
fn a_folder_without_plugin_parts_is_rejected() {
    for files in [&[][..], &[("README.md", "hello"), ("src/main.rs", "fn main() {}")]] {
        let fixture = Fixture::new(files);
        write_files(&fixture.folder.path().join("spell"), &[("notes/.keep", "")]);
        let error = fixture.install().unwrap_err().to_string();
        assert!(
            error.contains("no manifest, skills, commands, agents, hooks or MCP servers"),
            "{error}"
        );
        assert!(matches!(fixture.store.get("spell"), Err(PluginError::Unknown { .. })));
    }
    let fixture = Fixture::new(&[(".dormouse-plugin/plugin.json", r#"{"name": "spell"}"#)]);
    assert!(fixture.install().is_ok());
}
