//! Whether the time of a refusal tells a token that is nearly right from any other.

use std::path::Path;
use std::time::{Duration, Instant};

use dormouse_team::TeamToken;

use super::connection::HttpConnection;
use super::request::IN_PATH;
use super::servers::TeamServers;

/// A server lets an address guess 20 times: so each is asked so often, and then started anew.
const GUESSES: usize = 10;
const SERVERS: usize = 40;

/// The time to refuse a token that differs from a valid one in its last character, beside that for a random one; asked in
/// turns.
pub(super) fn guesses(binary: &Path, database: &str) -> String {
    let (mut close, mut random) = (Vec::new(), Vec::new());
    let valid = TeamServers::start(binary, database, 1).token();
    let (beginning, last) = valid.split_at(valid.len() - 1);
    let nearly = format!("{beginning}{}", if last == "0" { "1" } else { "0" });
    for _ in 0..SERVERS {
        let servers = TeamServers::start(binary, database, 1);
        let server = servers.addresses().first().copied().expect("a server");
        HttpConnection::open(server, &valid).ask(&format!("GET {IN_PATH}"), "", "");
        for number in 0..GUESSES {
            let other = TeamToken::generate().expect("random bits");
            // Whichever comes first finds the server colder.
            let order = [(nearly.as_str(), &mut close), (other.expose(), &mut random)];
            let [first, second] = order;
            let order = if number % 2 == 0 { [first, second] } else { [second, first] };
            for (token, times) in order {
                times.push(refusal(HttpConnection::open(server, token)));
            }
        }
    }
    let (close, random) = (Quartiles::of(close), Quartiles::of(random));
    format!(
        "\n| {} refused tokens each | median | quartiles |\n| --- | --- | --- |\n\
         | all but the last character right | {:.0} µs | {:.0} to {:.0} |\n\
         | random | {:.0} µs | {:.0} to {:.0} |\n\
         | ratio of the medians | {:.3} | |\n",
        SERVERS * GUESSES,
        close.median,
        close.lower,
        close.upper,
        random.median,
        random.lower,
        random.upper,
        close.median / random.median,
    )
}

fn refusal(mut connection: HttpConnection) -> Duration {
    let since = Instant::now();
    let answer = connection.ask(&format!("GET {IN_PATH}"), "", "");
    let elapsed = since.elapsed();
    assert_eq!(answer.status, 401, "{}", String::from_utf8_lossy(&answer.body));
    elapsed
}

/// Times in microseconds.
struct Quartiles {
    lower: f64,
    median: f64,
    upper: f64,
}

impl Quartiles {
    fn of(mut times: Vec<Duration>) -> Self {
        times.sort_unstable();
        let at = |quarter: usize| {
            let time = times.get(times.len() * quarter / 4).copied().unwrap_or_default();
            time.as_secs_f64() * 1_000_000.0
        };
        Self { lower: at(1), median: at(2), upper: at(3) }
    }
}
