//! Commands that write outside, read credentials, reach the network or services, change what runs later, look into other
//! processes, or leave by a background process: each succeeds without the sandbox and fails in it.
//!
//! Run as the restricted process itself (`attacks --enter POLICY COMMAND`), it enters the sandbox and becomes the command.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "tests")]
#![cfg_attr(
    target_os = "linux",
    expect(clippy::disallowed_methods, reason = "tests lay out files and start commands")
)]

#[cfg(target_os = "linux")]
#[path = "attacks/world.rs"]
mod world;

#[cfg(not(target_os = "linux"))]
fn main() {
    println!("no Landlock on this system: nothing to attack");
}

#[cfg(target_os = "linux")]
fn main() {
    use dormouse_sandbox::SandboxSupport;
    let arguments: Vec<String> = std::env::args().collect();
    if let [_, word, policy, command] = arguments.as_slice()
        && word == "--enter"
    {
        world::enter(policy, command);
        return;
    }
    if dormouse_sandbox::support() == SandboxSupport::None {
        println!("this kernel has no Landlock: nothing to attack");
        return;
    }
    world::attack_all();
    println!("test result: ok");
}
