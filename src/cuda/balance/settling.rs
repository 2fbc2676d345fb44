//! Lists of terminal regions, settled by a balancer (kernels/strategies/settle.cu, `--balancer`).

use crate::abi::DeviceStruct;
use crate::backend::{Error, How, Pass};
use crate::balance::{BalanceLayout, BalancerChoice, Facts, Multiprocessors, mean_of_small};
use crate::choice::{ChoiceError, ChoiceValue};
use crate::cuda::args::{BalanceArgs, ExploreArgs, LaunchArgs, region_item_bytes};
use crate::cuda::balance::phases::{BalanceKernels, BalanceRoom, BalanceRun, defines};
use crate::cuda::device::Device;
use crate::cuda::launcher::Launcher;
use crate::cuda::limits::PENDING_PER_CREDIT;
use crate::cuda::memory::{Allocation, Reserve};
use crate::cuda::outline::Outline;
use crate::cuda::setup::Setup;
use crate::cuda::specialise::Specialisation;
use crate::dimension::MAX_DIM;
use crate::field::DeviceTwin;
use crate::geometry::Level;

/// What the regions of a list are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ListKind {
    Uniform,
    Leaves,
}

/// Kernels of a layout.
struct Compiled {
    kind: ListKind,
    defines: Vec<(&'static str, String)>,
    kernels: BalanceKernels,
}

/// A list on its way: parts of one level each, and the items that they become.
#[derive(Default)]
struct List {
    parts: Vec<ExploreArgs>,
    items: Reserve,
    sizes: Reserve,
    room: BalanceRoom,
}

/// Sizes of items, and how many of each follow each other.
fn runs(parts: &[ExploreArgs]) -> impl Iterator<Item = (u32, u64)> {
    parts.iter().map(|part| (part.units, part.base.regions))
}

/// Lists that a balancer settles, and its kernels.
pub(in crate::cuda) struct Settling {
    choice: BalancerChoice,
    compiled: Vec<Compiled>,
    /// Of uniform regions, and of leaves.
    lists: [List; 2],
    /// `RunArgs` and `FieldArgs`.
    structs: [Reserve; 2],
    /// All parts, where kernels look for them.
    parts: Reserve,
}

/// Makes the items of a list: its parts, and their address if they are on the device; returns the number of launches.
pub(in crate::cuda) type MakeItems<'a> =
    &'a mut dyn FnMut(&mut Launcher<'_>, &[ExploreArgs], u64) -> Result<u64, Error>;

impl Settling {
    /// What settles lists, if there are any; its kernels are compiled for the lists that the plan is expected to have.
    ///
    /// # Errors
    /// [`Error::Choice`] of a plan whose regions have too many cells, [`Error::Balancer`], [`Error::Cuda`].
    pub(in crate::cuda) fn new(setup: &Setup<'_>) -> Result<Option<Self>, Error> {
        let Some(choice) = setup.how.settles_by() else { return Ok(None) };
        let mut settling = Self {
            choice,
            compiled: Vec::new(),
            lists: Default::default(),
            structs: Default::default(),
            parts: Reserve::default(),
        };
        for (level, &regions) in setup.outline.levels.iter().zip(&setup.outline.expected) {
            // How many there are, only a run tells.
            let regions = (regions as u64).clamp(1, 1 << 24);
            settling.add(setup, level, regions, ExploreArgs::default())?;
            if setup.outline.is_last(level.index) {
                settling.add(setup, level, regions, ExploreArgs { leaves: 1, ..ExploreArgs::default() })?;
            }
            if setup.how.tuning.pass_on_cuda() == Pass::Level || setup.outline.is_last(level.index) {
                for kind in [ListKind::Uniform, ListKind::Leaves] {
                    let parts = std::mem::take(&mut settling.lists[kind as usize].parts);
                    settling.prepare(setup, kind, &parts)?;
                }
            }
        }
        Ok(Some(settling))
    }

    /// Bytes that settling from lists is expected to take per region; 0 if there are none.
    pub(in crate::cuda) fn bytes_per_region(outline: &Outline<'_>, how: &How) -> u64 {
        let item = region_item_bytes(outline.dimensions, outline.labels.kind());
        how.settles_by().map_or(0, |_| item + 4 + BalanceRoom::BYTES_PER_ITEM)
    }

