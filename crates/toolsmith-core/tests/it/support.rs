//! Runs a tool the way the runtime does, without its checks.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use serde_json::Value;
use toolsmith::tool::Work;
use toolsmith::{AnyTool, Arguments, Outcome, ToolContext};

pub(crate) fn arguments(value: Value) -> Arguments {
    let Value::Object(map) = value else {
        panic!("arguments are an object")
    };
    Arguments::new(map)
}

pub(crate) fn call(tool: &AnyTool, value: Value) -> Outcome {
    match tool.work_unguarded(arguments(value), ToolContext::detached()) {
        Work::Future(future) => block_on(future),
        Work::Blocking(work) => work(),
    }
}

/// Polls a future that never waits.
pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    match future
        .as_mut()
        .poll(&mut Context::from_waker(Waker::noop()))
    {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("a test's tool waited"),
    }
}
