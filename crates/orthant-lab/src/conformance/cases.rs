//! The plans whose runs are compared.

use std::collections::BTreeMap;
use std::sync::Arc;

use orthant::CellType;
use orthant::Request;
use orthant::field::{Arithmetic, DataValue, FieldData, FieldKind, Precision, StoredArray};
use orthant::list::StoredList;
use orthant::mesh::Mesh;
use orthant::points::{PointAttribute, Points};
use orthant::rule::RuleKind;

/// A plan whose runs must agree.
#[derive(Debug, Clone)]
pub struct Case {
    /// The plan.
    pub request: Request,
    /// Mixed regions per level, where they are known.
    pub mixed: Option<Vec<u64>>,
    /// True if no cell may differ from Exhaustive.
    pub exact: bool,
}

impl Case {
    /// A small run of a workload in `k` dimensions.
    pub fn new(workload: FieldKind, k: usize, size: &[u32], scheme: (u32, u32, u32), explore: RuleKind) -> Self {
        let (g, r, b) = scheme;
        let request =
            Request::new(workload).dim(Some(k)).size(Some(size.to_vec())).scheme(g, r, b).explore(Some(explore));
        Self { request, mixed: None, exact: explore == RuleKind::Full || explore.certifies() }
    }

    /// A field of the user's own as CUDA source, which no CPU can evaluate.
    fn of_source(k: usize, size: &[u32], scheme: (u32, u32, u32)) -> Self {
        let mut case = Self::new(FieldKind::Kernel, k, size, scheme, RuleKind::Border);
        case.request.source = Some(include_str!("shells.cuh").into());
        case.request.computed.dwell = Some(8);
        case
    }

    /// A formula.
    fn of_text(text: &str, k: usize, size: &[u32], scheme: (u32, u32, u32), explore: RuleKind) -> Self {
        let mut case = Self::new(FieldKind::Formula, k, size, scheme, explore);
        case.request.source = Some(text.into());
        case
    }

    /// An array of a type: a ball about one corner and a wall across axis 0, with values that do not depend on the other cells, and in the
    /// ball's middle one that is not a number where the type has such.
    fn of_array(kind: CellType, size: &[u32], scheme: (u32, u32, u32), explore: RuleKind) -> Self {
        let cells: u32 = size.iter().product();
        let word = |mut index: u32| {
            let cell = size.iter().map(|&side| {
                let c = index % side;
                index /= side;
                c
            });
            let cell: Vec<u32> = cell.collect();
            let from_corner: u32 = cell.iter().map(|c| c * c).sum();
            match from_corner {
                0..4 => kind.nan().unwrap_or(5),
                4..60 => 3,
                _ if cell[0] == size[0] / 2 => u64::from(cell[size.len() - 1] % 3),
                _ => kind.most().min(0x8000_0000_0000_0000),
            }
        };
        let bytes = (0..cells).flat_map(|index| word(index).to_le_bytes().into_iter().take(kind.bytes() as usize));
        let bytes: Vec<u8> = match cfg!(target_endian = "little") {
            true => bytes.collect(),
            false => bytes
                .collect::<Vec<_>>()
                .chunks(kind.bytes() as usize)
                .flat_map(|cell| cell.iter().rev())
                .copied()
                .collect(),
        };
        let array = StoredArray::new(kind.name(), kind, size.to_vec(), bytes).expect("as many bytes as cells need");
        let mut case = Self::new(FieldKind::Array, size.len(), size, scheme, explore);
        case.request.data = Some(FieldData::Array(Arc::new(array)));
        case
    }

