//! Vectors from an OpenAI-compatible server (`/v1/embeddings`).
//!
//! What comes is bounded and put into the order of the texts; whether the numbers make sense is for the caller to
//! say, who knows what they are for.

use futures_util::future::BoxFuture;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::client::HttpModel;
use crate::endpoint::Endpoint;
use crate::error::ModelError;

/// A server that makes vectors of texts.
pub struct EmbeddingClient {
    http: HttpModel,
    model: String,
}

#[derive(Serialize)]
struct BodyOut<'a> {
    model: &'a str,
    input: &'a [&'a str],
    encoding_format: &'static str,
}

#[derive(Deserialize)]
struct BodyIn {
    data: Vec<VectorIn>,
}

#[derive(Deserialize)]
struct VectorIn {
    index: Option<usize>,
    embedding: Vec<f32>,
}

/// A hundred long vectors as text take a few megabytes.
const LARGEST_ANSWER: usize = 32 * 1024 * 1024;

impl EmbeddingClient {
    /// A model of a server.
    pub fn new(endpoint: Endpoint, model: &str) -> Self {
        Self { http: HttpModel::new(endpoint), model: model.to_owned() }
    }

    /// Asks for a vector of each text, and waits no longer than this for all of them.
    pub fn embed<'a>(
        &'a self,
        texts: &'a [&'a str],
        patience: Duration,
    ) -> BoxFuture<'a, Result<Vec<Vec<f32>>, ModelError>> {
        Box::pin(async move {
            let asked = tokio::time::timeout(patience, self.ask(texts)).await;
            asked.unwrap_or(Err(ModelError::Stalled(patience)))
        })
    }

    async fn ask(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, ModelError> {
        let endpoint = self.http.endpoint();
        let body = BodyOut { model: &self.model, input: texts, encoding_format: "float" };
        let body = serde_json::to_vec(&body).map_err(|error| malformed(&error))?;
        let url = endpoint.url("embeddings");
        let request = self.http.client()?.post(&url).headers(endpoint.headers()?).body(body);
        let response =
            request.send().await.map_err(|error| self.http.no_connection(url, &error))?;
        if !response.status().is_success() {
            return Err(self.http.refusal(response).await);
        }
        let answer: BodyIn =
            serde_json::from_slice(&all(response).await?).map_err(|error| malformed(&error))?;
        Ok(in_order(answer.data))
    }
}

fn malformed(error: &dyn std::fmt::Display) -> ModelError {
    ModelError::Malformed(error.to_string())
}

async fn all(mut response: reqwest::Response) -> Result<Vec<u8>, ModelError> {
    let mut bytes = Vec::new();
    loop {
        match response.chunk().await {
            Ok(Some(piece)) if bytes.len() + piece.len() <= LARGEST_ANSWER => {
                bytes.extend_from_slice(&piece);
            }
            Ok(Some(_)) => {
                return Err(ModelError::Malformed("it is longer than 32 MiB".to_owned()));
            }
            Ok(None) => return Ok(bytes),
            Err(error) => return Err(ModelError::BrokenStream(error.to_string())),
        }
    }
}

/// By their numbers, where all have one: servers may answer in any order.
fn in_order(mut data: Vec<VectorIn>) -> Vec<Vec<f32>> {
    if data.iter().all(|vector| vector.index.is_some()) {
        data.sort_by_key(|vector| vector.index);
    }
    data.into_iter().map(|vector| vector.embedding).collect()
}
