//! What files say of their arrays beside the cells: what axes are called and measured in, where they lie, what cells stand for.

use std::fmt;

use crate::per_axis;
use crate::plan::Plan;
use crate::tree::{Scale, TreeAxis, TreeInfo, TreeLabel};

/// What a file says of an array besides its cells.
///
/// ```
/// use orthant::tree::About;
///
/// let mut about = About::new(2);
/// (about.axes[0].spacing, about.axes[1].spacing) = (Some(0.5), Some(2.0));
/// // Three cells of half a unit, and two of two units.
/// let window = about.window([3, 2]).map(|axes| axes.map(|[low, high]| high - low));
/// assert_eq!(window, Some([1.5, 4.0]));
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct About {
    /// The axes, axis 0 first; all of them, or none where nothing is known.
    pub axes: Vec<AboutAxis>,
    /// Where axes point, as [`TreeInfo`] has it, if not along the space's own axes.
    pub directions: Option<Vec<Vec<f64>>>,
    /// Labels that have names or colours.
    pub labels: Vec<TreeLabel>,
    /// True if the file says that its cells are labels, whether they have names or not.
    pub labelled: bool,
    /// The word of cells that hold no data.
    pub nodata: Option<u64>,
    /// What cells stand for, if not for themselves.
    pub scale: Option<Scale>,
    /// What you may want to know about how the file was read.
    pub remarks: Vec<Remark>,
}

/// What a file says of an axis.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AboutAxis {
    /// What it is called.
    pub name: Option<String>,
    /// What it is measured in.
    pub unit: Option<String>,
    /// From one cell to the next, in units; finite and not 0.
    pub spacing: Option<f64>,
    /// Where the first cell begins, in units; finite.
    pub origin: Option<f64>,
}

/// Something unusual about a file that is no error.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Remark {
    /// Cells are kept as they are stored, and stand for other numbers.
    Scaled(Scale),
    /// There are bytes after the cells that are not read.
    After(u64),
    /// There are files in the folder that are not read.
    OtherFiles(usize),
    /// The steps along the axis of that name are not equal, and are not kept.
    Uneven(String),
    /// There are pages that are smaller copies of others, and are not read.
    SmallerPages(usize),
    /// So many labels are of no value that cells have, and are not kept.
    OtherLabels(usize),
    /// An image is there in so many sizes, of which the array of that name is read, the largest.
    Sizes {
        /// The array's name.
        name: String,
        /// How many sizes there are.
        sizes: usize,
    },
    /// Where axes point makes no space, and is not kept.
    Unplaced,
}

impl fmt::Display for Remark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scaled(Scale { slope, intercept }) => {
                write!(f, "cells are kept as they are stored, and stand for {slope} times that plus {intercept}")
            }
            Self::After(bytes) => write!(f, "{bytes} bytes after the cells are not read"),
            Self::OtherFiles(1) => write!(f, "another file in the folder is not read"),
            Self::OtherFiles(files) => write!(f, "{files} other files in the folder are not read"),
            Self::Uneven(name) => write!(f, "the steps along {name} are not equal, and are not kept"),
            Self::SmallerPages(pages) => write!(f, "{pages} pages that are smaller copies of others are not read"),
            Self::OtherLabels(labels) => write!(f, "{labels} labels of values that no cell can have are not kept"),
            Self::Sizes { name, sizes } => write!(f, "of the image's {sizes} sizes the largest is read, /{name}"),
            Self::Unplaced => {
                write!(f, "the directions of its axes make no space of as many dimensions, and are not kept")
            }
        }
    }
}

/// Units of time, as files have them.
const TIMES: [&str; 12] = [
    "s",
    "sec",
    "second",
    "seconds",
    "ms",
    "us",
    "min",
    "h", // OME writes them out.
    "millisecond",
    "microsecond",
    "minute",
    "hour",
];

/// Those that count from some day on are times as well: `days since 1900-01-01`.
fn is_time(unit: &str) -> bool {
    TIMES.contains(&unit) || unit.contains(" since ")
}

impl About {
    /// Nothing known of `k` axes.
    #[doc(hidden)]
    pub fn new(k: usize) -> Self {
        Self { axes: vec![AboutAxis::default(); k], ..Self::default() }
    }

    /// What cells stand for, unless that is what they are.
    #[doc(hidden)]
    pub fn scaled(&mut self, slope: f64, intercept: f64) {
        if slope.is_finite() && slope != 0.0 && intercept.is_finite() && (slope, intercept) != (1.0, 0.0) {
            let scale = Scale { slope, intercept };
            self.scale = Some(scale);
            self.remarks.push(Remark::Scaled(scale));
        }
    }

    /// Takes the spacing of an axis, and where the centre of its first cell lies, if they are numbers.
    #[doc(hidden)]
    pub fn step(&mut self, axis: usize, spacing: f64, centre: f64) {
        let origin = centre - spacing / 2.0;
        if spacing.is_finite() && spacing != 0.0 && origin.is_finite() {
            let axis = &mut self.axes[axis];
            (axis.spacing, axis.origin) = (Some(spacing), Some(origin));
        }
    }

