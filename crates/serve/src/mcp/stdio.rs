//! The server on standard input and output.

use std::sync::Arc;

use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::io::{StdioReader, StdioWriter, stdio_pipes};
use rmcp::{RoleServer, ServiceExt};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream};
use tokio::task::JoinSet;

use super::connection::ClientConnection;
use super::error::ServeError;
use super::server::MemoryServer;
use super::surrogates::without_lone_surrogates;

/// Serves one client on standard input and output, until it closes them.
pub async fn serve_stdio(server: MemoryServer) -> Result<(), ServeError> {
    let connection = ClientConnection::new(Arc::new(server));
    let running = match connection.serve(Stdio::of_process()).await {
        Ok(running) => running,
        // A client that only checked whether the program starts.
        Err(rmcp::service::ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => return Err(ServeError::Start(error.to_string())),
    };
    running.waiting().await.map(drop).map_err(|error| ServeError::Broken(error.to_string()))
}

type Lines = AsyncRwTransport<RoleServer, DuplexStream, StdioWriter>;

/// The bytes that wait between reading and handling.
const BUFFER: usize = 64 * 1024;

/// Messages, one per line. Messages before the first request are skipped: the library would end the connection.
struct Stdio {
    lines: Lines,
    begun: bool,
    /// Mends lines on their way in; ends with the connection.
    _reading: JoinSet<()>,
}

impl Stdio {
    fn of_process() -> Self {
        let (read, write) = stdio_pipes();
        let (mended, to_mend) = tokio::io::duplex(BUFFER);
        let mut reading = JoinSet::new();
        reading.spawn(mend_lines(read, to_mend));
        Self { lines: Lines::new_server(mended, write), begun: false, _reading: reading }
    }
}

/// Hands lines on, until one side closes.
async fn mend_lines(read: StdioReader, mut write: DuplexStream) {
    let mut read = BufReader::new(read);
    let mut line = Vec::new();
    while let Ok(1..) = read.read_until(b'\n', &mut line).await {
        if write.write_all(&without_lone_surrogates(&line)).await.is_err() {
            return;
        }
        line.clear();
    }
}

impl Transport<RoleServer> for Stdio {
    type Error = std::io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.lines.send(message)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            let message = self.lines.receive().await?;
            self.begun |= matches!(message, RxJsonRpcMessage::<RoleServer>::Request(_));
            if self.begun {
                return Some(message);
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.lines.close().await
    }
}