    /// A list of cells: a full block whose values differ by halves, cells here and there, and a background that is not 0.
    fn of_list(kind: CellType, size: &[u32], scheme: (u32, u32, u32), explore: RuleKind) -> Self {
        let mut state = 7u64;
        let mut random = |n: u32| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as u32 % n
        };
        let block: u32 = size.iter().map(|n| n / 2).product();
        let in_block = (0..block).map(|mut index| {
            let cell = size.iter().map(|n| {
                let c = index % (n / 2);
                index /= n / 2;
                c
            });
            let cell: Vec<u32> = cell.collect();
            let value = if cell[0] < size[0] / 4 { 3.0 } else { -4.0 };
            (cell, value)
        });
        let mut listed: BTreeMap<Vec<u32>, f64> = in_block.collect();
        for number in 0..40 {
            let cell = size.iter().map(|&n| random(n)).collect();
            listed.entry(cell).or_insert(f64::from(number % 3));
        }
        let list = StoredList::builder(kind, size.to_vec()).expect("there are cells");
        let mut list = list.background(kind.word_of(1.0));
        listed.iter().try_for_each(|(cell, &value)| list.push(cell, kind.word_of(value))).expect("cells of the domain");
        let list = list.build(format!("{kind} list")).expect("no cell is listed twice");
        let mut case = Self::new(FieldKind::Array, size.len(), size, scheme, explore);
        case.request = case.request.data(list);
        case
    }

    /// A mesh: a torus in few pieces.
    fn of_mesh(value: DataValue, size: &[u32], scheme: (u32, u32, u32), explore: RuleKind) -> Self {
        let mut case = Self::new(FieldKind::Mesh, 3, size, scheme, explore);
        case.request = case.request.data(Mesh::torus(2.0, 0.8, [11, 7]).named("torus")).value(Some(value));
        case
    }

    /// Points: some in random cells, and a row of them in which no cell is empty.
    fn of_points(value: DataValue, size: &[u32], scheme: (u32, u32, u32), explore: RuleKind) -> Self {
        let k = size.len();
        let mut state = 1u64;
        let mut random = |n: u32| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as f64 / 2f64.powi(31) * f64::from(n)
        };
        let scattered = (0..60).flat_map(|_| size.iter().map(|&n| random(n)).collect::<Vec<_>>());
        let mut coordinates: Vec<f64> = scattered.collect();
        for x in 0..size[0] {
            coordinates.push(f64::from(x) + 0.5);
            coordinates.resize(coordinates.len() + k - 1, 1.5);
        }
        let values: Vec<i16> = (0..coordinates.len() / k).map(|i| (i % 5) as i16 - 2).collect();
        let points = Points::new(k, coordinates).expect("there are points of k coordinates");
        let points = points.attribute(PointAttribute::new("height", &values)).expect("each has a height").named("scan");
        let mut case = Self::new(FieldKind::Points, k, size, scheme, explore);
        case.request = case.request.data(points).value(Some(value));
        case.request.computed.window = Some(size.iter().map(|&n| [0.0, f64::from(n)]).collect());
        case
    }

    fn mixed(mut self, mixed: &[u64]) -> Self {
        self.mixed = Some(mixed.to_vec());
        self
    }

    /// With g per axis.
    fn g(mut self, g: &[u32]) -> Self {
        self.request.computed.g = Some(g.to_vec());
        self
    }

    /// With r and B per axis.
    fn shape(mut self, r: &[u32], b: &[u32]) -> Self {
        (self.request.computed.r, self.request.computed.b) = (Some(r.to_vec()), Some(b.to_vec()));
        self
    }

    fn precision(mut self, precision: Precision) -> Self {
        self.request.computed.precision = Some(precision);
        self
    }

    fn plain(mut self) -> Self {
        self.request.computed.arithmetic = Some(Arithmetic::Plain);
        self
    }

    /// The case in words.
    pub fn name(&self) -> String {
        let Request { computed, .. } = &self.request;
        let workload = self.request.title();
        let join = |v: &Option<Vec<u32>>| v.iter().flatten().map(u32::to_string).collect::<Vec<_>>().join("x");
        format!(
            "{workload} k={} n={} g={} r={} B={} {} {}{}",
            self.request.k(),
            join(&computed.size),
            join(&computed.g),
            join(&computed.r),
            join(&computed.b),
            computed.explore.map_or("", RuleKind::name),
            computed.precision.unwrap_or(Precision::F32),
            if computed.arithmetic == Some(Arithmetic::Plain) { " plain" } else { "" },
        )
    }

    /// The field without its sizes, and the precision. All formulas are of one kind.
    pub(super) fn kind(&self) -> (String, Option<Precision>) {
        let Request { workload, computed, .. } = &self.request;
        let field = match workload {
            FieldKind::Formula => workload.to_string(),
            _ => self.request.title(),
        };
        (field, computed.precision)
    }
}

/// Small cases over every field, dimension and rule; sizes that divide and that do not.
pub fn cases() -> Vec<Case> {
    use FieldKind::{Cantor, Diagonal, Menger, Simplex};
    use RuleKind::{Border, Closed, Full};
    let mut cases =
        [of_iterations(), of_known_counts(), of_unequal_axes(), proven(), of_formulas(), of_data()].concat();
    for field in FieldKind::all().filter(|field| matches!(field, FieldKind::Own(_))) {
        for &k in field.dims() {
            // Few cells, and sides that nothing divides.
            let side = [999, 83, 23, 11, 7, 5, 4, 3][k - 1];
            cases.extend([Border, Closed, Full].map(|rule| Case::new(field, k, &[side], (2, 2, 1), rule)));
        }
    }
    for case in &mut cases {
        // Fields whose surface test is exact, beside those explored in full.
        case.exact |= matches!(case.request.workload, Cantor | Menger | Simplex | Diagonal);
    }
    cases
}