    /// Tells kernels where the next run goes.
    pub(in crate::cuda) fn aim(&mut self, setup: &Setup<'_>) -> Result<(), Error> {
        for (to, argument) in self.structs.iter_mut().zip([&setup.run, &setup.args]) {
            put(setup.device, to, &argument.bytes())?;
        }
        self.clear();
        Ok(())
    }

    /// True if nothing is listed.
    pub(in crate::cuda) fn is_empty(&self) -> bool {
        self.lists.iter().all(|list| list.parts.is_empty())
    }

    /// Forgets what lists hold.
    pub(in crate::cuda) fn clear(&mut self) {
        self.lists.iter_mut().for_each(|list| list.parts.clear());
    }

    /// So many regions of a level for later, as `part` lists them: uniform ones, or leaves.
    pub(in crate::cuda) fn add(
        &mut self,
        setup: &Setup<'_>,
        level: &Level<MAX_DIM>,
        regions: u64,
        part: ExploreArgs,
    ) -> Result<(), Error> {
        if regions == 0 {
            return Ok(());
        }
        let kind = if part.leaves == 0 { ListKind::Uniform } else { ListKind::Leaves };
        let quad = (16 / setup.storage.cell.bytes()) as u32;
        let side = level.whole_sides()[0];
        let wide = kind == ListKind::Uniform && !setup.windowed() && side > 0 && side.is_multiple_of(quad);
        // What is beyond the window is nobody's, of uniform regions.
        let shown = if kind == ListKind::Uniform { setup.start.window.extent } else { [u32::MAX; MAX_DIM] };
        let cells = level.most_cells_within(shown);
        let units = cells / if wide { u64::from(quad) } else { 1 };
        let parts = &mut self.lists[kind as usize].parts;
        let first = parts.last().map_or(0, |last| last.base.first + last.base.regions);
        let refused = |reason| {
            let choice = ChoiceError::new("balancer", self.choice.write().unwrap_or_default(), reason);
            choice.with(&["g", "pass"])
        };
        let units = u32::try_from(units).map_err(|_| {
            refused(format!(
                "a region of level {} has {cells} cells, which are 2^32 or more: use a larger g, or settle in place",
                level.index
            ))
        })?;
        if first + regions >= 1 << 31 {
            let regions = first + regions;
            return Err(refused(format!("{regions} terminal regions: it takes fewer than 2^31")).into());
        }
        let base = LaunchArgs { first, regions, ..part.base };
        parts.push(ExploreArgs { base, pieces: 1, units, wide: wide.into(), ..part });
        Ok(())
    }

    /// Settles all lists, which are empty then; `make` needs parts on the device if there are several of them, or always if it
    /// `looks_there`. Returns the number of launches for uniform regions and for leaves.
    pub(in crate::cuda) fn settle(
        &mut self,
        setup: &Setup<'_>,
        launcher: &mut Launcher<'_>,
        looks_there: bool,
        make: MakeItems<'_>,
    ) -> Result<[u64; 2], Error> {
        let device = setup.device;
        for list in &mut self.lists {
            let listed = runs(&list.parts).map(|(_, items)| items).sum::<u64>();
            let room = |to: &mut Reserve, what, each| {
                Ok::<u64, Error>(to.ensure(device, what, listed * each, Allocation::Pool)?.address())
            };
            let items = room(&mut list.items, "regions as items", setup.region_item_bytes())?;
            let sizes = room(&mut list.sizes, "sizes of items", 4)?;
            list.parts.iter_mut().for_each(|part| (part.items, part.sizes, part.listed) = (items, sizes, listed));
        }
        let mut address = 0;
        if self.is_empty() {
            return Ok([0; 2]);
        }
        if looks_there || self.lists.iter().any(|list| list.parts.len() > 1) {
            let parts = self.lists.iter().flat_map(|list| &list.parts);
            let bytes: Vec<u8> = parts.flat_map(DeviceStruct::bytes).collect();
            address = put(device, &mut self.parts, &bytes)?;
        }
        let mut launches = [0; 2];
        for kind in [ListKind::Uniform, ListKind::Leaves] {
            let parts = std::mem::take(&mut self.lists[kind as usize].parts);
            let Some((layout, facts)) = self.prepare(setup, kind, &parts)? else { continue };
            let mut made = make(launcher, &parts, address)?;
            if address > 0 {
                address += parts.iter().map(|part| part.bytes().len() as u64).sum::<u64>();
            }
            let List { items, sizes, room, .. } = &mut self.lists[kind as usize];
            let args = BalanceArgs {
                sizes: sizes.address(),
                regions: items.address(),
                run: self.structs[0].address(),
                field: self.structs[1].address(),
                tallies: parts[0].base.tallies,
                ..BalanceArgs::default()
            };
            let args = room.aim(device, &layout, &facts, args)?;
            let kernels = &self.compiled(kind, &defines(&layout)).expect("just prepared").kernels;
            let run = BalanceRun { device, layout: &layout, kernels, room: &self.lists[kind as usize].room, args };
            let balanced = run.scan()? + run.partition()? + run.expand()?;
            launcher.launches.kernels += balanced;
            made += balanced;
            launches[kind as usize] = made;
        }
        Ok(launches)
    }

