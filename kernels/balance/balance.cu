// Balancers side by side: a body that changes four bytes per unit, and the check of what came of it.
#include "ground.cuh"

#include "balance/phases.cuh"
#include "balance/check.cuh"

ENTRY(check, BalanceArgs, args, u64, runs, u64, unused) { check_items(args, runs); }