/// Iterations in two to six dimensions.
fn of_iterations() -> Vec<Case> {
    use FieldKind::{Julibrot, Mandelbrot, Mandelbulb, Mxm};
    use RuleKind::{Border, Closed, Full};
    vec![
        Case::new(Mandelbrot, 2, &[128], (2, 2, 1), Border),
        Case::new(Mandelbrot, 2, &[128], (2, 2, 4), Border).precision(Precision::F64),
        Case::new(Mandelbrot, 2, &[120, 64], (2, 4, 2), Border).plain(),
        Case::new(Mandelbrot, 2, &[100, 77], (3, 2, 3), Border),
        Case::new(Mandelbrot, 2, &[100, 77], (5, 4, 1), Closed),
        Case::new(Mandelbrot, 2, &[90], (3, 3, 2), Full),
        // One leaf that is larger than what is evaluated at a time.
        Case::new(Mandelbrot, 2, &[20_000, 7], (1, 2, 8), Border),
        Case::new(Mandelbulb, 3, &[31, 29, 43], (1, 2, 64), Border),
        Case::new(Mandelbulb, 3, &[24], (3, 2, 2), Border),
        Case::new(Mandelbulb, 3, &[19], (2, 2, 2), Border).plain(),
        Case::new(Mandelbulb, 3, &[20, 17, 23], (2, 2, 2), Border).precision(Precision::F64),
        Case::new(Julibrot, 4, &[12], (2, 2, 1), Border),
        Case::new(Julibrot, 4, &[9, 8, 7, 10], (2, 2, 1), Full).precision(Precision::F64),
        Case::new(Mxm, 4, &[16], (2, 2, 1), Full),
        Case::new(Mxm, 6, &[4], (2, 2, 1), Border),
    ]
}

/// Fields of which most have known counts, and a field of the user's own.
fn of_known_counts() -> Vec<Case> {
    use FieldKind::{Cantor, Carpet, Diagonal, Menger, Simplex};
    use RuleKind::{Border, Closed, Full};
    vec![
        Case::new(Cantor, 1, &[729], (3, 3, 1), Full).mixed(&[2, 4, 8, 16, 32]),
        Case::new(Cantor, 2, &[81], (3, 9, 1), Full).mixed(&[4, 64]),
        Case::new(Cantor, 2, &[81], (3, 3, 1), Border).mixed(&[4, 16, 64]),
        Case::new(Cantor, 3, &[27], (3, 3, 1), Border).mixed(&[8, 64]),
        Case::new(Carpet, 2, &[81], (3, 3, 1), Full).mixed(&[8, 64, 512]),
        Case::new(Menger, 2, &[27], (3, 3, 1), Full).mixed(&[8, 64]),
        Case::new(Menger, 3, &[27], (3, 3, 1), Border).mixed(&[20, 400]),
        Case::new(Menger, 4, &[9], (3, 3, 1), Full).mixed(&[48]),
        Case::new(Simplex, 2, &[64], (2, 2, 1), Border).mixed(&[3, 9, 27, 81, 243]),
        Case::new(Simplex, 3, &[32], (2, 4, 1), Full).mixed(&[4, 64]),
        Case::new(Simplex, 4, &[16], (4, 2, 1), Full).mixed(&[25, 125]),
        Case::new(Simplex, 5, &[8], (2, 2, 1), Full).mixed(&[6, 36]),
        Case::new(Diagonal, 3, &[48], (3, 2, 1), Border).mixed(&[3, 6, 12, 24]),
        Case::new(Diagonal, 6, &[8], (2, 2, 1), Full).mixed(&[2, 4]),
        Case::new(Diagonal, 7, &[4], (2, 2, 1), Full).mixed(&[2]),
        Case::new(Diagonal, 8, &[4], (2, 2, 1), Full).mixed(&[2]),
        Case::new(Carpet, 3, &[27], (3, 3, 1), Closed),
        Case::of_source(3, &[24], (2, 2, 1)),
    ]
}

/// Axes that are not split, whose regions may be single cells, and unequal stop sides.
fn of_unequal_axes() -> Vec<Case> {
    use FieldKind::{Cantor, Julibrot, Mandelbrot, Mandelbulb, Mxm};
    use RuleKind::{Border, Closed, Full};
    vec![
        Case::new(Mandelbrot, 2, &[100, 77], (5, 2, 1), Border).shape(&[2, 2], &[2, 8]),
        Case::new(Mandelbrot, 2, &[64, 90], (4, 3, 2), Closed).shape(&[1, 3], &[64, 2]),
        Case::new(Mandelbulb, 3, &[24, 20, 17], (3, 2, 1), Border).g(&[3, 2, 17]).shape(&[2, 2, 1], &[1, 2, 9]),
        Case::new(Julibrot, 4, &[12, 10, 8, 5], (2, 2, 1), Border).g(&[2, 2, 2, 5]).shape(&[1, 2, 4, 1], &[1; 4]),
        Case::new(Cantor, 2, &[81], (3, 3, 1), Full).shape(&[3, 1], &[1, 81]).mixed(&[4, 8, 16]),
        Case::new(Mxm, 4, &[8], (2, 2, 1), Full).shape(&[2, 2, 1, 2], &[1; 4]),
    ]
}

