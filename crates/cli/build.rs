//! How the program is linked where the linker that comes with Rust does it, and another need not understand: functions with the same
//! code are one, and relocations are packed, which glibc unpacks since 2.36: with an older one the program would not start. Together
//! that is a tenth of the program. What is published is linked statically, with the same flags, by `.cargo/config.toml`.

#![expect(clippy::disallowed_methods, reason = "cargo talks to it this way")]

use std::path::Path;
use std::process::Command;

/// Where it is the default.
const TARGET: &str = "x86_64-unknown-linux-gnu";
/// The first glibc that unpacks relocations.
const GLIBC: (u32, u32) = (2, 36);

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if variable("TARGET") != TARGET || !is_linked_by_rust() {
        return;
    }
    println!("cargo::rustc-link-arg-bins=-Wl,--icf=all");
    if variable("HOST") == TARGET && glibc() >= Some(GLIBC) {
        println!("cargo::rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
}

fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_default()
}

/// Whether this toolchain has a linker, and nobody has chosen another.
fn is_linked_by_rust() -> bool {
    let is_default = variable("RUSTC_LINKER").is_empty()
        && !["linker", "fuse-ld", "link-self"]
            .iter()
            .any(|chosen| variable("CARGO_ENCODED_RUSTFLAGS").contains(chosen));
    let sysroot = output(&variable("RUSTC"), &["--print", "sysroot"]).unwrap_or_default();
    let linker = Path::new(&sysroot).join("lib/rustlib").join(TARGET).join("bin/gcc-ld/ld.lld");
    is_default && linker.exists()
}

/// The version of this machine's glibc, if it has one.
fn glibc() -> Option<(u32, u32)> {
    let text = output("getconf", &["GNU_LIBC_VERSION"])?;
    let (major, minor) = text.strip_prefix("glibc ")?.split_once('.')?;
    Some((major.parse().ok()?, minor.split('.').next()?.parse().ok()?))
}

fn output(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
}
