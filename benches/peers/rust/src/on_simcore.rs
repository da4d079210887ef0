//! simcore, call-back mode: one component that sends events to itself.
//!
//! Its time is a floating-point number. Whole nanoseconds are exact in it up to 104 days, so that
//! slices end with their window and not a rounding error beside it.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Instant;

use simcore::{cast, EventHandler, Simulation, SimulationContext};

use crate::model::{Event, Later, Model};

struct Component<M> {
    model: M,
    context: SimulationContext,
}

impl<M: Model> EventHandler for Component<M> {
    fn on(&mut self, event: simcore::Event) {
        let now = event.time as u64;
        let Component { model, context } = self;
        cast!(match event.data {
            Posted { event } => {
                model.react(now, event, &mut |later| emit(context, later));
            }
        })
    }
}

/// simcore tells events apart by their type.
#[derive(Clone, serde::Serialize)]
struct Posted {
    event: Event,
}

fn emit(context: &SimulationContext, (delay_ns, event): Later) {
    context.emit_self(Posted { event }, delay_ns as f64);
}

/// Runs the model for a number of events; the wall time of the event loop [s].
pub fn run<M: Model>(model: M, events: u64) -> (M, f64) {
    let mut simulation = Simulation::new(1);
    let context = simulation.create_context("model");
    let component = Rc::new(RefCell::new(Component { model, context }));
    simulation.add_handler("model", component.clone());
    {
        let Component { model, context } = &mut *component.borrow_mut();
        model.start(&mut |later| emit(context, later));
    }
    let start = Instant::now();
    // Ticks are steps, too, but not counted: at most one in 100.
    while component.borrow().model.events() < events {
        let missing = events - component.borrow().model.events();
        simulation.steps(missing);
    }
    let wall_s = start.elapsed().as_secs_f64();
    drop(simulation);
    let Ok(component) = Rc::try_unwrap(component) else {
        panic!("simcore kept the component")
    };
    (component.into_inner().model, wall_s)
}
