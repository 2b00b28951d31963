//! Read: every refusal, every form, and what it remembers.

use std::io::{Seek, SeekFrom, Write};

use dormouse_conversation::{BlockKind, ResultContent};
use dormouse_tools::{ReadExtent, output};
use serde_json::{Value, json};

use crate::{HANGS, Scene, in_time};

fn file(path: &std::path::Path) -> Value {
    json!({ "file_path": path })
}

#[tokio::test]
async fn lines_with_numbers_from_absolute_and_relative_paths() {
    let scene = Scene::new();
    let path = scene.write("src/a.rs", "fn main() {\r\n}\r\n");
    let expected = "     1\tfn main() {\n     2\t}\n";
    assert_eq!(scene.text("Read", &file(&path)).await, expected);
    assert_eq!(scene.text("Read", &json!({"file_path": "src/a.rs"})).await, expected);
    let second = json!({"file_path": "src/a.rs", "offset": 2, "limit": 5});
    assert_eq!(scene.text("Read", &second).await, "     2\t}\n");
}

#[tokio::test]
async fn a_link_to_a_file_is_read() {
    let scene = Scene::new();
    let path = scene.write("a", "text");
    std::os::unix::fs::symlink(&path, scene.path("link")).unwrap();
    assert_eq!(scene.text("Read", &file(&scene.path("link"))).await, "     1\ttext\n");
}

#[tokio::test]
async fn pipes_and_devices_are_refused_at_once() {
    let scene = Scene::new();
    let pipe = scene.path("pipe");
    let args = [pipe.to_str().unwrap()];
    let (folder, environment) = (scene.folder.path(), &scene.context.environment);
    output("mkfifo", &args, folder, environment, HANGS).await.unwrap();
    let pipe = file(&pipe);
    let text = in_time(scene.error("Read", &pipe)).await;
    assert!(text.contains("pipe is a named pipe, not a file"), "{text}");
    let zero = json!({"file_path": "/dev/zero"});
    let text = in_time(scene.error("Read", &zero)).await;
    assert!(text.starts_with("/dev/zero is a device, not a file"), "{text}");
    let socket = scene.path("socket");
    let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    let text = scene.error("Read", &file(&socket)).await;
    assert!(text.contains("is a socket, not a file"), "{text}");
}

#[tokio::test]
async fn folders_and_binaries_are_refused() {
    let scene = Scene::new();
    let text = scene.error("Read", &file(scene.folder.path())).await;
    assert!(text.contains("is a folder; list what is in it with Glob"), "{text}");
    let binary = scene.write("program", b"\x7fELF\x02\x01\x01\0\0\0");
    let text = scene.error("Read", &file(&binary)).await;
    assert!(text.contains("is not a text file: it contains NUL bytes"), "{text}");
}

#[tokio::test]
async fn a_missing_file_names_the_nearest() {
    let scene = Scene::new();
    scene.write("main.rs", "");
    scene.write("library.rs", "");
    let text = scene.error("Read", &json!({"file_path": "mian.rs"})).await;
    let path = |name| scene.path(name).display().to_string();
    let expected = format!("{} does not exist; there is {}", path("mian.rs"), path("main.rs"));
    assert_eq!(text, expected);
    let text = scene.error("Read", &json!({"file_path": "zzzzzz"})).await;
    assert!(text.ends_with("zzzzzz does not exist; use Glob to find the file"), "{text}");
    // A wrong folder in front, as small models put it.
    scene.write("lib/larder.py", "SHELVES = 3\n");
    let text = scene.error("Read", &json!({"file_path": "/elsewhere/memory/lib/larder.py"})).await;
    assert!(text.ends_with(&format!("there is {}", path("lib/larder.py"))), "{text}");
    let text = scene.error("Read", &json!({"file_path": "no/such"})).await;
    assert!(text.contains("no is no folder either"), "{text}");
    let text = scene.error("Read", &json!({"file_path": ""})).await;
    assert_eq!(text, "invalid arguments: `file_path`: is empty");
}

#[tokio::test]
async fn long_lines_and_bytes_that_are_no_text() {
    let scene = Scene::new();
    let path = scene.write("long", "x".repeat(300_000) + "\nend\n");
    let text = scene.text("Read", &file(&path)).await;
    assert!(
        text.contains("x [line cut: 2000 of 300000 characters shown]\n     2\tend\n"),
        "{text}"
    );
    assert!(text.len() < 2_200);
    let path = scene.write("latin", b"caf\xe9\n");
    let text = scene.text("Read", &file(&path)).await;
    assert!(text.starts_with("     1\tcaf\u{fffd}\n[not all of it is UTF-8"), "{text}");
    let path = scene.write("empty", "");
    assert_eq!(scene.text("Read", &file(&path)).await, "[the file is empty]\n");
}

