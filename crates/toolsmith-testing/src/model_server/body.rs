//! The body of an answer: pieces that are sent one by one, and how it ends.

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame};

/// How a body ends.
#[derive(Clone, Debug)]
pub(super) enum End {
    Whole,
    /// The connection is dropped.
    Drop,
    /// Nothing more comes.
    Hang,
    /// This comes again and again.
    Again(Bytes),
}

/// Pieces, each of which has left before the next is made.
#[derive(Debug)]
pub(super) struct Pieces {
    pieces: VecDeque<Bytes>,
    end: End,
    /// Whether the piece before has been sent.
    is_sent: bool,
}

impl Pieces {
    pub(super) fn new(pieces: Vec<Bytes>, end: End) -> Self {
        Self {
            pieces: pieces.into(),
            end,
            is_sent: false,
        }
    }
}

impl Body for Pieces {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        // What hyper holds is written when there is nothing more at the moment; without
        // this a connection would drop with its last pieces in hand.
        if !std::mem::replace(&mut self.is_sent, true) {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        self.is_sent = false;
        if let Some(piece) = self.pieces.pop_front() {
            return Poll::Ready(Some(Ok(Frame::data(piece))));
        }
        match &self.end {
            End::Whole => Poll::Ready(None),
            End::Drop => Poll::Ready(Some(Err(io::Error::other("the script drops it")))),
            // Nobody wakes it; it goes with its connection.
            End::Hang => Poll::Pending,
            End::Again(piece) => Poll::Ready(Some(Ok(Frame::data(piece.clone())))),
        }
    }
}