    /// Takes where axes lie in space: for each of `axes` the step from one cell to the next, and the centre of the first cell of all.
    ///
    /// Coordinates are lengths along the axes themselves, so that a box of cells is a box. Where the axes are not the space's, they
    /// are those that the directions turn into the space's.
    #[doc(hidden)]
    pub fn place(&mut self, axes: &[usize], steps: &[Vec<f64>], centre: Option<&[f64]>) {
        const NEAR: f64 = 1e-6;
        let k = self.axes.len();
        let lengths: Vec<f64> =
            steps.iter().map(|step| step.iter().map(|part| part * part).sum::<f64>().sqrt()).collect();
        let given = |length: &f64| length.is_finite() && *length > 0.0;
        if !lengths.iter().all(given) {
            return self.remarks.push(Remark::Unplaced);
        }
        let units: Vec<Vec<f64>> =
            steps.iter().zip(&lengths).map(|(step, length)| step.iter().map(|part| part / length).collect()).collect();
        // A picture in space has a direction that none of its axes has.
        let flat = units.iter().all(|unit| unit.iter().skip(axes.len()).all(|part| part.abs() < NEAR));
        let centre = centre.filter(|centre| centre.iter().all(|part| part.is_finite()));
        let along = units.iter().enumerate();
        let own = along.clone().all(|(i, unit)| {
            unit.iter().enumerate().all(|(j, part)| (part - f64::from(u8::from(i == j))).abs() < NEAR)
        });
        let zero = vec![0.0; axes.len()];
        let solved = match centre {
            _ if !flat => None,
            Some(centre) if own => Some(centre[..axes.len()].to_vec()),
            // Without a place the first cell begins at 0.
            None if own => Some(lengths.iter().map(|length| length / 2.0).collect()),
            centre => solve(&units, centre.map_or(&zero, |centre| &centre[..axes.len()])),
        };
        let Some(centres) = solved else {
            axes.iter().zip(&lengths).for_each(|(&axis, &length)| self.step(axis, length, length / 2.0));
            return self.remarks.push(Remark::Unplaced);
        };
        for (i, &axis) in axes.iter().enumerate() {
            self.step(axis, lengths[i], centres[i]);
        }
        if !own {
            let mut directions: Vec<Vec<f64>> =
                (0..k).map(|j| (0..k).map(|i| f64::from(u8::from(i == j))).collect()).collect();
            for (i, unit) in along {
                for (j, &part) in unit.iter().take(axes.len()).enumerate() {
                    directions[axes[i]][axes[j]] = part;
                }
            }
            self.directions = Some(directions);
        }
    }

    /// Where an array of `size` cells lies, in units: from the origin, for each axis with a positive spacing; the other
    /// axes lie in cells. None if the file says nothing of this.
    pub fn window<const K: usize>(&self, size: [u32; K]) -> Option<[[f64; 2]; K]> {
        let of = |j: usize| {
            let AboutAxis { spacing, origin, .. } = self.axes.get(j)?;
            let (spacing, origin) = (spacing.filter(|&spacing| spacing > 0.0)?, origin.unwrap_or(0.0));
            let end = f64::from(size[j]).mul_add(spacing, origin);
            (end.is_finite() && (end - origin).is_finite() && origin < end).then_some([origin, end])
        };
        let given: [_; K] = per_axis::each(of);
        let known = given.iter().any(Option::is_some);
        known.then(|| per_axis::each(|j| given[j].unwrap_or([0.0, f64::from(size[j])])))
    }

    /// Which axes are steps of a series, such as time, so that only the others are divided. These are axes whose name
    /// or unit means time. A fourth axis without name and unit counts, too, if it is at most a quarter of the shortest
    /// other axis.
    pub fn series<const K: usize>(&self, size: [u32; K]) -> [bool; K] {
        let named = |j: usize| {
            let AboutAxis { name, unit, .. } = self.axes.get(j)?;
            let name = name.as_ref().map(|name| name.to_ascii_lowercase());
            let known = name.is_some() || unit.is_some();
            known.then(|| matches!(name.as_deref(), Some("t" | "time")) || unit.as_deref().is_some_and(is_time))
        };
        let least = size[..K.min(3)].iter().min().copied().unwrap_or(0);
        let series: [bool; K] = per_axis::each(|j| named(j).unwrap_or(j == 3 && K == 4 && size[3] <= least / 4));
        // There are others.
        if series.contains(&false) { series } else { [false; K] }
    }

