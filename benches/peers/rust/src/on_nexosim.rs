//! NeXosim on one thread: one model that schedules events for itself.

use std::marker::PhantomData;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use nexosim::model::{schedulable, BuildContext, Context, Model, ProtoModel};
use nexosim::simulation::{Mailbox, SimInit};
use nexosim::time::MonotonicTime;
use serde::{Deserialize, Serialize};

use crate::model::{Event, Later, Model as Work};

/// Simulated time between two looks at the number of events.
const STRIDE: Duration = Duration::from_millis(100);

#[derive(Serialize, Deserialize)]
#[serde(bound = "")]
struct Host<M> {
    #[serde(skip)]
    kind: PhantomData<fn() -> M>,
}

/// The model lies in the environment: it need not be saved and restored.
#[Model(type Env = Arc<Mutex<M>>)]
impl<M: Work> Host<M> {
    #[nexosim(init)]
    async fn init(&mut self, cx: &Context<Self>, env: &mut Arc<Mutex<M>>) {
        let mut model = env.lock().expect("one thread");
        model.start(&mut |later| schedule(cx, later));
    }

    #[nexosim(schedulable)]
    async fn react(&mut self, event: Event, cx: &Context<Self>, env: &mut Arc<Mutex<M>>) {
        let since_start = cx.time().duration_since(MonotonicTime::EPOCH);
        let now_ns = since_start.as_secs() * 1_000_000_000 + u64::from(since_start.subsec_nanos());
        let mut model = env.lock().expect("one thread");
        model.react(now_ns, event, &mut |later| schedule(cx, later));
    }
}

/// NeXosim refuses a delay of zero; draws that short are one in a million.
fn schedule<M: Work>(cx: &Context<Host<M>>, (delay_ns, event): Later) {
    let delay = Duration::from_nanos(delay_ns.max(1));
    let scheduled = cx.schedule_event(delay, schedulable!(Host::<M>::react), event);
    scheduled.expect("a time to come");
}

struct Prototype<M>(Arc<Mutex<M>>);

impl<M: Work> ProtoModel for Prototype<M> {
    type Model = Host<M>;

    fn build(self, _: &mut BuildContext<Self>) -> (Host<M>, <Host<M> as Model>::Env) {
        (Host { kind: PhantomData }, self.0)
    }
}

/// Runs the model for a number of events; the wall time of the event loop [s].
pub fn run<M: Work>(model: M, events: u64) -> (M, f64) {
    let model = Arc::new(Mutex::new(model));
    let simulation = SimInit::with_num_threads(1)
        .add_model(Prototype(model.clone()), Mailbox::new(), "host")
        .init(MonotonicTime::EPOCH);
    let mut simulation = simulation.expect("a sound bench");
    let start = Instant::now();
    while model.lock().expect("one thread").events() < events {
        simulation.step_until(STRIDE).expect("no error");
    }
    let wall_s = start.elapsed().as_secs_f64();
    drop(simulation);
    let Ok(model) = Arc::try_unwrap(model) else {
        panic!("NeXosim kept the model")
    };
    (model.into_inner().expect("one thread"), wall_s)
}
