// Settles lists of terminal regions by a balancer.

// A balancer calls its body for whatever lanes have a unit.
#define LABEL_LANES __activemask()

#include "prelude.cuh"

#include "team.cuh"

#include "region.cuh"
#include FIELD_HEADER
#include "value.cuh"

#include "walk.cuh"
#include "settle.cuh"

#include "balance/phases.cuh"