#[tokio::test]
async fn a_long_file_stops_and_says_how_to_read_on() {
    let scene = Scene::new();
    let path = scene.write("many", "line\n".repeat(2_001));
    let text = scene.text("Read", &file(&path)).await;
    let end =
        "  2000\tline\n[stopped after line 2000; the file goes on: read on with offset 2001]\n";
    assert!(text.ends_with(end), "{text}");
    let path = scene.write("wide", ("w".repeat(1_000) + "\n").repeat(2_000));
    let text = scene.text("Read", &file(&path)).await;
    assert!(text.contains("because one read shows at most 25000 tokens"));
    assert!(text.len() <= 100_000);
}

/// Five gigabytes, of which the disk holds one page: only a reader that streams gets through in time
/// and memory.
#[tokio::test]
async fn a_huge_file_is_not_read_whole() {
    let scene = Scene::new();
    let path = scene.write("huge.log", "line\n".repeat(10_000));
    let mut file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
    file.seek(SeekFrom::Start(5_000_000_000)).unwrap();
    file.write_all(b"end\n").unwrap();
    let text = in_time(scene.text("Read", &self::file(&path))).await;
    assert!(text.contains("[stopped after line 2000;"));
}

#[tokio::test]
async fn a_long_way_to_the_offset_can_be_interrupted() {
    let scene = Scene::new();
    let path = scene.write("huge.log", "line\n".repeat(10_000));
    std::fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(50_000_000_000).unwrap();
    let far = json!({"file_path": path, "offset": 1_000_000});
    let cancel = async {
        scene.wait_until_open(&path).await;
        scene.context.cancel.cancel();
    };
    let (text, ()) = tokio::join!(in_time(scene.error("Read", &far)), cancel);
    assert_eq!(text, "interrupted: the call was stopped before it finished");
}

#[tokio::test]
async fn pictures() {
    let scene = Scene::new();
    // Named as text on purpose: the first bytes count.
    let path = scene.write("picture.txt", b"\x89PNG\r\n\x1a\n\0\0");
    let result = scene.call("Read", &file(&path)).await;
    let ResultContent::Blocks(blocks) = result.content else { panic!("no blocks") };
    assert_eq!(blocks.len(), 1);
    assert_eq!(*blocks.first().unwrap().kind(), BlockKind::Image);
    assert_eq!(
        blocks.first().unwrap().raw(),
        r#"{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgoAAA=="}}"#
    );
    let mut large = b"\x89PNG\r\n\x1a\n".to_vec();
    large.resize(5_000_000, 1);
    let text = scene.error("Read", &file(&scene.write("large.png", large))).await;
    assert!(text.contains("has 5000000 bytes, which is more than is shown of it"), "{text}");
}

#[tokio::test]
async fn notebooks() {
    let scene = Scene::new();
    let notebook = json!({"cells": [
        {"cell_type": "code", "source": ["print(1)\n"], "outputs": [
            {"output_type": "stream", "name": "stdout", "text": ["1\n"]}]}]});
    let path = scene.write("a.ipynb", notebook.to_string());
    let text = scene.text("Read", &file(&path)).await;
    assert_eq!(text, "     1\t[cell 1: code]\n     2\tprint(1)\n     3\t[output]\n     4\t1\n");
    let broken = scene.write("b.ipynb", "not a notebook\n");
    assert_eq!(scene.text("Read", &file(&broken)).await, "     1\tnot a notebook\n");
}

#[tokio::test]
async fn what_was_read_is_remembered() {
    let scene = Scene::new();
    let path = scene.write("a", "one\r\ntwo\r\n");
    scene.text("Read", &json!({"file_path": path, "limit": 1})).await;
    let key = path.canonicalize().unwrap();
    let seen = scene.context.read_cache.lock().unwrap().get(&key).cloned().unwrap();
    assert_eq!((seen.extent, seen.content.as_str(), seen.size), (ReadExtent::Part, "one\r\n", 10));
    scene.text("Read", &file(&path)).await;
    let seen = scene.context.read_cache.lock().unwrap().get(&key).cloned().unwrap();
    assert_eq!((seen.extent, seen.content.as_str()), (ReadExtent::Whole, "one\r\ntwo\r\n"));
    assert_eq!(seen.modified, path.metadata().unwrap().modified().unwrap());
    scene.error("Read", &json!({"file_path": "missing"})).await;
    assert_eq!(scene.context.read_cache.lock().unwrap().len(), 1);
}
