//! What a server tells about its models: which there are, and how large their windows are.

use futures_util::future::BoxFuture;

use serde::{Deserialize, Serialize};

use crate::client::HttpModel;
use crate::error::ModelError;
use crate::wire_format::WireFormat;

/// A model, as its server describes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelInfo {
    /// Its name.
    pub id: String,
    /// Its window, in tokens.
    pub window: Option<u32>,
    /// Its longest answer, in tokens.
    pub max_output: Option<u32>,
    /// Whether its server is a program that runs local models, by what it answers.
    pub of_local_server: bool,
}

/// The owners of models that llama.cpp, vLLM, Ollama and LM Studio name in their lists.
const LOCAL_OWNERS: &[&str] =
    &["llamacpp", "vllm", "library", "organization_owner", "organization-owner"];

/// An entry of a list of models: every server has its own name for the window.
#[derive(Deserialize, Default)]
#[serde(default)]
struct EntryIn {
    id: String,
    /// Anthropic.
    max_input_tokens: Option<u32>,
    /// Anthropic.
    max_tokens: Option<u32>,
    /// vLLM.
    max_model_len: Option<u32>,
    /// Several gateways.
    context_length: Option<u32>,
    /// LM Studio.
    loaded_context_length: Option<u32>,
    /// LM Studio.
    max_context_length: Option<u32>,
    /// llama.cpp.
    meta: Option<MetaIn>,
    owned_by: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct MetaIn {
    n_ctx: Option<u32>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct ListIn {
    data: Vec<EntryIn>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct PropsIn {
    default_generation_settings: Option<MetaIn>,
    /// Requests that the server works on at the same time.
    total_slots: Option<u32>,
}

impl From<EntryIn> for ModelInfo {
    fn from(entry: EntryIn) -> Self {
        let owner = entry.owned_by.as_deref();
        // llama.cpp and LM Studio alone tell these.
        let of_local_server = owner.is_some_and(|owner| LOCAL_OWNERS.contains(&owner))
            || entry.meta.is_some()
            || entry.loaded_context_length.is_some();
        let window = entry
            .max_input_tokens
            .or(entry.max_model_len)
            .or(entry.meta.and_then(|meta| meta.n_ctx))
            .or(entry.loaded_context_length)
            .or(entry.context_length)
            .or(entry.max_context_length)
            .filter(|window| *window > 0);
        let max_output = entry.max_tokens.filter(|tokens| *tokens > 0);
        Self { id: entry.id, window, max_output, of_local_server }
    }
}

impl HttpModel {
    /// What the server says about a model; none where it says nothing.
    pub fn info<'a>(&'a self, model: &'a str) -> BoxFuture<'a, Option<ModelInfo>> {
        Box::pin(async move {
            if self.endpoint().wire == WireFormat::Anthropic
                && let Ok(entry) =
                    self.get::<EntryIn>(&self.endpoint().url(&format!("models/{model}"))).await
                && (entry.max_input_tokens.is_some() || !entry.id.is_empty())
            {
                return Some(entry.into());
            }
            // Whatever went wrong, the request that follows will say so.
            let listed = self.models().await.ok()?;
            let found = listed.iter().find(|info| info.id == model).cloned();
            // A server with one model serves it under any name.
            let only = || if listed.len() == 1 { listed.first().cloned() } else { None };
            // Ollama names other owners for the models that its users add.
            let of_local_server = listed.iter().any(|info| info.of_local_server);
            let info = ModelInfo { of_local_server, ..found.or_else(only)? };
            if info.window.is_some() {
                return Some(info);
            }
            Some(ModelInfo { window: self.window_from_props().await, ..info })
        })
    }

    /// The models the server lists; none for a server that has no such list.
    pub fn models(&self) -> BoxFuture<'_, Result<Vec<ModelInfo>, ModelError>> {
        Box::pin(async move {
            let list: ListIn = self.get(&self.endpoint().url("models")).await?;
            Ok(list.data.into_iter().map(Into::into).collect())
        })
    }

    /// The models the server lists, or why it would not: a key that it does not take is an error here.
    pub fn check(&self) -> BoxFuture<'_, Result<Vec<ModelInfo>, ModelError>> {
        Box::pin(async move {
            let response = self.open(&self.endpoint().url("models")).await?;
            match response.status().as_u16() {
                // It has no such list; that is no reason to think that it does not work.
                404 | 405 | 501 => return Ok(Vec::new()),
                200..300 => {}
                _ => return Err(self.refusal(response).await),
            }
            let patience = self.endpoint().timeouts.info;
            let body =
                tokio::time::timeout(patience, self.read_some(response)).await.unwrap_or_default();
            let list: ListIn = serde_json::from_str(&body).unwrap_or_default();
            Ok(list.data.into_iter().map(Into::into).collect())
        })
    }

    fn open<'a>(&'a self, url: &'a str) -> BoxFuture<'a, Result<reqwest::Response, ModelError>> {
        Box::pin(async move {
            let request = self.client()?.get(url).headers(self.endpoint().headers()?).send();
            let patience = self.endpoint().timeouts.info;
            match tokio::time::timeout(patience, request).await {
                Err(_) => Err(ModelError::Stalled(patience)),
                Ok(Err(error)) => Err(self.no_connection(url.to_owned(), &error)),
                Ok(Ok(response)) => Ok(response),
            }
        })
    }

    /// llama.cpp before it put the window into its list.
    async fn window_from_props(&self) -> Option<u32> {
        self.props().await?.default_generation_settings?.n_ctx
    }

    /// How many requests a local server works on at the same time; none where it does not say.
    pub fn slots(&self) -> BoxFuture<'_, Option<u32>> {
        Box::pin(async move { self.props().await?.total_slots })
    }

