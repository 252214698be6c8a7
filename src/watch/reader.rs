//! Reads objects into batches beside the task that fetches their bytes, and keeps everything in order.

use tokio::sync::{mpsc, oneshot};

use super::follow::Settled;
use super::message::FeedMsg;
use super::split::{Chunk, Verb};
use crate::model::{Batch, Delta, Kind, Place};

/// What a feed hands on.
pub(super) enum Parcel {
    Objects { epoch: u32, chunk: Chunk },
    Message(FeedMsg),
    Settled(oneshot::Sender<Settled>, Settled),
}

/// Works parcels off in order until the feed ends or nobody listens.
pub(super) async fn read_parcels(kind: Kind, place: Place, mut parcels: mpsc::Receiver<Parcel>, to: mpsc::Sender<FeedMsg>) {
    while let Some(parcel) = parcels.recv().await {
        let message = match parcel {
            Parcel::Message(message) => message,
            Parcel::Settled(to, how) => {
                // Nobody may have waited.
                let _heard = to.send(how);
                continue;
            }
            Parcel::Objects { epoch, chunk } => {
                let batch = read(kind, &chunk);
                FeedMsg::Delta(Delta::Batch { kind, place: place.clone(), epoch, batch })
            }
        };
        if to.send(message).await.is_err() {
            return;
        }
    }
}

fn read(kind: Kind, chunk: &Chunk) -> Batch {
    let mut batch = Batch::new(kind);
    for (verb, object) in chunk.objects() {
        match verb {
            Verb::Put => batch.upsert(object),
            Verb::Gone => batch.delete(object),
        }
    }
    batch
}
