//! How often each word comes in trees whose cells have at most 16 bits: a table has room for all words, and cells need no order.

use crate::parallel;
use crate::result::{Bits, Cells, Content};
use crate::tree::error::TreeError;
use crate::tree::parts::Parts;
use crate::tree::tree_rows::TreeRows;

/// Cells and rows that a thread takes at least: so many that its table is worth it.
const CELLS: usize = 1 << 20;
const ROWS: usize = 1 << 16;

/// A number for every word of a type: cells, by word.
type WordTable<N> = Vec<N>;

impl<const K: usize> dyn Parts<K> + '_ {
    /// The words that occur, in ascending order, each with its cells; None of cells with more than 16 bits. The tree is read once.
    pub(super) fn word_counts(&self) -> Result<Option<Vec<(u64, u128)>>, TreeError> {
        if self.kind().bytes() > 2 {
            return Ok(None);
        }
        let mut table = vec![0u128; 1 << (8 * self.kind().bytes())];
        self.every_part(&|part| Ok(word_table(part)), &mut |found| {
            add(&mut table, found);
            Ok(())
        })?;
        Ok(Some(that_occur(table)))
    }
}

/// The words of a table that some cells have.
fn that_occur(table: WordTable<u128>) -> Vec<(u64, u128)> {
    (0..).zip(table).filter(|&(_, cells)| cells > 0).collect()
}

/// How many cells of a tree have each word.
fn word_table(tree: &dyn TreeRows) -> WordTable<u128> {
    let (entries, bricks, is_list) = (tree.entries(), tree.bricks(), tree.list().is_some());
    let words = 1 << (8 * bricks.kind().bytes());
    let mut table = vec![0u128; words];
    let share = |len: usize, least: usize| len.div_ceil(2 * rayon::current_num_threads()).max(least);
    // Every brick is a leaf's: what comes in all of them is what comes in all leaves. Entries of a list have no bricks.
    let cells = if is_list { 0 } else { bricks.len() };
    let each = share(cells, CELLS);
    let of_cells = |i| count(bricks, parallel::piece(cells, each, i), words);
    for found in parallel::map(cells.div_ceil(each), &of_cells) {
        add(&mut table, found);
    }
    let each = share(entries.len(), ROWS);
    let of_rows = |i| {
        let mut table = vec![0u128; words];
        for row in parallel::piece(entries.len(), each, i) {
            match entries.content(row) {
                Content::Uniform(word) => {
                    let volume = tree.volume(row);
                    table[word as usize] += if volume < u64::MAX { volume.into() } else { tree.volume_wide(row) };
                }
                Content::Leaf { .. } if is_list => {
                    tree.words(row..row + 1, &mut |word, cells| table[word as usize] += cells);
                }
                Content::Leaf { .. } => {}
            }
        }
        table
    };
    for found in parallel::map(entries.len().div_ceil(each), &of_rows) {
        add(&mut table, found);
    }
    table
}

/// How many of some cells have each word.
fn count(cells: &Cells, some: std::ops::Range<usize>, words: usize) -> WordTable<u64> {
    // Neighbours often have one word: of tables that take turns none waits for its own last sum.
    let mut tables = [(); 4].map(|()| vec![0u64; words]);
    let [a, b, c, d] = &mut tables;
    macro_rules! count {
        ($cells:expr) => {{
            let (fours, rest) = $cells[some].as_chunks::<4>();
            for four in fours {
                a[usize::from(four[0])] += 1;
                b[usize::from(four[1])] += 1;
                c[usize::from(four[2])] += 1;
                d[usize::from(four[3])] += 1;
            }
            rest.iter().for_each(|&cell| a[usize::from(cell)] += 1);
        }};
    }
    match cells.bits() {
        Bits::B1(cells) => count!(cells),
        Bits::B2(cells) => count!(cells),
        _ => unreachable!("cells of more than 16 bits are not counted by table"),
    }
    let [mut all, rest @ ..] = tables;
    rest.into_iter().for_each(|table| all.iter_mut().zip(table).for_each(|(cells, more)| *cells += more));
    all
}

fn add(table: &mut [u128], found: WordTable<impl Into<u128>>) {
    table.iter_mut().zip(found).for_each(|(cells, more)| *cells += more.into());
}
