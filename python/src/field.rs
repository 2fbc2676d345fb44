//! Functions of Python as fields.
//!
//! A function gets the points or the cells of a batch at once, and answers with their labels. It is called in the thread that called
//! `run`. Its labels are checked: they are whole numbers, one per point, from 0 to the greatest that was said.

use orthant::WordsMut;
use orthant::field::{Arithmetic, Evaluate, Field, Labels, Precision};
use orthant::geometry::Domain;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::memory::{Borrowed, Numpy};
use crate::watch::Caller;

/// A function, and what it is asked for.
pub(crate) struct Function {
    pub(crate) function: Py<PyAny>,
    /// The greatest label.
    pub(crate) most: u32,
    /// True if it takes cells; else it takes points.
    pub(crate) of_cells: bool,
}

/// A function as a field of K dimensions.
pub(crate) struct FunctionField<'f, const K: usize> {
    pub(crate) of: &'f Function,
    pub(crate) caller: Caller,
    pub(crate) domain: Domain<K>,
    pub(crate) precision: Precision,
    pub(crate) arithmetic: Arithmetic,
}

impl<const K: usize> Field<K> for FunctionField<'_, K> {
    fn labels(&self) -> Labels {
        Labels::counts(self.of.most.into())
    }

    fn host(&self) -> Option<&dyn Evaluate<K>> {
        Some(self)
    }
}

/// A sample of a cell on an axis, rounded as the built-in fields round it: x = (c + offset) h + lo.
macro_rules! sample {
    ($Real:ty, $plain:expr, $c:expr, $offset:expr, $pitch:expr, $low:expr) => {{
        let (at, pitch, low) = ($c as $Real + $offset as $Real, $pitch as $Real, $low as $Real);
        f64::from(if $plain { at * pitch + low } else { at.mul_add(pitch, low) })
    }};
}

impl<const K: usize> FunctionField<'_, K> {
    /// The coordinate of a cell's sample on an axis.
    fn sample(&self, axis: usize, c: u32) -> f64 {
        let (domain, plain) = (&self.domain, self.arithmetic == Arithmetic::Plain);
        let (offset, pitch, low) = (domain.sample().offset(), domain.pitch()[axis], domain.window()[axis][0]);
        match self.precision {
            Precision::F32 => sample!(f32, plain, c, offset, pitch, low),
            // A wider type than these would need a case of its own; f64 is the widest that there is.
            _ => sample!(f64, plain, c, offset, pitch, low),
        }
    }

    /// Asks the function for a batch.
    fn ask(&self, py: Python<'_>, cells: &[[u32; K]], labels: WordsMut<'_>) -> PyResult<()> {
        let numpy = py.import("numpy")?;
        let of_cells = self.of.of_cells;
        let points = numpy.call_method1("empty", ((cells.len(), K), if of_cells { "u4" } else { "f8" }))?;
        let room = Numpy::of(&points)?;
        let bytes = room.bytes_mut()?;
        if of_cells {
            let numbers = cells.as_flattened().iter();
            bytes.as_chunks_mut::<4>().0.iter_mut().zip(numbers).for_each(|(to, c)| *to = c.to_ne_bytes());
        } else {
            let numbers = cells.iter().flat_map(|cell| (0..K).map(|axis| self.sample(axis, cell[axis])));
            bytes.as_chunks_mut::<8>().0.iter_mut().zip(numbers).for_each(|(to, x)| *to = x.to_ne_bytes());
        }
        let answer = numpy.call_method1("asarray", (self.of.function.bind(py).call1((points,))?,))?;
        self.take(&Numpy::of(&answer)?, cells.len(), labels)
    }

    /// Checks the labels of a batch, and takes them.
    fn take(&self, answer: &Numpy<'_>, cells: usize, labels: WordsMut<'_>) -> PyResult<()> {
        let letter = &answer.typestr[1..2];
        if !matches!(letter, "b" | "i" | "u") {
            let reason = format!(
                "the function returned labels of dtype '{}'; whole numbers are needed, as labels.astype(int) makes them",
                answer.typestr
            );
            return Err(PyTypeError::new_err(reason));
        }
        if answer.shape != [cells] {
            let shape = &answer.shape;
            let reason = format!(
                "the function returned an array of shape {shape:?} for {cells} points; one label per point is needed"
            );
            return Err(PyValueError::new_err(reason));
        }
        let big = answer.typestr.starts_with('>');
        let (from, step, most) = (Borrowed::of(answer), answer.strides[0], i128::from(self.of.most));
        let label = |index: usize| {
            let bytes = from.cell(index as isize * step);
            let join = |word: u64, &byte: &u8| word << 8 | u64::from(byte);
            let word = if big { bytes.iter().fold(0, join) } else { bytes.iter().rev().fold(0, join) };
            let unused = 64 - 8 * bytes.len() as u32;
            let label =
                if letter == "i" { i128::from((word << unused).cast_signed() >> unused) } else { i128::from(word) };
            if (0..=most).contains(&label) {
                return Ok(label as u32);
            }
            let reason =
                format!("the function returned the label {label}; labels are from 0 to max_label, which is {most}");
            Err(PyValueError::new_err(reason))
        };
        let WordsMut::Narrow(words) = labels else { return Err(PyTypeError::new_err("labels have 32 bits")) };
        for (index, word) in words.iter_mut().enumerate() {
            *word = label(index)?;
        }
        Ok(())
    }
}

impl<const K: usize> Evaluate<K> for FunctionField<'_, K> {
    fn evaluate(&self, cells: &[[u32; K]], labels: WordsMut<'_>) {
        self.caller.call(Box::new(move |py| self.ask(py, cells, labels)));
    }
}
