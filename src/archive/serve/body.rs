//! Bodies of answers: a piece of text, a list whose objects are read as they are sent, or a watch.

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};

use super::list::ListBody;
use super::watch::WatchBody;

/// The body of an answer. Large ones are made piece by piece, as fast as they are taken.
pub struct ArchiveBody(Inner);

enum Inner {
    Whole(VecDeque<Bytes>),
    List(Box<ListBody>),
    Watch(Box<WatchBody>),
}

impl ArchiveBody {
    pub(super) fn whole(bytes: Bytes) -> Self {
        Self(Inner::Whole(VecDeque::from([bytes])))
    }

    pub(super) fn list(list: ListBody) -> Self {
        Self(Inner::List(Box::new(list)))
    }

    pub(super) fn watch(watch: WatchBody) -> Self {
        Self(Inner::Watch(Box::new(watch)))
    }
}

impl Body for ArchiveBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let next = match &mut self.get_mut().0 {
            Inner::Whole(pieces) => Poll::Ready(pieces.pop_front().map(Ok)),
            Inner::List(list) => Poll::Ready(list.next()),
            Inner::Watch(watch) => watch.poll_next(context),
        };
        next.map(|piece| piece.map(|bytes| bytes.map(Frame::data)))
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            Inner::Whole(pieces) => SizeHint::with_exact(pieces.iter().map(|piece| piece.len() as u64).sum()),
            Inner::List(list) => list.size().map_or_else(SizeHint::default, SizeHint::with_exact),
            Inner::Watch(_) => SizeHint::default(),
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(&self.0, Inner::Whole(pieces) if pieces.iter().all(Bytes::is_empty))
    }
}
