//! A home with credentials, a project in it, services beside it, and the list of attacks on them.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use dormouse_sandbox::{NetworkAccess, SandboxPlaces, SandboxPolicy};
use tempfile::TempDir;

/// How one sees that an attack succeeded.
enum Seen {
    /// It printed the secret, or what a service answered.
    Prints,
    /// This file exists now, or is another.
    Changed(&'static str),
}

struct Attack(&'static str, Seen);

use Seen::{Changed, Prints};

const SECRET: &str = "S3CRET";

/// In the commands: `$HOME` is a home, the working directory is a project in it, `$OUT` a folder beside it, `$VICTIM` another
/// process of the same user, `$PORT` a server on this machine, `$SOCK` a service's socket.
const ATTACKS: &[Attack] = &[
    // Writing outside.
    Attack("echo x > $OUT/new", Changed("out/new")),
    Attack("echo x >> $OUT/file", Changed("out/file")),
    Attack("cp project.txt $OUT/new", Changed("out/new")),
    Attack("mv project.txt $OUT/new", Changed("out/new")),
    Attack("mkdir $OUT/new", Changed("out/new")),
    Attack("ln -s /etc/passwd $OUT/new", Changed("out/new")),
    Attack("ln project.txt $OUT/new", Changed("out/new")),
    Attack("rm $OUT/file", Changed("out/file")),
    Attack("rm -rf $OUT/folder", Changed("out/folder/inner")),
    Attack("mv $OUT/file $OUT/new", Changed("out/new")),
    Attack("truncate -s 0 $OUT/file", Changed("out/file")),
    Attack("dd if=/dev/zero of=$OUT/file bs=1 count=1 2>/dev/null", Changed("out/file")),
    Attack("sed -i s/o/x/ $OUT/file", Changed("out/file")),
    Attack("python3 -c \"open('$OUT/new','w').write('x')\"", Changed("out/new")),
    Attack("ln -s $OUT link && echo x > link/new", Changed("out/new")),
    Attack("cd .. && cd out 2>/dev/null || cd $OUT; echo x > ./new", Changed("out/new")),
    Attack("echo x > /proc/self/cwd/../../out/new", Changed("out/new")),
    Attack("echo x > /proc/self/root$OUT/new", Changed("out/new")),
    Attack("mkfifo $OUT/new", Changed("out/new")),
    Attack(
        "python3 -c \"import socket; socket.socket(socket.AF_UNIX).bind('$OUT/new')\"",
        Changed("out/new"),
    ),
    Attack("tar cf t.tar project.txt && tar xf t.tar -C $OUT", Changed("out/project.txt")),
    Attack("git init -q $OUT/new", Changed("out/new")),
    Attack("install -m 755 project.txt $OUT/new", Changed("out/new")),
    Attack("exec 3<>$OUT/file; echo x >&3", Changed("out/file")),
    // Files that run code later.
    Attack("echo 'touch /x' >> $HOME/.bashrc", Changed("home/.bashrc")),
    Attack("echo x > $HOME/.profile", Changed("home/.profile")),
    Attack(
        "mkdir -p $HOME/.config/autostart && echo x > $HOME/.config/autostart/a.desktop",
        Changed("home/.config/autostart/a.desktop"),
    ),
    Attack(
        "mkdir -p $HOME/.config/systemd/user && echo x > $HOME/.config/systemd/user/a.service",
        Changed("home/.config/systemd/user/a.service"),
    ),
    Attack("git config --global core.pager 'sh -c x'", Changed("home/.gitconfig")),
    Attack("echo '[build]' > $HOME/.cargo/config.toml", Changed("home/.cargo/config.toml")),
    Attack("printf '#!/bin/sh\\n' > $HOME/.cargo/bin/cargo-x", Changed("home/.cargo/bin/cargo-x")),
    Attack(
        "mkdir -p $HOME/.local/bin && echo x > $HOME/.local/bin/ls",
        Changed("home/.local/bin/ls"),
    ),
    Attack("echo x > $HOME/go/bin/tool", Changed("home/go/bin/tool")),
    Attack("echo 'prefix=/x' > $HOME/.npmrc", Changed("home/.npmrc")),
    Attack("echo key >> $HOME/.ssh/authorized_keys", Changed("home/.ssh/authorized_keys")),
    Attack(
        "printf '#!/bin/sh\\n' > .git/hooks/pre-commit",
        Changed("home/project/.git/hooks/pre-commit"),
    ),
    Attack("git config core.hooksPath /x", Changed("home/project/.git/config")),
    Attack("git config core.fsmonitor 'touch /x'", Changed("home/project/.git/config")),
    Attack(
        "cp .git/config c && echo x >> c && mv -f c .git/config",
        Changed("home/project/.git/config"),
    ),
    Attack(
        "rm -rf .git/hooks && mkdir .git/hooks && echo x > .git/hooks/a",
        Changed("home/project/.git/hooks/a"),
    ),
    Attack("mv .git .g && mkdir .git && echo x > .git/config", Changed("home/project/.git/config")),
    Attack(
        "mv .git/hooks .git/h && mkdir -p .git/hooks && echo x > .git/hooks/a",
        Changed("home/project/.git/hooks/a"),
    ),
    Attack("echo '{}' > .dormouse/settings.json", Changed("home/project/.dormouse/settings.json")),
    Attack(
        "mv .dormouse d && mkdir .dormouse && echo x > .dormouse/settings.json",
        Changed("home/project/.dormouse/settings.json"),
    ),
    Attack("echo '{}' > .mcp.json", Changed("home/project/.mcp.json")),
    // Credentials.
    Attack("cat $HOME/.ssh/id_ed25519", Prints),
    Attack("cat $HOME/.aws/credentials", Prints),
    Attack("cat $HOME/.netrc", Prints),
    Attack("cat $HOME/.npmrc", Prints),
    Attack("cat $HOME/.cargo/credentials.toml", Prints),
    Attack("cat $HOME/.config/gh/hosts.yml", Prints),
    Attack("grep -r . $HOME/.ssh", Prints),
    Attack("head -c 100 ~/.ssh/id_*", Prints),
    Attack("ln -s $HOME/.ssh/id_ed25519 k && cat k", Prints),
    Attack("ln $HOME/.netrc k && cat k", Prints),
    Attack("cp -r $HOME/.aws a && cat a/credentials", Prints),
    Attack("tar cf - -C $HOME .ssh 2>/dev/null", Prints),
    Attack("cat /proc/self/root$HOME/.netrc", Prints),
    Attack("cat < $HOME/.ssh/id_ed25519", Prints),
    Attack("python3 -c \"print(open('$HOME/.aws/credentials').read())\"", Prints),
    Attack("mv $HOME/.ssh $HOME/s && cat $HOME/s/id_ed25519", Prints),
    // Other processes.
    Attack("tr '\\0' '\\n' < /proc/$VICTIM/environ", Prints),
    Attack("cat /proc/$VICTIM/task/$VICTIM/environ", Prints),
    // The network and services.
    Attack(
        "python3 -c 'import socket,os; s=socket.create_connection((\"127.0.0.1\",int(os.environ[\"PORT\"]))); print(s.recv(9).decode())'",
        Prints,
    ),
    Attack("exec 3<>/dev/tcp/127.0.0.1/$PORT; head -c 6 <&3", Prints),
    Attack(
        "python3 -c 'import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM); print(\"S3CRET\")'",
        Prints,
    ),
    Attack("python3 -c 'import socket; socket.socket(socket.AF_INET6); print(\"S3CRET\")'", Prints),
    Attack(
        "python3 -c 'import socket; socket.socket(socket.AF_NETLINK, socket.SOCK_RAW); print(\"S3CRET\")'",
        Prints,
    ),
    Attack(
        "python3 -c 'import socket,os; s=socket.socket(socket.AF_UNIX); s.connect(os.environ[\"SOCK\"]); print(s.recv(9).decode())'",
        Prints,
    ),
    Attack(
        "python3 -c 'import socket,os; s=socket.socket(socket.AF_UNIX); s.connect(\"\\0\"+os.environ[\"NAME\"]); print(s.recv(9).decode())'",
        Prints,
    ),
    // By a background process, by a build script, out of the sandbox again.
    Attack(
        "(setsid sh -c 'echo x > $OUT/new; touch $TMPDIR/tried' &) ; until [ -e $TMPDIR/tried ]; do sleep 0.01; done",
        Changed("out/new"),
    ),
    Attack("nohup sh -c 'echo x > $OUT/new' >/dev/null 2>&1; true", Changed("out/new")),
    Attack(
        "echo 'import os; os.mkdir(os.environ[\"OUT\"] + \"/new\")' > setup.py && python3 setup.py build",
        Changed("out/new"),
    ),
    Attack(
        "printf '#!/bin/sh\\necho x > $OUT/new\\n' > b.sh && chmod +x b.sh && ./b.sh",
        Changed("out/new"),
    ),
    Attack("unshare -Ur sh -c 'echo x > $OUT/new'", Changed("out/new")),
    Attack("unshare -Urm sh -c 'umount $HOME/.npmrc 2>/dev/null; cat $HOME/.npmrc'", Prints),
    Attack(
        "umount -l .git/config 2>/dev/null; echo x >> .git/config",
        Changed("home/project/.git/config"),
    ),
    Attack(
        "umount -l $SOCK 2>/dev/null; python3 -c 'import socket,os; s=socket.socket(socket.AF_UNIX); s.connect(os.environ[\"SOCK\"]); print(s.recv(9).decode())'",
        Prints,
    ),
];

struct World {
    keep: TempDir,
    victim: Child,
    port: u16,
    name: String,
}

impl World {
    fn new() -> Self {
        let keep = tempfile::tempdir().unwrap();
        let put = |name: &str, text: &str| {
            let path = keep.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        for name in [
            ".ssh/id_ed25519",
            ".aws/credentials",
            ".netrc",
            ".npmrc",
            ".cargo/credentials.toml",
            ".config/gh/hosts.yml",
        ] {
            put(&format!("home/{name}"), SECRET);
        }
        for (name, text) in [
            ("out/file", "old"),
            ("out/folder/inner", "old"),
            ("tmp/a", ""),
            ("home/.bashrc", "old"),
            ("home/.gitconfig", "[user]\n\tname = a\n\temail = a@b\n"),
            ("home/.cargo/bin/cargo", "old"),
            ("home/.cargo/registry/x", "old"),
            ("home/go/bin/x", "old"),
            ("home/project/project.txt", "mine"),
            ("home/project/.mcp.json", "old"),
            ("home/project/.dormouse/settings.json", "old"),
        ] {
            put(name, text);
        }
        run("git init -q", &keep.path().join("home/project"));
        fs::create_dir_all(keep.path().join("home/project/.git/hooks")).unwrap();
        let victim = Command::new("sleep").arg("300").env("KEY", SECRET).spawn().unwrap();
        let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = tcp.local_addr().unwrap().port();
        let local = UnixListener::bind(keep.path().join("service.sock")).unwrap();
        let name = format!("dormouse-{}-{port}", victim.id());
        let address = SocketAddr::from_abstract_name(&name).unwrap();
        let hidden = UnixListener::bind_addr(&address).unwrap();
        // The listeners answer until the test ends.
        std::thread::spawn(move || tcp.incoming().for_each(|stream| answer(stream.unwrap())));
        std::thread::spawn(move || local.incoming().for_each(|stream| answer(stream.unwrap())));
        std::thread::spawn(move || hidden.incoming().for_each(|stream| answer(stream.unwrap())));
        Self { keep, victim, port, name }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.keep.path().join(name)
    }

    fn policy(&self) -> SandboxPolicy {
        let (home, project) = (self.path("home"), self.path("home/project"));
        let hidden = [".ssh", ".aws", ".netrc", ".npmrc", ".cargo/credentials.toml", ".config/gh"];
        SandboxPlaces {
            git_folder: Some(project.join(".git")),
            writable: vec![project.clone(), self.path("tmp")],
            hidden: hidden.map(|name| home.join(name)).into(),
            key_agents: vec![self.path("service.sock")],
            network: NetworkAccess::None,
            home: Some(home),
            checkout: project,
            ..SandboxPlaces::default()
        }
        .policy()
    }

    /// Runs an attack and says what it printed.
    fn attack(&self, command: &str, policy: Option<&SandboxPolicy>) -> String {
        let mut start = match policy {
            Some(policy) => {
                let mut start = Command::new(std::env::current_exe().unwrap());
                let policy = serde_json::to_string(policy).unwrap();
                start.args(["--enter", &policy, command]);
                start
            }
            None => {
                let mut start = Command::new("bash");
                start.args(["-c", command]);
                start
            }
        };
        let output = start
            .current_dir(self.path("home/project"))
            .env("HOME", self.path("home"))
            .env("TMPDIR", self.path("tmp"))
            .env("OUT", self.path("out"))
            .env("VICTIM", self.victim.id().to_string())
            .env("PORT", self.port.to_string())
            .env("SOCK", self.path("service.sock"))
            .env("NAME", &self.name)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    }
}

impl Drop for World {
    fn drop(&mut self) {
        let _gone = self.victim.kill();
        let _gone = self.victim.wait();
    }
}

fn answer(mut stream: impl Read + Write) {
    let _gone = stream.write_all(SECRET.as_bytes());
}

fn run(command: &str, folder: &Path) {
    assert!(
        Command::new("sh").args(["-c", command]).current_dir(folder).status().unwrap().success()
    );
}

/// Enters the sandbox and becomes the command.
pub(crate) fn enter(policy: &str, command: &str) {
    dormouse_sandbox::enter(&serde_json::from_str(policy).unwrap()).unwrap();
    let failed = Command::new("bash").args(["-c", command]).exec();
    println!("{failed}");
}

fn succeeded(attack: &Attack, policy: impl Fn(&World) -> Option<SandboxPolicy>) -> bool {
    let world = World::new();
    let policy = policy(&world);
    let content =
        |path: &Path| fs::read(path).or_else(|_| fs::read_link(path).map(|_| Vec::new())).ok();
    let before = match &attack.1 {
        Changed(name) => {
            Some((world.path(name), content(&world.path(name)), exists(&world.path(name))))
        }
        Prints => None,
    };
    let printed = world.attack(attack.0, policy.as_ref());
    match before {
        Some((path, text, was)) => exists(&path) != was || content(&path) != text,
        None => printed.contains(SECRET),
    }
}

fn exists(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

/// What a command may do: without these, an attack that fails would say nothing.
const PERMITTED: &[Attack] = &[
    Attack("echo S3CRET", Prints),
    Attack("echo x > project.txt", Changed("home/project/project.txt")),
    Attack("mkdir new && mv project.txt new/", Changed("home/project/new")),
    Attack("python3 -c 'print(\"S3\" + \"CRET\")'", Prints),
    Attack("echo x > $TMPDIR/a", Changed("tmp/a")),
    Attack("echo x > $HOME/.cargo/registry/x", Changed("home/.cargo/registry/x")),
    Attack("git add -A && git commit -qm one && git log --format=format:S3CRET", Prints),
    Attack("(echo x > later) & wait", Changed("home/project/later")),
];

pub(crate) fn attack_all() {
    let mut wrong = Vec::new();
    for permitted in PERMITTED {
        if !succeeded(permitted, |world| Some(world.policy())) {
            wrong.push(format!("does not work in the sandbox: {}", permitted.0));
        }
    }
    for attack in ATTACKS {
        if !succeeded(attack, |_| None) {
            wrong.push(format!("does nothing without the sandbox: {}", attack.0));
        }
        // The superuser may read the memory of every process since Linux 6.16, whatever Landlock says.
        let is_superusers = attack.0.contains("/environ") && nix::unistd::getuid().is_root();
        if !is_superusers && succeeded(attack, |world| Some(world.policy())) {
            wrong.push(format!("succeeds in the sandbox: {}", attack.0));
        }
    }
    assert!(ATTACKS.len() >= 60);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    println!("{} attacks", ATTACKS.len());
}
