/* The wrappers themselves, made from a table at build time by tools/generate_mpi_wrappers.py. */
#include "backends/pmpi/pmpi.h"

#include <stdlib.h>

#define sp_pmpi_own_count(counts, comm) sp_pmpi_count_of_own((counts), sizeof *(counts), (comm))
#define sp_pmpi_all_counts(counts, comm) sp_pmpi_sum_of_counts((counts), sizeof *(counts), (comm))

#include SP_PMPI_WRAPPERS