/// Cells that are proven, or looked at one by one.
fn proven() -> Vec<Case> {
    use FieldKind::{Julibrot, Mandelbrot, Mandelbulb, Menger, Mxm};
    use RuleKind::Certified;
    vec![
        Case::new(Mandelbrot, 2, &[128], (2, 2, 1), Certified),
        Case::new(Mandelbrot, 2, &[90, 77], (3, 2, 2), Certified).precision(Precision::F64).plain(),
        Case::new(Mandelbulb, 3, &[24, 21, 20], (2, 2, 1), Certified),
        Case::new(Julibrot, 4, &[12, 9, 8, 10], (2, 2, 1), Certified).plain(),
        Case::new(Mxm, 4, &[12, 10, 12, 10], (2, 2, 1), Certified),
        Case::new(Menger, 2, &[27], (3, 3, 1), Certified).mixed(&[8, 64]),
    ]
}

/// Formulas: a ball, a comparison of several, classes, iterations, and values of either precision.
fn of_formulas() -> Vec<Case> {
    use FieldKind::Formula;
    use RuleKind::{Certified, Full};
    vec![
        Case::new(Formula, 3, &[24, 20, 23], (3, 2, 2), Certified),
        Case::of_text("|x| + |y| < 0.7 and not sin(9*x) < y", 2, &[90, 77], (3, 2, 2), Certified).plain(),
        Case::of_text("classes(x*y - z, -0.5, 0, 0.5)", 4, &[9, 12, 8, 10], (2, 2, 1), Full),
        Case::of_text("exp(-4*x^2) + ln(|y| + 0.1) < cos(7*z)", 3, &[20, 17, 18], (2, 2, 2), Certified).plain(),
        // Iterations: of a complex number, and of real ones.
        Case::of_text("iterate z = z^2 + c from z = 0 while |z| < 2 cap 60", 2, &[70, 64], (3, 2, 2), Certified)
            .plain(),
        Case::of_text(
            "iterate u = u*v + x, v = |u| - y from u = z, v = 1 while u*v < 4 cap 9",
            3,
            &[16, 13, 15],
            (2, 2, 2),
            Full,
        )
        .precision(Precision::F64),
        Case::of_text("max(x, 0.25)", 1, &[200], (3, 2, 2), Certified),
    ]
}

/// Meshes, points, a formula that divides by 0, lists and arrays.
fn of_data() -> Vec<Case> {
    use RuleKind::{Border, Certified, Full};
    vec![
        // Of a mesh.
        Case::of_mesh(DataValue::Inside, &[24, 21, 20], (3, 2, 1), Certified),
        Case::of_mesh(DataValue::Surface, &[20, 24, 17], (2, 2, 2), Full),
        Case::of_mesh(DataValue::Distance, &[24, 20, 21], (3, 2, 1), Certified),
        // Of points.
        Case::of_points(DataValue::Occupied, &[24, 21, 20], (3, 2, 1), Full),
        Case::of_points(DataValue::Count, &[40, 33], (2, 3, 2), Certified),
        Case::of_points(DataValue::Min, &[9, 12, 8, 10], (2, 2, 1), Full),
        Case::of_points(DataValue::Mean, &[20, 24, 17], (2, 2, 2), Full),
        // A formula that divides by 0.
        Case::of_text("floor(3*x) / floor(2*y)", 2, &[60], (2, 2, 1), Certified).precision(Precision::F64),
        // Of a list.
        Case::of_list(CellType::I16, &[24, 20, 23], (3, 2, 2), Full),
        Case::of_list(CellType::F64, &[90, 77], (2, 3, 2), Certified),
        Case::of_list(CellType::U8, &[9, 12, 8, 10], (1, 2, 1), Full),
        // Of an array.
        Case::of_array(CellType::I16, &[24, 20, 23], (3, 2, 2), Full),
        Case::of_array(CellType::F32, &[90, 77], (3, 2, 2), Full),
        Case::of_array(CellType::U64, &[999], (2, 3, 2), Border),
        Case::of_array(CellType::I8, &[33, 20, 17], (2, 2, 2), Certified),
        Case::of_array(CellType::U8, &[9, 12, 8, 10], (2, 2, 1), Full),
    ]
}
