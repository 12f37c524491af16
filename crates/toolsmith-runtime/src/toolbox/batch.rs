//! Many calls at once: in parallel within a bound, answered in call order.

use std::time::Duration;

use futures_util::{StreamExt, stream};
use serde_json::Value;
use tokio::time::Instant;
use toolsmith_core::call::Answers;
use toolsmith_core::{Outcome, RawCall, Reply, json};

use super::{Prepared, Toolbox};
use crate::caller::Caller;
use crate::execute::Waits;
use crate::permit::{ApprovalRequest, Lasting, PermittedCall};
use crate::record::Trail;

/// In which order the calls of a batch run. Replies always come in call order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// As many at once as the limits allow, begun in call order.
    #[default]
    Parallel,
    /// Strictly one after the other.
    Sequential,
}

impl Toolbox {
    /// Makes several calls. One failure never ends another; whoever must be asked
    /// is asked once for all of them.
    pub async fn run_all(
        &self,
        calls: impl IntoIterator<Item = RawCall>,
        caller: &Caller,
        order: Order,
    ) -> Vec<Reply> {
        let at_once = match order {
            Order::Parallel => self.inner.limits().parallel.max(1),
            Order::Sequential => 1,
        };
        let judged = stream::iter(calls)
            .map(|call| self.judge(call, caller))
            .buffered(at_once)
            .collect()
            .await;
        let mut ready = self.permit_all(judged, caller).await;
        if ready.len() > 1 {
            let trails = ready.iter_mut().map(|(_, trail)| trail);
            trails.enumerate().for_each(|(at, trail)| trail.number(at));
        }
        let queued = Instant::now();
        let mut replies: Vec<(usize, Reply)> = stream::iter(ready.into_iter().enumerate())
            .map(|(index, (permitted, mut trail))| async move {
                trail.queued(queued.elapsed());
                let reply = match permitted {
                    Ok(call) => self.inner.carry_out(call, trail, Waits::Batch).await,
                    Err(reply) => self.inner.reply(reply, trail).await,
                };
                (index, reply)
            })
            .buffer_unordered(at_once)
            .collect()
            .await;
        replies.sort_unstable_by_key(|(index, _)| *index);
        replies.into_iter().map(|(_, reply)| reply).collect()
    }

    /// Takes a call from the door to the decision.
    pub(super) async fn judge(&self, mut call: RawCall, caller: &Caller) -> Judged {
        let answers = call.answers.take().map(bearable);
        let mut trail = self.inner.begin(&call, caller);
        let prepared = self.inner.prepare(call, caller, &mut trail).await;
        (prepared, answers, trail)
    }

    /// Asks once for every call that must be asked for, and takes each answer.
    pub(super) async fn permit_all(&self, judged: Vec<Judged>, caller: &Caller) -> Vec<Permitted> {
        let requests: Vec<ApprovalRequest> = judged
            .iter()
            .filter_map(|(prepared, answers, _)| match (prepared, answers) {
                (Prepared::Ask(call, decision, asking), None) => {
                    let (agent, redactor) = (caller.agent(), self.redactor());
                    Some(ApprovalRequest::new(
                        call, decision, agent, *asking, redactor,
                    ))
                }
                _ => None,
            })
            .collect();
        let (approvals, waited) = match requests.as_slice() {
            [] => (Vec::new(), Duration::ZERO),
            requests => {
                let began = Instant::now();
                let approvals = self.inner.ask(requests, caller).await;
                (approvals, began.elapsed())
            }
        };
        let mut approvals = approvals.into_iter();
        let mut permitted = Vec::with_capacity(judged.len());
        for (prepared, answers, mut trail) in judged {
            trail.waited(waited);
            let result = match prepared {
                Prepared::Ready(call) => Ok(call),
                Prepared::Refused(error) => Err(Outcome::failure(error).into()),
                Prepared::Ask(call, decision, asking) => {
                    let agent = caller.agent();
                    let approval = match answers {
                        Some(answers) => {
                            let request = ApprovalRequest::new(
                                &call,
                                &decision,
                                agent,
                                asking,
                                self.redactor(),
                            );
                            self.inner.brought(&answers, &request, caller)
                        }
                        None => approvals.next(),
                    };
                    let lasting = approval
                        .as_ref()
                        .and_then(|approval| Lasting::of(approval, &call, caller, asking));
                    let asked = (&decision, asking);
                    let answered =
                        (self.inner).answered(call, asked, approval.as_ref(), caller, &mut trail);
                    if let (Ok(_), Some(lasting)) = (&answered, lasting) {
                        self.inner.remember(lasting).await;
                    }
                    answered
                }
            };
            permitted.push((result, trail));
        }
        permitted
    }
}

/// Answers as they came, or none of them where they nest too deep to be any.
fn bearable(mut answers: Answers) -> Answers {
    let responses = Value::Object(std::mem::take(&mut answers.responses));
    if json::depth_exceeds(&responses, json::MAX_DEPTH) {
        json::dismantle(responses);
    } else if let Value::Object(responses) = responses {
        answers.responses = responses;
    }
    answers
}

/// A call the guards have spoken on, with the answers it brought.
pub(super) type Judged = (Prepared, Option<Answers>, Box<Trail>);

/// A call that may run, or the reply to one that may not.
pub(super) type Permitted = (Result<PermittedCall, Reply>, Box<Trail>);
