//! Reads objects into batches beside the task that fetches their bytes, and keeps everything in order.

use tokio::sync::{mpsc, oneshot};

use super::follow::Settled;
use super::items::Items;
use super::message::FeedMsg;
use super::spares::Spares;
use super::split::Piece;
use crate::model::{Batch, Delta, Kind, Place};

/// What a feed hands on.
#[expect(clippy::large_enum_variant, reason = "a handful exist at a time, and most of them are batches")]
pub(super) enum Parcel {
    Objects { epoch: u32, piece: Piece, underway: Option<Underway> },
    Message(FeedMsg),
    Settled(oneshot::Sender<Settled>, Settled),
}

/// A list that is not complete yet.
pub(super) struct Underway {
    pub remaining: Option<u64>,
}

/// Works parcels off in order until the feed ends or nobody listens.
pub(super) async fn read_parcels(kind: Kind, place: Place, spares: Spares, mut parcels: mpsc::Receiver<Parcel>, to: mpsc::Sender<FeedMsg>) {
    let mut reader = Reader { kind, place, spares, batch: Batch::new(kind), items: Items::default(), epoch: 0, read: 0 };
    while let Some(parcel) = parcels.recv().await {
        for message in reader.work_off(parcel).into_iter().flatten() {
            if to.send(message).await.is_err() {
                return;
            }
        }
    }
}

/// What reading remembers from piece to piece: what pods share, so that the next are recognised.
struct Reader {
    kind: Kind,
    place: Place,
    spares: Spares,
    batch: Batch,
    items: Items,
    epoch: u32,
    read: u64,
}

impl Reader {
    fn work_off(&mut self, parcel: Parcel) -> [Option<FeedMsg>; 2] {
        match parcel {
            Parcel::Message(message) => [Some(message), None],
            Parcel::Settled(to, how) => {
                // Nobody may have waited.
                let _heard = to.send(how);
                [None, None]
            }
            Parcel::Objects { epoch, piece, underway } => {
                self.items.read(&piece, &mut self.batch);
                piece.give_to(&self.spares);
                let batch = self.batch.take();
                let progress = underway.map(|underway| self.progress(epoch, batch.len(), &underway));
                let delta = Delta::Batch { kind: self.kind, place: self.place.clone(), epoch, batch };
                [Some(FeedMsg::Delta(delta)), progress]
            }
        }
    }

    fn progress(&mut self, epoch: u32, more: usize, underway: &Underway) -> FeedMsg {
        if std::mem::replace(&mut self.epoch, epoch) != epoch {
            self.read = 0;
        }
        self.read += u64::try_from(more).unwrap_or(0);
        FeedMsg::Progress { kind: self.kind, place: self.place.clone(), read: self.read, remaining: underway.remaining }
    }
}
