//! Terminal regions and bricks as something to be asked.
//!
//! A [`Tree`] holds what a run found, or what an array is made of ([`BottomUp`]), in the order of the curve, and answers for cells,
//! points, boxes, slices, levels and labels from the regions themselves: no dense array is made on the way. See the guide's
//! [page](crate::guide::tree).

mod about;
mod across;
mod along;
mod axis;
mod block_waves;
mod bottom_up;
mod boxes;
mod census;
mod collector;
mod compare;
mod curve_order;
mod cut;
mod direct;
mod entries;
mod error;
mod file;
mod finder;
mod from_array;
mod from_data;
mod label_look;
mod labels;
mod large;
mod list;
mod look_up;
mod noise;
mod parts;
mod piece;
mod points;
mod predicate;
mod provenance;
mod proving;
mod region;
mod representative;
mod slice;
mod source;
mod stored;
mod survey;
mod tree_rows;
mod tree_source;
mod two_classes;
mod values;
mod word_counts;

pub use crate::list::ListError;
pub use crate::number::{NoNumber, Number};
pub use about::{About, AboutAxis, Remark};
pub use across::Found;
pub use bottom_up::BottomUp;
pub use census::Census;
pub use collector::Collector;
pub use compare::{Difference, Differences};
pub use error::TreeError;
pub use file::{
    Fault, PieceClaim, PieceFolder, PieceRequest, PieceState, PieceWork, Scale, SealedTree, TreeAxis, TreeFile,
    TreeFileError, TreeInfo, TreeJob, TreeLabel, TreeStore, TreeTarget, TreeWriter, ZarrError, write_run,
};
pub use label_look::LabelLook;
pub use labels::LabelStatistics;
pub use list::{CellList, ListLayout, Scattered, SortedList};
pub use noise::Noise;
pub use parts::Parts;
pub use points::FromPoints;
pub use predicate::{Mapped, NoTreatment, NotANumber, Predicate, When};
pub use provenance::Provenance;
pub use region::TreeRegion;
pub use representative::Representative;
pub use slice::TreeSlice;
pub use source::{InMemory, Source};
pub use stored::Tree;
pub use tree_source::TreeSource;
pub use values::ValueStatistics;
