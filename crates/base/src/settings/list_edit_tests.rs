//! Lists that get an element and lose it again: odd files, any order, what another process does meanwhile.

use super::*;

fn keys(path: &str) -> Vec<String> {
    path.split('.').map(str::to_owned).collect()
}

const DENY: &str = "permissions.deny";
const ASK: &str = "permissions.ask";

const FILES: &[&str] = &[
    "{}",
    "{ }",
    "{\n}",
    "{\"model\":\"a\"}",
    "{\n  \"model\": \"a\"\n}\n",
    "{\r\n\t\"model\": \"a\",\r\n\t\"z\": 1.50\r\n}",
    "{\"permissions\":{}}",
    "{\"permissions\": { } , \"model\" :\"a\"}",
    "{\n  \"permissions\": {\n    \"deny\": [\n    ]\n  }\n}",
    "{\"permissions\":{\"deny\":[]}}",
    "{\"permissions\":{\"deny\":[\"Read(.env)\"],\"allow\":[]}}\n\n",
    "\u{feff}{\n \"permissions\" : {\n  \"deny\" : [ \"A\"\n , \"B\" ]\n }\n}\n",
    "{\"permissions\":{\"deny\":[\"第一\"]}, \"permissions\":{\"deny\":[\"x\"]}}",
];

fn add(text: &str, list: &str, element: &str) -> ListAddition {
    let extended = add_to_list(text, &keys(list), &Value::from(element)).unwrap().unwrap();
    let plain = extended.text.trim_start_matches('\u{feff}');
    let value: Value = serde_json::from_str(plain).unwrap();
    let found = value.pointer(&format!("/{}", list.replace('.', "/"))).unwrap();
    assert!(found.as_array().unwrap().contains(&Value::from(element)), "{plain}");
    extended
}

fn take(text: &str, list: &str, element: &str) -> String {
    remove_from_list(text, &keys(list), &Value::from(element)).unwrap().unwrap()
}

fn prune(mut text: String, made: &[Vec<String>]) -> String {
    for keys in made.iter().rev() {
        text = remove_if_empty(&text, keys).unwrap().unwrap_or(text);
    }
    text
}

#[test]
fn what_was_put_in_comes_out_without_a_trace() {
    for file in FILES {
        let one = add(file, DENY, "Bash(rm:*)");
        assert!(is_in_list(&one.text, &keys(DENY), &Value::from("Bash(rm:*)")));
        assert_eq!(prune(take(&one.text, DENY, "Bash(rm:*)"), &one.created), *file);
        assert_eq!(add_to_list(&one.text, &keys(DENY), &Value::from("Bash(rm:*)")).unwrap(), None);
    }
}

#[test]
fn several_come_out_in_any_order() {
    let lists = [(DENY, "X"), (DENY, "Y"), (ASK, "Z")];
    let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
    for file in FILES {
        let (mut text, mut made) = ((*file).to_owned(), Vec::new());
        for (list, element) in lists {
            let more = add(&text, list, element);
            text = more.text;
            made.extend(more.created);
        }
        made.sort_by_key(Vec::len);
        for order in orders {
            let mut shorter = text.clone();
            for at in order {
                let (list, element) = lists[at];
                shorter = prune(take(&shorter, list, element), &made);
            }
            assert_eq!(shorter, *file, "{order:?}");
        }
    }
}

#[test]
fn it_looks_like_what_is_there() {
    let lines =
        "{\n    \"permissions\": {\n        \"deny\": [\n            \"A\"\n        ]\n    }\n}\n";
    assert_eq!(add(lines, DENY, "B").text, lines.replace("\"A\"", "\"A\",\n            \"B\""));
    let flat = r#"{"permissions":{"deny":["A"]}}"#;
    assert_eq!(add(flat, DENY, "B").text, r#"{"permissions":{"deny":["A", "B"]}}"#);
    assert_eq!(add("", DENY, "B").text, "{\n  \"permissions\": {\"deny\": [\"B\"]}\n}\n");
    let model = "{\n  \"model\": \"a\"\n}\n";
    let with = "{\n  \"model\": \"a\",\n  \"permissions\": {\"deny\": [\"B\"]}\n}\n";
    assert_eq!(add(model, DENY, "B").text, with);
}

#[test]
fn what_somebody_has_changed_since_stays_changed() {
    let added = add("{\"model\":\"a\"}", DENY, "X");
    let pretty: Value = serde_json::from_str(&added.text).unwrap();
    let pretty = serde_json::to_string_pretty(&pretty).unwrap().replace("\"X\"", "\"X\", \"mine\"");
    let without = prune(take(&pretty, DENY, "X"), &added.created);
    let value: Value = serde_json::from_str(&without).unwrap();
    assert_eq!(value["permissions"]["deny"], serde_json::json!(["mine"]));
    assert_eq!(remove_from_list(&without, &keys(DENY), &Value::from("X")).unwrap(), None);
}

#[test]
fn what_is_no_list_is_not_touched() {
    for text in
        ["{\"permissions\":[]}", "{\"permissions\":{\"deny\":{}}}", "{\"permissions\":5}", "[]"]
    {
        assert!(add_to_list(text, &keys(DENY), &Value::from("X")).is_err(), "{text}");
    }
    for text in ["{", "{\"a\":}", "{} x", "nonsense"] {
        assert!(matches!(
            add_to_list(text, &keys(DENY), &Value::from("X")),
            Err(ListEditError::Text(_))
        ));
    }
}
