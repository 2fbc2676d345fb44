//! The program as its users meet it, on the CPU: outputs, errors, exit codes.

mod binary;
mod choices;
mod commands;
mod compare;
mod errors;
mod hostile;
mod learnt;
mod model;
mod page;
mod results;
mod run;
mod streams;
mod sweeps;
