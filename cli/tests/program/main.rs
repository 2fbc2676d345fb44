//! The program as its users meet it, on the CPU: outputs, errors, exit codes.

mod array;
mod balance;
mod begin;
mod binary;
mod bucket;
mod choices;
mod commands;
mod compare;
mod encodings;
mod ends;
mod errors;
mod fuzz;
mod gallery;
mod help;
mod hostile;
mod inputs;
mod labels;
mod learnt;
mod lists;
mod meshes;
mod model;
mod own;
mod page;
mod parts;
mod points;
mod predicates;
mod ranks;
mod remote;
mod results;
mod run;
mod server;
mod shape;
mod shards;
mod slices;
mod spacing;
mod strategies;
mod streams;
mod sweeps;
mod system;
mod trees;
mod values;
mod variables;
mod view;

#[path = "../scope.rs"]
mod scope;
