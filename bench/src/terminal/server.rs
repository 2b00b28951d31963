//! A model server that streams one answer at its pace, in the three formats that the programs speak.

use std::io::{BufRead, BufReader, Read, Result, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use serde_json::{Value, json};

/// Between two pieces of the answer.
pub(super) const PACE: Duration = Duration::from_millis(10);
/// A message with this word and a number is answered at once, with the number.
pub(super) const SHORT: &str = "short";
/// Characters of a piece.
const PIECE: usize = 12;

/// Serves the answer to every request; returns the address.
pub(super) fn serve(answer: String) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let answer = answer.clone();
            // A client that hangs up ends its own connection only.
            std::thread::spawn(move || drop(reply(stream, &answer)));
        }
    });
    url
}

fn reply(mut stream: TcpStream, answer: &str) -> Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        if let Some(number) = line.to_lowercase().strip_prefix("content-length:") {
            length = number.trim().parse().unwrap_or(0);
        }
        if line.trim().is_empty() {
            break;
        }
        head.push_str(&line);
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let request = head.lines().next().unwrap_or_default();
    if !request.starts_with("POST") {
        let models = json!({ "data": [{ "id": "paced" }], "models": [] }).to_string();
        let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close";
        return write!(stream, "{head}\r\ncontent-length: {}\r\n\r\n{models}", models.len());
    }
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    stream.write_all(head.as_bytes())?;
    let short = short_answer(&body);
    let answer = short.as_deref().unwrap_or(answer);
    let letters: Vec<char> = answer.chars().collect();
    let pieces = letters.chunks(PIECE).map(|piece| piece.iter().collect::<String>());
    if request.contains("/messages") {
        messages(&mut stream, pieces)
    } else if request.contains("/responses") {
        responses(&mut stream, pieces, answer)
    } else {
        completions(&mut stream, pieces)
    }
}

/// The answer to a short message, if the last one of a request is one.
fn short_answer(body: &[u8]) -> Option<String> {
    let body: Value = serde_json::from_slice(body).ok()?;
    let last = body.get("messages")?.as_array()?.last()?.get("content")?.to_string();
    let (_, number) = last.split_once(&format!("{SHORT} "))?;
    let digits: String = number.chars().take_while(char::is_ascii_digit).collect();
    Some(format!("done {digits}."))
}

fn event(stream: &mut TcpStream, data: &Value) -> Result<()> {
    let name = data.get("type").and_then(Value::as_str).unwrap_or_default();
    write!(stream, "event: {name}\ndata: {data}\n\n")
}

fn messages(stream: &mut TcpStream, pieces: impl Iterator<Item = String>) -> Result<()> {
    let usage = json!({ "input_tokens": 1, "output_tokens": 1 });
    let message = json!({ "id": "m", "type": "message", "role": "assistant", "model": "paced", "content": [],
        "stop_reason": null, "stop_sequence": null, "usage": usage });
    event(stream, &json!({ "type": "message_start", "message": message }))?;
    let block = json!({ "type": "text", "text": "" });
    event(stream, &json!({ "type": "content_block_start", "index": 0, "content_block": block }))?;
    for piece in pieces {
        let delta = json!({ "type": "text_delta", "text": piece });
        event(stream, &json!({ "type": "content_block_delta", "index": 0, "delta": delta }))?;
        std::thread::sleep(PACE);
    }
    event(stream, &json!({ "type": "content_block_stop", "index": 0 }))?;
    let delta = json!({ "stop_reason": "end_turn", "stop_sequence": null });
    let usage = json!({ "output_tokens": 9 });
    event(stream, &json!({ "type": "message_delta", "delta": delta, "usage": usage }))?;
    event(stream, &json!({ "type": "message_stop" }))
}

fn responses(
    stream: &mut TcpStream,
    pieces: impl Iterator<Item = String>,
    answer: &str,
) -> Result<()> {
    let item = |content: Value| json!({ "type": "message", "role": "assistant", "id": "i", "content": content });
    event(stream, &json!({ "type": "response.created", "response": { "id": "r" } }))?;
    event(
        stream,
        &json!({ "type": "response.output_item.added", "output_index": 0, "item": item(json!([])) }),
    )?;
    for piece in pieces {
        let delta = json!({ "type": "response.output_text.delta", "item_id": "i", "output_index": 0,
            "content_index": 0, "delta": piece });
        event(stream, &delta)?;
        std::thread::sleep(PACE);
    }
    let whole = item(json!([{ "type": "output_text", "text": answer }]));
    event(
        stream,
        &json!({ "type": "response.output_item.done", "output_index": 0, "item": whole }),
    )?;
    let usage = json!({ "input_tokens": 1, "output_tokens": 1, "total_tokens": 2,
        "input_tokens_details": null, "output_tokens_details": null });
    event(
        stream,
        &json!({ "type": "response.completed", "response": { "id": "r", "usage": usage } }),
    )
}

fn completions(stream: &mut TcpStream, pieces: impl Iterator<Item = String>) -> Result<()> {
    let chunk = |delta: Value, finish: Option<&str>| {
        let choice = json!({ "index": 0, "delta": delta, "finish_reason": finish });
        json!({ "id": "p", "object": "chat.completion.chunk", "model": "paced", "choices": [choice] })
    };
    for piece in pieces {
        write!(stream, "data: {}\n\n", chunk(json!({ "content": piece }), None))?;
        std::thread::sleep(PACE);
    }
    write!(stream, "data: {}\n\ndata: [DONE]\n\n", chunk(json!({}), Some("stop")))
}
