//! M × M: the minimum of two (three) Mandelbrot dwells over pairs of axes, a 4-D (6-D) field that a 2-D image knows.
//!
//! dwell(c1, c2) = min(d(c1), d(c2)). Cells lie on a lattice, so each factor is an image, computed once; a 4-D label is
//! two look-ups. A product of boxes is uniform iff the minimum of the factors' least dwells equals the minimum of their
//! largest, so region predicates are exact, and the number of mixed regions of a level follows from the 2-D images
//! without any 4-D array ([`MxM::mixed_regions`]).

use std::sync::Arc;

use crate::abi::device_struct;
use crate::cell::WordsMut;
use crate::field::definition::{Evaluate, Field, Payload, Prove};
use crate::field::error::FieldError;
use crate::field::labels::Labels;
use crate::field::mandelbrot;
use crate::field::options::FieldOptions;
use crate::field::start::Defaults;
use crate::field::twin::DeviceTwin;
use crate::geometry::{Domain, Level, Region};
use crate::memory::zeros;
use crate::parallel;
use crate::per_axis;
use crate::rule::{RuleKind, Verdict};

/// One line for lists.
pub(crate) const ABOUT: &str = "minimum of 2 (3) Mandelbrot dwells: exact counts in 4-D (6-D)";

/// What a bare run uses.
pub(crate) fn defaults(k: usize) -> Defaults {
    Defaults {
        size: if k == 4 { 32 } else { 8 },
        g: 4,
        r: 2,
        b: if k == 4 { 2 } else { 1 },
        dwell: Some(64),
        window: [[-1.5, 0.5], [-1.0, 1.0]].repeat(k / 2),
        explore: RuleKind::Certified,
        by_index: false,
    }
}

/// Opens the minimum of K/2 Mandelbrot dwells over a domain: axes (0, 1), (2, 3) and so on are one point each.
///
/// # Errors
/// As the Mandelbrot field of each factor; [`FieldError::Dimension`] if K is odd.
pub fn open<const K: usize>(domain: &Domain<K>, options: &FieldOptions) -> Result<Box<dyn Field<K>>, FieldError> {
    Ok(Box::new(MxM::new(domain, options)?))
}

/// The minimum of K/2 Mandelbrot dwells. Its regions in K dimensions can be counted from images in 2-D.
///
/// ```
/// use orthant::field::FieldOptions;
/// use orthant::field::mxm::MxM;
/// use orthant::prelude::*;
///
/// let builder = Plan::builder([64; 4]).window([[-2.0, 2.0]; 4]).scheme(Scheme::uniform(2, 2, 8));
/// let plan = builder.rule(RuleKind::Full).build()?;
/// let field = MxM::new(plan.domain(), &FieldOptions::default().dwell(16))?;
/// // Two images of 64 x 64 cells say what a run over 16 million cells would count.
/// let counts = Run::new(&plan, &field).how(How::default().keep(Keep::Counts)).start()?;
/// let level = &counts.levels()[0];
/// assert_eq!(u128::from(level.counts.subdivided), field.mixed_regions(&level.level));
/// # Ok::<(), orthant::Error>(())
/// ```
pub struct MxM<const K: usize> {
    factors: Vec<Arc<Image>>,
    dwell: u32,
}

impl<const K: usize> std::fmt::Debug for MxM<K> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MxM").field("dwell", &self.dwell).finish_non_exhaustive()
    }
}

device_struct! {
    /// Images and their widths; the addresses are filled in where the images are.
    struct MxmArgs { images: [u64; 4], width: [u32; 4] }
}

/// The dwells of one factor, axis 0 fastest.
struct Image {
    width: u32,
    dwells: Vec<u32>,
}

impl Image {
    fn dwell(&self, x: u32, y: u32) -> u32 {
        self.dwells[y as usize * self.width as usize + x as usize]
    }

    /// The least and the largest dwell in a box.
    fn range(&self, region: &Region<2>) -> (u32, u32) {
        let mut range = (u32::MAX, 0);
        for row in region.rows() {
            let start = row[1] as usize * self.width as usize + row[0] as usize;
            for &dwell in &self.dwells[start..start + region.extent[0] as usize] {
                range = (range.0.min(dwell), range.1.max(dwell));
            }
        }
        range
    }
}

impl<const K: usize> MxM<K> {
    /// Computes the images of the factors over axes (0, 1), (2, 3), ..; equal factors share one.
    ///
    /// # Errors
    /// As the Mandelbrot field of each factor; [`FieldError::Dimension`] if K is odd; [`FieldError::Memory`].
    pub fn new(domain: &Domain<K>, options: &FieldOptions) -> Result<Self, FieldError> {
        if !K.is_multiple_of(2) {
            return Err(FieldError::Dimension { field: "mxm", k: K, dims: &[4, 6] });
        }
        let mut known: Vec<(Domain<2>, Arc<Image>)> = Vec::new();
        let mut factors = Vec::with_capacity(K / 2);
        for f in 0..K / 2 {
            let pair = [2 * f, 2 * f + 1];
            let plane = Domain::new(pair.map(|j| domain.size()[j]), pair.map(|j| domain.window()[j]), domain.sample())?;
            let image = match known.iter().find(|(domain, _)| *domain == plane) {
                Some((_, image)) => image.clone(),
                None => Arc::new(image(&plane, options)?),
            };
            known.push((plane, image.clone()));
            factors.push(image);
        }
        Ok(Self { factors, dwell: options.dwell })
    }

