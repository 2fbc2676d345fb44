// Tile search: items are cut in tiles of CHUNK units, and blocks search the item of a tile among the sums of tiles.
#pragma once

DEVICE void balance(const BalanceArgs& args, Body& body) {
    const u64* tiles = (const u64*)args.tiles;
    const u64 all = tiles[args.items];
    for (u64 tile = blockIdx.x; tile < all; tile += gridDim.x) {
        const u32 item = owner_by_warp(tiles, args.items, tile);
        const u64 start = prefix_of(args)[item], size = ((const u32*)args.sizes)[item];
        const u64 first = (tile - tiles[item]) * CHUNK, end = least(first + CHUNK, size);
        for (u64 rank = first + threadIdx.x; rank < end; rank += BLOCK) body(item, u32(rank), start + rank);
    }
}
