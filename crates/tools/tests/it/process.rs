//! The door for other crates: a program's output, bounded in size and time.

use std::time::Duration;

use dormouse_tools::{ProcessError, ProcessOutput, output};

use crate::{HANGS, Scene, in_time};

async fn sh(script: &str, timeout: Duration) -> Result<ProcessOutput, ProcessError> {
    let scene = Scene::new();
    output("sh", &["-c", script], scene.folder.path(), &scene.context.environment, timeout).await
}

#[tokio::test]
async fn streams_are_kept_apart() {
    let output = sh("echo out; echo err >&2; exit 4", HANGS).await.unwrap();
    let expected = ProcessOutput {
        code: Some(4),
        stdout: "out\n".into(),
        stderr: "err\n".into(),
        left_out: 0,
    };
    assert_eq!(output, expected);
}

#[tokio::test]
async fn too_much_is_cut_and_counted() {
    let output = sh("head -c 1000000 /dev/zero | tr '\\0' x", HANGS).await.unwrap();
    assert_eq!(output.left_out, 800_000);
    assert!(output.stdout.contains("[800000 characters left out]"));
}

#[tokio::test]
async fn too_long_is_ended() {
    let error = in_time(sh("sleep 600", Duration::from_millis(200))).await.unwrap_err();
    assert_eq!(error.to_string(), "`sh` did not finish within 200 ms and was ended");
}

#[tokio::test]
async fn a_missing_program_is_named() {
    let scene = Scene::new();
    let (folder, environment) = (scene.folder.path(), &scene.context.environment);
    let error = output("no-such-program", &[], folder, environment, HANGS).await.unwrap_err();
    assert!(matches!(error, ProcessError::NotFound { .. }), "{error}");
}