    /// Counts the mixed regions of a level under the rule `full`, from the 2-D images alone.
    ///
    /// A region is a tuple of boxes, one per factor. It is uniform with value v exactly if every least dwell is at
    /// least v and one of the boxes is uniform with v. Let L(v) be the boxes of a factor whose least dwell is at least
    /// v, and U(v) those that are uniform with v. Then Σ_v (∏ L(v) − ∏ (L(v) − U(v))) regions are uniform, and all
    /// others are mixed.
    pub fn mixed_regions(&self, level: &Level<K>) -> u128 {
        let mut at_least = vec![vec![0u128; self.dwell as usize + 2]; self.factors.len()];
        let mut uniform = at_least.clone();
        for (f, image) in self.factors.iter().enumerate() {
            let plane = level.plane([2 * f, 2 * f + 1]);
            let ranges = parallel::map(plane.grid[1] as usize, &|y| {
                let range = |x| image.range(&plane.region([x, y as u32]));
                (0..plane.grid[0]).map(range).collect::<Vec<_>>()
            });
            for (least, largest) in ranges.into_iter().flatten() {
                at_least[f][least as usize] += 1;
                uniform[f][least as usize] += u128::from(least == largest);
            }
            for v in (0..=self.dwell as usize).rev() {
                at_least[f][v] += at_least[f][v + 1];
            }
        }
        let tuples = |v: usize| {
            let all: u128 = at_least.iter().map(|l| l[v]).product();
            let larger: u128 = at_least.iter().zip(&uniform).map(|(l, u)| l[v] - u[v]).product();
            all - larger
        };
        level.regions() - (0..=self.dwell as usize).map(tuples).sum::<u128>()
    }
}

fn image(domain: &Domain<2>, options: &FieldOptions) -> Result<Image, FieldError> {
    let field = mandelbrot::open(domain, options)?;
    let host = field.host().expect("the Mandelbrot set is evaluated here");
    let width = domain.size()[0];
    let dwells = zeros(domain.cells() as usize);
    let mut dwells =
        dwells.map_err(|refused| FieldError::Memory { what: "an image of a factor", need: refused.bytes })?;
    parallel::pieces_mut(&mut dwells, width as usize, &|y, row| {
        let cells: Vec<_> = (0..width).map(|x| [x, y as u32]).collect();
        host.evaluate(&cells, WordsMut::Narrow(row));
    });
    Ok(Image { width, dwells })
}

impl<const K: usize> Field<K> for MxM<K> {
    fn labels(&self) -> Labels {
        Labels::counts(self.dwell.into())
    }

    fn host(&self) -> Option<&dyn Evaluate<K>> {
        Some(self)
    }

    fn prover(&self) -> Option<&dyn Prove<K>> {
        Some(self)
    }

    fn twin(&self) -> Option<DeviceTwin> {
        let mut args = MxmArgs::default();
        self.factors.iter().enumerate().for_each(|(f, image)| args.width[f] = image.width);
        let twin = DeviceTwin::built_in("fields/mxm.cuh", &args).proves().by_warps();
        let copied = |twin: DeviceTwin, (f, image): (usize, &Arc<Image>)| {
            twin.copied(f * size_of::<u64>(), image.dwells.iter().copied())
        };
        Some(self.factors.iter().enumerate().fold(twin, copied))
    }

    fn boundary_dimension(&self) -> f64 {
        K as f64 - 0.3
    }
}

impl<const K: usize> Evaluate<K> for MxM<K> {
    fn evaluate(&self, cells: &[[u32; K]], labels: WordsMut<'_>) {
        for (cell, label) in cells.iter().zip(labels.narrow()) {
            let dwells = self.factors.iter().zip(cell.chunks_exact(2)).map(|(image, c)| image.dwell(c[0], c[1]));
            *label = dwells.min().unwrap_or(0);
        }
    }
}

impl<const K: usize> Prove<K> for MxM<K> {
    fn prove(&self, region: &Region<K>, _: Payload) -> Verdict {
        let mut range = (u32::MAX, u32::MAX);
        for (f, image) in self.factors.iter().enumerate() {
            let pair = [2 * f, 2 * f + 1];
            let plane = Region {
                corner: per_axis::each(|i| region.corner[pair[i]]),
                extent: per_axis::each(|i| region.extent[pair[i]]),
            };
            let (least, largest) = image.range(&plane);
            range = (range.0.min(least), range.1.min(largest));
        }
        if range.0 == range.1 { Verdict::Uniform(range.0.into()) } else { Verdict::Mixed }
    }
}
