//! What servers said about their models, remembered: a start does not ask again what was answered within a day, and a server that
//! is too busy to answer keeps the window that it told last time. A local server is asked each time: it may have been started
//! with another window since.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use dormouse_base::{Clock, Dir, RelPath};
use dormouse_model::{HttpModel, Model, ModelInfo};
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use tokio::task::JoinSet;

use crate::message_catalog::msg;
use crate::wiring::print;
use crate::wiring::world::World;

/// After so long a server is asked again, beside the first request.
const ASK_AGAIN: SignedDuration = SignedDuration::from_hours(24);
/// The file, in the cache folder of the home.
const FILE: &str = "models.json";

/// The answers of servers, in a file of the home.
#[derive(Clone)]
pub(crate) struct RememberedModels {
    cache: PathBuf,
    clock: Arc<dyn Clock>,
}

/// By server and model.
type Answers = BTreeMap<String, Answer>;

#[derive(Clone, Serialize, Deserialize)]
struct Answer {
    at: Timestamp,
    info: ModelInfo,
}

/// What is known about a model at the start of a session.
#[derive(Default)]
pub(crate) struct KnownModel {
    pub(crate) info: Option<ModelInfo>,
    /// The server is to be asked while the first request runs.
    ask_later: bool,
}

impl RememberedModels {
    pub(crate) fn of(world: &World) -> Option<Self> {
        let cache = world.home().ok()?.join("cache");
        Some(Self { cache, clock: Arc::clone(&world.clock) })
    }

    fn answers(&self) -> Answers {
        let text = std::fs::read(self.cache.join(FILE)).unwrap_or_default();
        // What cannot be read is asked again.
        serde_json::from_slice(&text).unwrap_or_default()
    }

    fn remember(&self, key: String, info: ModelInfo) {
        let mut answers = self.answers();
        answers.insert(key, Answer { at: self.clock.now(), info });
        let text = serde_json::to_vec(&answers).unwrap_or_default();
        let written = RelPath::new(FILE).map_err(|error| error.to_string()).and_then(|name| {
            let folder = Dir::create(&self.cache).map_err(|error| error.to_string())?;
            folder.replace(&name, &text).map_err(|error| error.to_string())
        });
        // The next start asks again: nothing is lost but time.
        drop(written);
    }
}

/// What the server says about a model, or said last; says so where it does not answer in time and nothing is remembered.
pub(crate) async fn known_model(http: &HttpModel, model: &str, world: &World) -> KnownModel {
    let remembered = RememberedModels::of(world);
    let key = key(http, model);
    let last = remembered.as_ref().and_then(|models| models.answers().remove(&key));
    if let Some(Answer { at, info }) = &last
        && !is_local(http)
    {
        let age = world.clock.now().duration_since(*at);
        return KnownModel { info: Some(info.clone()), ask_later: age >= ASK_AGAIN };
    }
    let patience = world.deadlines.model_info;
    match tokio::time::timeout(patience, http.info(model)).await {
        Ok(info) => {
            if let (Some(models), Some(info)) = (remembered, &info)
                && last.is_none_or(|last| last.info != *info)
            {
                models.remember(key, info.clone());
            }
            KnownModel { info, ask_later: false }
        }
        Err(_) => {
            if last.is_none() {
                let seconds = patience.as_secs();
                print::note(&msg!("model-info-late", model = model, seconds = seconds));
            }
            KnownModel { info: last.map(|last| last.info), ask_later: true }
        }
    }
}

impl KnownModel {
    /// Asks the server while the session goes on, where that is due: the next session knows the answer.
    pub(crate) fn refresh(&self, model: &Arc<Model>, name: &str, world: &World) {
        let Some(remembered) = RememberedModels::of(world).filter(|_| self.ask_later) else {
            return;
        };
        let (model, name) = (Arc::clone(model), name.to_owned());
        let mut asking = JoinSet::new();
        asking.spawn(async move {
            if let Model::Http(http) = &*model
                && let Some(info) = http.info(&name).await
            {
                remembered.remember(key(http, &name), info);
            }
        });
        // Nothing waits for it: what it writes is a cache, whole or not at all.
        asking.detach_all();
    }
}

fn key(http: &HttpModel, model: &str) -> String {
    format!("{} {model}", http.endpoint().shown_url())
}

/// A server of local models on this machine.
fn is_local(http: &HttpModel) -> bool {
    let endpoint = http.endpoint();
    endpoint.is_local() && endpoint.wire == dormouse_model::WireFormat::OpenAi
}
