//! Changes that are made once: a request that is sent again gets the first one's answer (T-17).

use futures_util::future::BoxFuture;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::change_key::{ChangeKey, Claim, claim, kept, read_kept};
use super::error::StorageError;
use super::sql::{SqlAccess, SqlConnection};
use super::store::TeamStore;

impl TeamStore {
    /// Makes a change, unless a request with this key has made it. Without a key it is just made.
    pub(super) async fn once<T, W>(
        &self,
        key: Option<ChangeKey>,
        work: W,
    ) -> Result<T, StorageError>
    where
        T: Serialize + DeserializeOwned + Send + 'static,
        W: for<'c> FnOnce(&'c mut dyn SqlConnection) -> BoxFuture<'c, Result<T, StorageError>>
            + Send
            + 'static,
    {
        let work = self.database.run(SqlAccess::Write, move |db| {
            Box::pin(async move {
                let Some(key) = key else { return work(db).await };
                match claim(db, &key).await? {
                    Claim::Answered(answer) => read_kept(&answer),
                    Claim::First => {
                        let done = work(db).await?;
                        db.query_all(vec![key.keep(kept(&done))]).await?;
                        Ok(done)
                    }
                }
            })
        });
        work.await
    }
}
