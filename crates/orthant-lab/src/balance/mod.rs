//! Lists of work-items on which balancers are compared.

mod item_order;
mod work_list;

pub use item_order::ItemOrder;
pub use work_list::WorkList;

use orthant::balance::Items;

/// Every 64th item, and one more of a 64th of the largest: small enough for a check, and another list.
///
/// ```
/// use orthant::balance::Items;
///
/// let items = Items::new((0..=128).collect())?;
/// assert_eq!(orthant_lab::balance::thinned(&items).sizes(), [63, 127, 2]);
/// # Ok::<(), orthant::balance::ItemsError>(())
/// ```
pub fn thinned(items: &Items) -> Items {
    let largest = items.sizes().iter().max().map(|size| size / 64);
    let sizes = items.sizes().iter().skip(63).step_by(64).copied().chain(largest).collect();
    Items::new(sizes).expect("no more than there were")
}
