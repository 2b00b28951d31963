//! A viewer that runs, and requests to it, byte by byte.

use std::io::{Read, Write};
use std::net::TcpStream;

use dormouse_testkit::{HANGS, Running, TestHome};

use crate::program::dormouse;

/// A running viewer, and the cookie that its code was exchanged for.
pub(crate) struct ViewerClient {
    /// It ends with this value.
    _running: Running,
    pub(crate) address: String,
    pub(crate) entry: String,
    pub(crate) cookie: String,
}

/// A response.
pub(crate) struct ViewerReply {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl ViewerReply {
    pub(crate) fn header(&self, name: &str) -> Option<String> {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.to_owned())
    }

    /// The value of a hidden field.
    pub(crate) fn field(&self, name: &str) -> String {
        let start = format!("name=\"{name}\" value=\"");
        let rest =
            self.body.split(&start).nth(1).unwrap_or_else(|| panic!("{name}: {}", self.body));
        rest.split('"').next().unwrap().to_owned()
    }

    #[track_caller]
    pub(crate) fn ok(self) -> Self {
        assert_eq!(self.status, 200, "{}\n{}", self.head, self.body);
        self
    }
}

impl ViewerClient {
    /// Starts a viewer, without exchanging its code.
    pub(crate) fn start(home: &TestHome, arguments: &[&str]) -> Self {
        let running = home.spawn(&mut dormouse(home, &[&["ui", "--no-open"], arguments].concat()));
        running.wait_for_stdout(|text| text.contains('\n'));
        let url = running.stdout().trim().to_owned();
        let (address, entry) = url.strip_prefix("http://").unwrap().split_once('/').unwrap();
        let (address, entry) = (address.to_owned(), format!("/{entry}"));
        Self { _running: running, address, entry, cookie: String::new() }
    }

    /// Starts a viewer and exchanges the code, as a browser would.
    pub(crate) fn open(home: &TestHome, arguments: &[&str]) -> Self {
        let mut viewer = Self::start(home, arguments);
        let welcome = viewer.get(&viewer.entry.clone()).ok();
        let cookie = welcome.header("set-cookie").unwrap();
        cookie.split(';').next().unwrap().clone_into(&mut viewer.cookie);
        viewer
    }

    /// A request with these headers beside the usual ones; one that is given replaces the usual one, an empty one is left out.
    pub(crate) fn send(&self, line: &str, headers: &[(&str, &str)], body: &str) -> ViewerReply {
        let length = body.len().to_string();
        let usual = [
            ("Host", self.address.as_str()),
            ("Cookie", &self.cookie),
            ("Content-Length", &length),
            ("Connection", "close"),
        ];
        let mut text = format!("{line} HTTP/1.1\r\n");
        let kept = usual.iter().filter(|(name, _)| !headers.iter().any(|(own, _)| own == name));
        for (name, value) in kept.chain(headers).filter(|(_, value)| !value.is_empty()) {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        let mut stream = TcpStream::connect(&self.address).unwrap();
        // For a server that hangs.
        stream.set_read_timeout(Some(HANGS)).unwrap();
        stream.write_all(format!("{text}\r\n{body}").as_bytes()).unwrap();
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        ViewerReply { status, head: head.to_owned(), body: body.to_owned() }
    }

    pub(crate) fn get(&self, path: &str) -> ViewerReply {
        self.send(&format!("GET {path}"), &[], "")
    }

    /// A form, as the viewer's own page sends it.
    pub(crate) fn post(&self, path: &str, fields: &[(&str, &str)]) -> ViewerReply {
        let origin = format!("http://{}", self.address);
        self.post_from(path, fields, &[("Origin", &origin)])
    }

    /// A form with these headers.
    pub(crate) fn post_from(
        &self,
        path: &str,
        fields: &[(&str, &str)],
        headers: &[(&str, &str)],
    ) -> ViewerReply {
        let body: Vec<String> =
            fields.iter().map(|(name, value)| format!("{name}={}", encoded(value))).collect();
        let kind = ("Content-Type", "application/x-www-form-urlencoded");
        self.send(&format!("POST {path}"), &[&[kind], headers].concat(), &body.join("&"))
    }

    /// The token that forms carry.
    pub(crate) fn token(&self, page: &str) -> String {
        self.get(page).ok().field("token")
    }
}

/// A text in an address or a form.
pub(crate) fn encoded(text: &str) -> String {
    let byte = |byte: u8| {
        if byte.is_ascii_alphanumeric() {
            char::from(byte).to_string()
        } else {
            format!("%{byte:02X}")
        }
    };
    text.bytes().map(byte).collect()
}

/// Adds a memory of the project.
pub(crate) fn add_memory(home: &TestHome, name: &str, description: &str, body: &str) {
    let arguments = [
        "memory",
        "add",
        name,
        "--description",
        description,
        "--body",
        body,
        "--type",
        "project",
        "--new",
    ];
    home.run(&mut dormouse(home, &arguments)).success();
}