    fn compiled(&self, kind: ListKind, defines: &[(&'static str, String)]) -> Option<&Compiled> {
        self.compiled.iter().find(|known| known.kind == kind && known.defines == defines)
    }

    /// The layout for a list, with its kernels compiled; None if it is empty.
    fn prepare(
        &mut self,
        setup: &Setup<'_>,
        kind: ListKind,
        parts: &[ExploreArgs],
    ) -> Result<Option<(BalanceLayout, Facts)>, Error> {
        if parts.is_empty() {
            return Ok(None);
        }
        let facts = Facts::of(runs(parts));
        let small = |most| mean_of_small(runs(parts), most);
        let mut layout = self.choice.of(&facts).layout(&facts, &small, Multiprocessors(setup.device.processors()))?;
        if let Some(credits) = &mut layout.credits {
            // Of the launches that may be pending, so few are sure to be taken.
            let pending =
                setup.cuda.pending_launches.map_or_else(|| setup.device.pending_limit(), |most| Ok(most.into()))?;
            *credits = (*credits).min((pending / PENDING_PER_CREDIT).max(1) as u32);
        }
        let defines = defines(&layout);
        if self.compiled(kind, &defines).is_none() {
            let Setup { outline, twin, how, .. } = setup;
            let source = specialise(outline, twin, how, kind, &layout);
            let kernels = BalanceKernels::of(&setup.device.kernels(&source)?, &layout)?;
            self.compiled.push(Compiled { kind, defines, kernels });
        }
        Ok(Some((layout, facts)))
    }
}

/// The kernels by which a plan's regions are settled, if a balancer was chosen: of uniform regions, and of leaves. They are those
/// for as many regions as there are processors, whose number no kernel knows.
///
/// # Errors
/// [`Error::Balancer`].
pub(in crate::cuda) fn specialise_all(
    outline: &Outline<'_>,
    twin: &DeviceTwin,
    how: &How,
) -> Result<Vec<Specialisation>, Error> {
    let Some(choice) = how.settles_by() else { return Ok(Vec::new()) };
    let run = [(outline.levels[0].most_cells().try_into().unwrap_or(u32::MAX), 132)];
    let facts = Facts::of(run.into_iter());
    let small = |most| mean_of_small(run.into_iter(), most);
    let layout = choice.of(&facts).layout(&facts, &small, Multiprocessors([132, 2048]))?;
    Ok([ListKind::Uniform, ListKind::Leaves].map(|kind| specialise(outline, twin, how, kind, &layout)).into())
}

/// The kernels of a layout for regions of a kind.
fn specialise(
    outline: &Outline<'_>,
    twin: &DeviceTwin,
    how: &How,
    kind: ListKind,
    layout: &BalanceLayout,
) -> Specialisation {
    let how = how.clone().block([layout.block, 1, 1]);
    let mut defines = defines(layout);
    defines.push(("BODY_HEADER", "\"balance/settle.cuh\"".into()));
    defines.push(("SETTLES_LEAVES", u32::from(kind == ListKind::Leaves).to_string()));
    Specialisation::of_levels("strategies/settle.cu", outline, twin, &how, None).and(
        &defines,
        &BalanceArgs::declaration("BalanceArgs"),
        layout.credits.is_some(),
    )
}

/// Puts bytes on the device, and returns their address.
fn put(device: &Device, to: &mut Reserve, bytes: &[u8]) -> Result<u64, Error> {
    let buffer = to.ensure(device, "what kernels are told", bytes.len() as u64, Allocation::Pool)?;
    buffer.write(device, [bytes])?;
    Ok(buffer.address())
}
