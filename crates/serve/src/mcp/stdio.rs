//! Standard input and output as the server reads and writes them.

use rmcp::RoleServer;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::io::{StdioReader, StdioWriter, stdio_pipes};

type Lines = AsyncRwTransport<RoleServer, StdioReader, StdioWriter>;

/// Messages, one per line. Messages before the first request are skipped: the library would end the connection.
pub(super) struct Stdio {
    lines: Lines,
    begun: bool,
}

impl Stdio {
    pub(super) fn of_process() -> Self {
        let (read, write) = stdio_pipes();
        Self { lines: Lines::new_server(read, write), begun: false }
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