    async fn props(&self) -> Option<PropsIn> {
        let base = self.endpoint().base_url.trim_end_matches('/').trim_end_matches("/v1");
        self.get(&format!("{base}/props")).await.ok()
    }

    /// A small JSON document. One that does not exist, or is something else, counts as empty; only a
    /// server that cannot be reached is an error.
    async fn get<T: serde::de::DeserializeOwned + Default>(
        &self,
        url: &str,
    ) -> Result<T, ModelError> {
        let response = self.open(url).await?;
        if !response.status().is_success() {
            return Ok(T::default());
        }
        let patience = self.endpoint().timeouts.info;
        let body =
            tokio::time::timeout(patience, self.read_some(response)).await.unwrap_or_default();
        Ok(serde_json::from_str(&body).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(json: &str, window: Option<u32>, max_output: Option<u32>) {
        let info = ModelInfo::from(serde_json::from_str::<EntryIn>(json).unwrap());
        assert_eq!((info.window, info.max_output), (window, max_output), "{json}");
    }

    #[test]
    fn windows_under_every_name() {
        check(
            r#"{"id":"a","max_input_tokens":1000000,"max_tokens":128000}"#,
            Some(1_000_000),
            Some(128_000),
        );
        check(r#"{"id":"a","max_model_len":8192}"#, Some(8_192), None);
        check(r#"{"id":"a","meta":{"n_ctx":4096,"n_ctx_train":8192}}"#, Some(4_096), None);
        check(
            r#"{"id":"a","max_context_length":32768,"loaded_context_length":4096}"#,
            Some(4_096),
            None,
        );
        check(r#"{"id":"a","meta":null}"#, None, None);
    }

    #[test]
    fn servers_of_local_models_are_known_by_what_they_answer() {
        for (entry, is_local) in [
            (r#"{"id":"a","owned_by":"llamacpp"}"#, true),
            (r#"{"id":"a","owned_by":"library"}"#, true),
            (r#"{"id":"a","owned_by":"organization_owner"}"#, true),
            (r#"{"id":"a","owned_by":"vllm","max_model_len":8192}"#, true),
            (r#"{"id":"a","meta":{"n_ctx":4096}}"#, true),
            (r#"{"id":"gpt-5","owned_by":"system"}"#, false),
            (r#"{"id":"a","context_length":8192,"max_model_len":8192}"#, false),
            (r#"{"id":"claude","max_input_tokens":200000}"#, false),
        ] {
            let info = ModelInfo::from(serde_json::from_str::<EntryIn>(entry).unwrap());
            assert_eq!(info.of_local_server, is_local, "{entry}");
        }
    }
}
