//! The program as its users meet it, on the CPU: outputs, errors, exit codes.

mod array;
mod balance;
mod binary;
mod choices;
mod commands;
mod compare;
mod ends;
mod errors;
mod fuzz;
mod help;
mod hostile;
mod inputs;
mod learnt;
mod model;
mod own;
mod page;
mod predicates;
mod results;
mod run;
mod shape;
mod streams;
mod sweeps;
mod trees;
mod values;
mod variables;
mod view;
