/* What is kept with communicators: who their ranks are in the job, and an id that all ranks agree on
 * without talking: every rank of a communicator has made as many communicators of the same ranks before,
 * because making one is collective. */
#include "backends/pmpi/pmpi.h"
#include "base/number_map.h"
#include "base/os/thread.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static sp_mutex lock = SP_MUTEX_INIT;
static bool has_keyval;
static int keyval;
static sp_number_map num_made; /* hash of the ranks to how many such communicators there were */

/* A duplicate is a communicator of its own. */
static int copy_nothing(MPI_Comm comm, int key, void *extra, void *from, void *to, int *flag)
{
    (void)comm, (void)key, (void)extra, (void)from, (void)to;
    *flag = 0;
    return MPI_SUCCESS;
}

static int drop(MPI_Comm comm, int key, void *value, void *extra)
{
    sp_pmpi_comm *known = value;
    (void)comm, (void)key, (void)extra;
    free(known->world);
    free(known);
    return MPI_SUCCESS;
}

/* ---- Ranks -----------------------------------------------------------------------------------*/

/* Ranks in the job of the members of a group, -1 for those of another job; NULL: memory is short. */
static int *world_ranks(MPI_Group group, int count)
{
    MPI_Group world;
    int *from = calloc((size_t)count + 1, sizeof *from);
    int *to = calloc((size_t)count + 1, sizeof *to);
    if (from == NULL || to == NULL || SP_MPI(Comm_group)(sp_pmpi_world(), &world) != MPI_SUCCESS) {
        free(from);
        free(to);
        return NULL;
    }
    for (int i = 0; i < count; i++)
        from[i] = i;
    SP_MPI(Group_translate_ranks)(group, count, from, world, to);
    SP_MPI(Group_free)(&world);
    for (int i = 0; i < count; i++)
        to[i] = to[i] < 0 ? -1 : to[i];
    free(from);
    return to;
}

static int *ranks_of(MPI_Comm comm, bool is_remote, int *out_count)
{
    MPI_Group group;
    int status = is_remote ? SP_MPI(Comm_remote_group)(comm, &group) : SP_MPI(Comm_group)(comm, &group);
    if (status != MPI_SUCCESS)
        return NULL;
    SP_MPI(Group_size)(group, out_count);
    int *ranks = world_ranks(group, *out_count);
    SP_MPI(Group_free)(&group);
    return ranks;
}

static uint64_t hash_of(const int *ranks, int count)
{
    uint64_t hash = UINT64_C(0xCBF29CE484222325);
    for (int i = 0; i < count; i++)
        hash = sp_number_hash(hash * 31 + (uint64_t)(uint32_t)ranks[i] + 1);
    return hash;
}

static uint32_t next_id(uint64_t hash)
{
    uint32_t before = sp_number_map_get(&num_made, hash);
    before = before == SP_NUMBER_NONE ? 0 : before;
    sp_number_map_set(&num_made, hash, before + 1);
    uint32_t id = (uint32_t)(sp_number_hash(hash + before) & 0x7FFFFFFF);
    return id == 0 ? 1 : id;
}

/* ---- Communicators ---------------------------------------------------------------------------*/

static void describe(sp_pmpi_comm *made, MPI_Comm comm)
{
    int is_inter = 0, count = 0;
    int *own = ranks_of(comm, false, &count);
    uint64_t hash = own == NULL ? 0 : hash_of(own, count);
    made->num_peers = count;
    made->world = own;
    SP_MPI(Comm_test_inter)(comm, &is_inter);
    if (is_inter) {
        free(own);
        made->world = ranks_of(comm, true, &made->num_peers);
        /* The same seen from both sides. */
        hash ^= made->world == NULL ? 0 : hash_of(made->world, made->num_peers);
    }
    SP_MPI(Comm_rank)(comm, &made->rank);
    SP_MPI(Comm_size)(comm, &made->size);
    made->id = comm == sp_pmpi_world() ? 0 : next_id(hash);
}

static sp_pmpi_comm *make(MPI_Comm comm)
{
    sp_pmpi_comm *made = calloc(1, sizeof *made);
    if (made == NULL)
        return NULL;
    describe(made, comm);
    if (SP_MPI(Comm_set_attr)(comm, keyval, made) == MPI_SUCCESS)
        return made;
    drop(comm, keyval, made, NULL);
    return NULL;
}

static sp_pmpi_comm *look(MPI_Comm comm)
{
    sp_pmpi_comm *known = NULL;
    int has = 0;
    if (SP_MPI(Comm_get_attr)(comm, keyval, &known, &has) != MPI_SUCCESS || !has)
        return NULL;
    return known;
}

sp_pmpi_comm *sp_pmpi_comm_of(MPI_Comm comm)
{
    if (sp_pmpi_is_no_comm(comm))
        return NULL;
    sp_mutex_lock(&lock);
    if (!has_keyval)
        has_keyval = SP_MPI(Comm_create_keyval)(copy_nothing, drop, &keyval, NULL) == MPI_SUCCESS;
    sp_pmpi_comm *known = has_keyval ? look(comm) : NULL;
    if (known == NULL && has_keyval)
        known = make(comm);
    sp_mutex_unlock(&lock);
    return known;
}

void sp_pmpi_comm_made(MPI_Comm comm)
{
    sp_pmpi_comm_of(comm);
}

int sp_pmpi_world_rank(const sp_pmpi_comm *comm, int peer)
{
    if (comm == NULL || peer < 0 || peer >= comm->num_peers || comm->world == NULL)
        return -1;
    return comm->world[peer];
}

int sp_pmpi_window_rank(MPI_Win win, int target)
{
    MPI_Group group, world;
    int rank = -1;
    if (target < 0 || SP_MPI(Win_get_group)(win, &group) != MPI_SUCCESS)
        return -1;
    if (SP_MPI(Comm_group)(sp_pmpi_world(), &world) == MPI_SUCCESS) {
        SP_MPI(Group_translate_ranks)(group, 1, &target, world, &rank);
        SP_MPI(Group_free)(&world);
    }
    SP_MPI(Group_free)(&group);
    return rank < 0 ? -1 : rank;
}

/* ---- Counts ----------------------------------------------------------------------------------*/

int64_t sp_pmpi_comm_size(MPI_Comm comm)
{
    const sp_pmpi_comm *known = sp_pmpi_comm_of(comm);
    return known == NULL ? -1 : known->num_peers;
}

static int64_t count_at(const void *counts, size_t width, int i)
{
    int32_t narrow;
    int64_t wide;
    const char *at = (const char *)counts + (size_t)i * width;
    if (width == sizeof narrow) {
        memcpy(&narrow, at, sizeof narrow);
        return narrow;
    }
    memcpy(&wide, at, sizeof wide);
    return wide;
}

int64_t sp_pmpi_count_of_own(const void *counts, size_t width, MPI_Comm comm)
{
    const sp_pmpi_comm *known = sp_pmpi_comm_of(comm);
    return known == NULL ? -1 : count_at(counts, width, known->rank);
}

int64_t sp_pmpi_sum_of_counts(const void *counts, size_t width, MPI_Comm comm)
{
    const sp_pmpi_comm *known = sp_pmpi_comm_of(comm);
    int64_t sum = 0;
    for (int i = 0; known != NULL && i < known->num_peers; i++)
        sum += count_at(counts, width, i);
    return known == NULL ? -1 : sum;
}