    /// What a tree says of an array that `plan` divides. Where the plan has another window than the file, axes lie as the plan has
    /// them.
    pub fn info<const K: usize>(&self, plan: &Plan<K>) -> TreeInfo {
        let mut info = TreeInfo::of(plan);
        let named = |j: usize| self.axes.get(j).and_then(|axis| axis.name.clone()).filter(|name| !name.is_empty());
        let names: Vec<String> =
            per_axis::names(K).into_iter().enumerate().map(|(j, name)| named(j).unwrap_or(name)).collect();
        let twice = (1..K).any(|j| names[..j].contains(&names[j]));
        let domain = plan.domain();
        let placed = self.window(domain.size()).is_none_or(|window| window == domain.window());
        for (j, (axis, about)) in info.axes.iter_mut().zip(&self.axes).enumerate() {
            if !twice {
                axis.name.clone_from(&names[j]);
            }
            if placed {
                axis.unit.clone_from(&about.unit);
                let TreeAxis { spacing, origin, .. } = axis;
                (*spacing, *origin) = (about.spacing.unwrap_or(*spacing), about.origin.unwrap_or(*origin));
            }
        }
        info.directions = self.directions.clone().filter(|_| placed);
        (info.nodata, info.scale, info.labels) = (self.nodata, self.scale, self.labels.clone());
        info
    }
}

/// The numbers x for which the sum of all x_i v_i is `sum`, by elimination; None if there are none, or many.
fn solve(vectors: &[Vec<f64>], sum: &[f64]) -> Option<Vec<f64>> {
    let n = vectors.len();
    // A row per coordinate, the sum last.
    let mut rows: Vec<Vec<f64>> =
        (0..n).map(|j| vectors.iter().map(|vector| vector[j]).chain([sum[j]]).collect()).collect();
    for i in 0..n {
        let best = (i..n).max_by(|&a, &b| rows[a][i].abs().total_cmp(&rows[b][i].abs()))?;
        rows.swap(i, best);
        let pivot = rows[i][i];
        if pivot.is_nan() || pivot.abs() < 1e-9 {
            return None;
        }
        let row = rows[i].clone();
        for other in (0..n).filter(|&other| other != i) {
            let factor = rows[other][i] / pivot;
            rows[other].iter_mut().zip(&row).for_each(|(part, own)| *part -= factor * own);
        }
    }
    Some((0..n).map(|i| rows[i][n] / rows[i][i]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A turned and flipped space: the directions bring the window's points back to where the file has them.
    #[test]
    fn directions_lead_back() {
        let (turn, steps) = (0.6f64, [0.5, 2.0, 3.0]);
        let units = [[-turn.cos(), turn.sin(), 0.0], [turn.sin(), turn.cos(), 0.0], [0.0, 0.0, -1.0]];
        let columns: Vec<Vec<f64>> =
            units.iter().zip(steps).map(|(unit, step)| unit.iter().map(|part| part * step).collect()).collect();
        let first = [90.0, -126.0, 7.0];
        let mut about = About::new(4);
        about.place(&[0, 1, 2], &columns, Some(&first));
        let directions = about.directions.as_ref().unwrap();
        let window = about.window([10, 20, 30, 4]).unwrap();
        for cell in [[0.0; 3], [3.0, 17.0, 29.0]] {
            for world in 0..3 {
                let point = |j: usize| window[j][0] + (cell[j] + 0.5) * steps[j];
                let found: f64 = (0..3).map(|j| directions[j][world] * point(j)).sum();
                let expected = first[world] + (0..3).map(|j| cell[j] * columns[j][world]).sum::<f64>();
                assert!((found - expected).abs() < 1e-9, "{found} {expected}");
            }
        }
        assert_eq!((directions[3].as_slice(), window[3]), (&[0.0, 0.0, 0.0, 1.0][..], [0.0, 4.0]));
    }

    #[test]
    fn what_makes_no_space_is_not_kept() {
        let mut about = About::new(2);
        about.place(&[0, 1], &[vec![2.0, 0.0], vec![2.0, 0.0]], Some(&[0.0, 0.0]));
        assert_eq!((about.directions.clone(), &about.remarks[..]), (None, &[Remark::Unplaced][..]));
        assert_eq!(about.window([3, 3]), Some([[0.0, 6.0], [0.0, 6.0]]));
        let mut own = About::new(2);
        own.place(&[0, 1], &[vec![2.0, 0.0, 0.0], vec![0.0, 0.5, 0.0]], Some(&[1.0, 10.0, 4.0]));
        assert_eq!((own.window([3, 4]), own.directions), (Some([[0.0, 6.0], [9.75, 11.75]]), None));
    }

    #[test]
    fn time_is_a_series() {
        let mut about = About::default();
        assert_eq!(about.series([64, 64, 30, 7]), [false, false, false, true]);
        assert_eq!(about.series([64, 64, 30, 8]), [false; 4]);
        about = About::new(3);
        about.axes[1].name = Some("time".into());
        about.axes[2].unit = Some("days since 1900-01-01".into());
        assert_eq!((about.series([9, 9, 9]), about.series([9])), ([false, true, true], [false]));
    }
}
