//! Finds kinds by name, and asks the server again for those that may have been installed since.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::connection::Connection;
use super::discovery::{Discovery, Served, discover};
use super::error::Error;

/// All kinds that a server is known to serve.
pub struct Catalogue {
    connection: Connection,
    known: Mutex<Arc<Discovery>>,
    /// When the server was last asked; held while it is, so that it is asked once.
    asked: tokio::sync::Mutex<Option<Instant>>,
}

/// After a miss the server is asked again at most this often.
const AGAIN: Duration = Duration::from_secs(5);

impl Catalogue {
    #[must_use]
    pub fn new(connection: Connection) -> Self {
        Self { connection, known: Mutex::default(), asked: tokio::sync::Mutex::new(None) }
    }

    /// Takes over what was discovered elsewhere.
    pub fn learn(&self, discovery: Discovery) {
        *self.known.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(discovery);
    }

    #[must_use]
    pub fn known(&self) -> Arc<Discovery> {
        Arc::clone(&self.known.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The kinds that a word may mean, as [`Discovery::named`]; several are for the user to choose from.
    ///
    /// # Errors
    /// Nothing is known by this name, and the server cannot be asked.
    pub async fn find(&self, word: &str, deadline: Duration) -> Result<Vec<Served>, Error> {
        let found = self.named(word);
        if !found.is_empty() {
            return Ok(found);
        }
        let mut asked = self.asked.lock().await;
        if asked.is_none_or(|at| at.elapsed() >= AGAIN) {
            *asked = Some(Instant::now());
            self.learn(discover(&self.connection, deadline).await?);
        }
        Ok(self.named(word))
    }

    fn named(&self, word: &str) -> Vec<Served> {
        self.known().named(word).into_iter().cloned().collect()
    }
}
