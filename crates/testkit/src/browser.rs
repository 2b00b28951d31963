//! A real browser, driven over its debugging protocol through pipes: pages are opened, keys pressed, texts read, pictures
//! taken. Nothing of the user's profile is used.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::waiting::{HANGS, is_in_time};

/// Ends every message.
const END: u8 = 0;

/// A browser with one page. It ends with this value.
pub struct Browser {
    child: Child,
    input: ChildStdin,
    messages: Receiver<Value>,
    session: Option<String>,
    last: u64,
    /// Messages of the console and errors of scripts and policies.
    problems: Vec<String>,
    _profile: TempDir,
}

impl Browser {
    /// Starts the browser without a window.
    pub fn start(program: &Path) -> Self {
        let profile = tempfile::tempdir().expect("a folder for the profile");
        // The protocol is read from the third and written to the fourth file of the process.
        let script = "exec \"$0\" \"$@\" 3<&0 4>&1 1>/dev/null 2>/dev/null";
        let mut child = Command::new("sh")
            .args(["-c", script])
            .arg(program)
            .args(["--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe"])
            .args(["--no-first-run", "--hide-scrollbars", "--force-color-profile=srgb"])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .arg("about:blank")
            .env("HOME", profile.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the browser starts");
        let input = child.stdin.take().expect("a pipe");
        let output = child.stdout.take().expect("a pipe");
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            for message in BufReader::new(output).split(END).map_while(Result::ok) {
                let Ok(message) = serde_json::from_slice(&message) else { continue };
                if sender.send(message).is_err() {
                    break;
                }
            }
        });
        let mut browser = Self {
            child,
            input,
            messages,
            session: None,
            last: 0,
            problems: Vec::new(),
            _profile: profile,
        };
        browser.attach();
        browser
    }

    fn attach(&mut self) {
        let target = self.call("Target.createTarget", &json!({"url": "about:blank"}));
        let attached = self.call(
            "Target.attachToTarget",
            &json!({"targetId": target["targetId"], "flatten": true}),
        );
        self.session = attached["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page", "Runtime", "Log", "Accessibility"] {
            self.call(&format!("{domain}.enable"), &json!({}));
        }
    }

    /// Calls a method of the protocol.
    pub fn call(&mut self, method: &str, parameters: &Value) -> Value {
        self.last += 1;
        let id = self.last;
        let mut message = json!({"id": id, "method": method, "params": parameters});
        if let (Some(session), Some(message)) = (&self.session, message.as_object_mut()) {
            message.insert("sessionId".to_owned(), json!(session));
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(END);
        self.input
            .write_all(&bytes)
            .and_then(|()| self.input.flush())
            .expect("the browser listens");
        loop {
            let message = self.receive();
            if message["id"] == json!(id) {
                // The page that was asked is gone, and the one that follows it can be asked.
                let said = message["error"]["message"].as_str().unwrap_or_default();
                if method == "Runtime.evaluate" && said.contains("navigated") {
                    return self.call(method, parameters);
                }
                assert!(message["error"].is_null(), "{method}: {}", message["error"]);
                return message["result"].clone();
            }
        }
    }

    fn receive(&mut self) -> Value {
        let message = self.messages.recv_timeout(HANGS).expect("the browser answers");
        let problem = match message["method"].as_str() {
            Some("Runtime.exceptionThrown") => Some(&message["params"]["exceptionDetails"]),
            Some("Log.entryAdded") if message["params"]["entry"]["level"] == "error" => {
                Some(&message["params"]["entry"])
            }
            _ => None,
        };
        self.problems.extend(problem.map(ToString::to_string));
        message
    }

    /// Opens an address and waits until the page has loaded.
    pub fn open(&mut self, address: &str) {
        self.call("Page.navigate", &json!({"url": address}));
        while self.receive()["method"] != json!("Page.loadEventFired") {}
    }

    /// Does something that leads to another page, and waits until that has loaded.
    pub fn follow(&mut self, action: impl FnOnce(&mut Self)) {
        let mark = "window.__left = true";
        self.evaluate(mark);
        action(self);
        self.wait_for("!window.__left && document.readyState === 'complete'");
    }

    /// The value of an expression in the page.
    pub fn evaluate(&mut self, expression: &str) -> Value {
        let parameters =
            json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let result = self.call("Runtime.evaluate", &parameters);
        assert!(
            result["exceptionDetails"].is_null(),
            "{expression}: {}",
            result["exceptionDetails"]
        );
        result["result"]["value"].clone()
    }

    /// Waits until an expression in the page is true, also across pages.
    pub fn wait_for(&mut self, expression: &str) {
        let came = is_in_time(|| {
            let parameters = json!({"expression": expression, "returnByValue": true});
            self.call("Runtime.evaluate", &parameters)["result"]["value"] == json!(true)
        });
        assert!(came, "waited in vain for {expression}: {}", self.text());
    }

    /// The text of the page as a reader sees it.
    pub fn text(&mut self) -> String {
        self.evaluate("document.body.innerText").as_str().unwrap_or_default().to_owned()
    }

    /// Types a text into what has the focus.
    pub fn type_text(&mut self, text: &str) {
        self.call("Input.insertText", &json!({"text": text}));
    }

    /// Presses a key: `Tab`, `Enter`, `ArrowRight`, or a character.
    pub fn press(&mut self, key: &str) {
        let (code, text) = match key {
            "Tab" => (9, ""),
            "Enter" => (13, "\r"),
            "ArrowRight" => (39, ""),
            "End" => (35, ""),
            "/" => (191, "/"),
            " " => (32, " "),
            other => panic!("no such key: {other}"),
        };
        for kind in ["keyDown", "keyUp"] {
            let text = if kind == "keyDown" { text } else { "" };
            let event = json!({"type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code, "text": text});
            self.call("Input.dispatchKeyEvent", &event);
        }
    }

    /// Sets the size of the page and its colors.
    pub fn look(&mut self, width: u32, height: u32, scheme: &str) {
        let size =
            json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        self.call("Emulation.setDeviceMetricsOverride", &size);
        let feature = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
        self.call("Emulation.setEmulatedMedia", &feature);
    }

    /// A picture of the page, as PNG in base64.
    pub fn picture(&mut self) -> String {
        let picture = self.call("Page.captureScreenshot", &json!({"format": "png"}));
        picture["data"].as_str().unwrap_or_default().to_owned()
    }

    /// Errors of scripts and policies since the last call.
    pub fn take_problems(&mut self) -> Vec<String> {
        std::mem::take(&mut self.problems)
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ended = self.child.kill();
        let _waited = self.child.wait();
    }
}
