//! `TodoWrite`: the list is kept, shown and bounded.

use dormouse_tools::TodoStatus;
use serde_json::{Value, json};

use crate::Scene;

fn todo(content: &str, status: &str) -> Value {
    json!({"content": content, "status": status})
}

#[tokio::test]
async fn the_list_is_kept_and_shown() {
    let scene = Scene::new();
    let items = [
        todo("read the code", "completed"),
        todo("fix\nit", "in_progress"),
        todo("test it", "pending"),
    ];
    let text = scene.text("TodoWrite", &json!({"todos": items})).await;
    assert_eq!(text, "[x] read the code\n[>] fix it\n[ ] test it\n1 of 3 done");
    let kept = scene.context.todos.lock().unwrap().clone();
    assert_eq!((kept.items.len(), kept.items[1].status), (3, TodoStatus::InProgress));
    assert_eq!(scene.text("TodoWrite", &json!({"todos": []})).await, "the list is empty");
    assert!(scene.context.todos.lock().unwrap().items.is_empty());
}

#[tokio::test]
async fn two_at_once_are_warned_about() {
    let scene = Scene::new();
    let items = [todo("a", "in_progress"), todo("b", "in_progress")];
    let text = scene.text("TodoWrite", &json!({"todos": items})).await;
    assert!(text.ends_with("[2 entries are in progress; keep it to one at a time]"), "{text}");
}

#[tokio::test]
async fn what_is_no_list() {
    let scene = Scene::new();
    let many: Vec<Value> = (0..101).map(|_| todo("a", "pending")).collect();
    for (todos, expected) in [
        (json!(many), "has 101 entries, and a list has at most 100; put steps together"),
        (json!([todo(" ", "pending")]), "the `content` of entry 1 has 0 characters"),
        (json!([todo("a", "begun")]), "`todos`: unknown variant `begun`"),
        (json!("a"), "`todos`: invalid type: string"),
    ] {
        let text = scene.error("TodoWrite", &json!({"todos": todos})).await;
        assert!(text.contains(expected), "{text}");
        assert!(scene.context.todos.lock().unwrap().items.is_empty());
    }
    scene.text("TodoWrite", &json!({"todos": many[..100]})).await;
}
