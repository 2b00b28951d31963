//! One type for the transports of all servers: the protocol's library is compiled once for each type that it is given.

use std::io;

use dormouse_base::innermost_error;
use futures_util::future::{FutureExt, TryFutureExt};
use rmcp::RoleClient;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::streamable_http_client::StreamableHttpError;
use thiserror::Error;

use crate::http::{HttpError, HttpTransport};
use crate::stdio::Pipes;

/// How messages go to a server.
pub(crate) enum ServerTransport {
    /// A program's pipes.
    Pipes(Pipes),
    /// Streamable HTTP.
    Web(HttpTransport),
}

/// An error of either.
#[derive(Debug, Error)]
pub(crate) enum ServerTransportError {
    #[error(transparent)]
    Pipes(#[from] io::Error),
    #[error(transparent)]
    Web(#[from] StreamableHttpError<HttpError>),
}

/// The useful part of an error of the transport.
pub(crate) fn describe_transport(error: &(dyn std::error::Error + 'static)) -> String {
    match error.downcast_ref() {
        Some(ServerTransportError::Web(StreamableHttpError::Client(error))) => error.to_string(),
        _ => innermost_error(error).to_string(),
    }
}

impl Transport<RoleClient> for ServerTransport {
    type Error = ServerTransportError;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        match self {
            Self::Pipes(pipes) => pipes.send(message).err_into().boxed(),
            Self::Web(web) => web.send(message).err_into().boxed(),
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        match self {
            Self::Pipes(pipes) => pipes.receive().await,
            Self::Web(web) => web.receive().await,
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        match self {
            Self::Pipes(pipes) => Ok(pipes.close().await?),
            Self::Web(web) => Ok(web.close().await?),
        }
    }
}
