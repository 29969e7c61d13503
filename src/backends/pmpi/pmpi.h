/* pmpi.h - what the wrappers of MPI's operations share. Compiled once for each MPI library, against its
 * mpi.h, and linked to none: everything of MPI is looked up in the process.
 *
 * A wrapper enters, says what the call is about, begins, calls the operation, ends and leaves. On a thread
 * that is inside a wrapper every other one only passes on, so that one call of the program is one record,
 * whatever the library calls in turn.
 */
#ifndef SP_BACKENDS_PMPI_H
#define SP_BACKENDS_PMPI_H

#include "base/os/library.h"
#include "base/text.h"
#include "scope_profiler.h"

#include <mpi.h>

/* One operation of MPI: one region. */
typedef struct sp_pmpi_operation {
    const char *name;
    const char *tags;
    sp_site site;
} sp_pmpi_operation;

/* What is known of the call that a wrapper stands for. */
typedef struct sp_pmpi_note {
    sp_pmpi_operation *operation;
    bool is_wanted; /* somebody records */
    sp_text members; /* of a JSON object */
    sp_call call;
} sp_pmpi_note;

/* Functions of MPI that the wrappers need for themselves. MPICH's handles are numbers, also in C. */
#ifdef OPEN_MPI
#define SP_PMPI_CONVERSIONS(X) X(Comm_f2c) X(Request_f2c) X(Type_f2c) X(Win_f2c)
#define SP_FROM_FORTRAN(kind, number) (SP_MPI(kind##_f2c)(number)) /* kind: Comm, Request, Type, Win */
#else
#define SP_PMPI_CONVERSIONS(X)
#define SP_FROM_FORTRAN(kind, number) ((int)(number))
#endif
#define SP_PMPI_FUNCTIONS(X)                                                                       \
    X(Comm_create_keyval)                                                                          \
    X(Comm_get_attr)                                                                               \
    X(Comm_group)                                                                                  \
    X(Comm_rank)                                                                                   \
    X(Comm_remote_group)                                                                           \
    X(Comm_set_attr)                                                                               \
    X(Comm_size)                                                                                   \
    X(Comm_test_inter)                                                                             \
    X(Group_free)                                                                                  \
    X(Group_size)                                                                                  \
    X(Group_translate_ranks)                                                                       \
    X(Type_size)                                                                                   \
    X(Win_get_group)

typedef struct sp_pmpi_functions {
#define SP_PMPI_MEMBER(name) __typeof__(&MPI_##name) name;
    SP_PMPI_FUNCTIONS(SP_PMPI_MEMBER)
    SP_PMPI_CONVERSIONS(SP_PMPI_MEMBER)
#undef SP_PMPI_MEMBER
} sp_pmpi_functions;
extern sp_pmpi_functions sp_pmpi_mpi; /* filled before the first operation is found */
#define SP_MPI(name) sp_pmpi_mpi.name

/* ---- The life of a call ----------------------------------------------------------------------*/

/* The operation itself, which `slot` remembers; NULL after a line on stderr when this MPI lacks it. Where
 * the process runs another MPI than the one compiled for, it ends, with a line on stderr. */
sp_os_function sp_pmpi_real(_Atomic(sp_os_function) *slot, const char *name);

/* False: this thread is inside another wrapper. */
bool sp_pmpi_enter(sp_pmpi_note *note, sp_pmpi_operation *operation);
void sp_pmpi_begin(sp_pmpi_note *note);
void sp_pmpi_end(sp_pmpi_note *note);
void sp_pmpi_leave(void);

/* ---- What a call is about: metadata of the call ----------------------------------------------*/

void sp_pmpi_note_integer(sp_pmpi_note *note, const char *key, int64_t value);
/* Negative: not known, nothing is noted. */
void sp_pmpi_note_bytes(sp_pmpi_note *note, int64_t bytes);
/* A message to `dest` of `comm`; `to` is its rank in the job. */
void sp_pmpi_note_send(sp_pmpi_note *note, int64_t bytes, int dest, int tag, MPI_Comm comm);
void sp_pmpi_note_receive(sp_pmpi_note *note, int64_t bytes, int source, int tag, MPI_Comm comm);
/* `seq`: which collective operation of this communicator it is, recorded or not. */
void sp_pmpi_note_collective(sp_pmpi_note *note, int64_t bytes, int root, MPI_Comm comm);
/* Bytes go to the target, or come from there. */
void sp_pmpi_note_access(sp_pmpi_note *note, int64_t bytes, int target, bool is_put, MPI_Win win);
/* The messages that persistent requests send. */
void sp_pmpi_note_start(sp_pmpi_note *note, int count, const MPI_Request *requests);

/* Bytes of so many values, -1 when MPI cannot tell. */
int64_t sp_pmpi_bytes(int64_t count, MPI_Datatype type);

/* A rank as it is noted: -1 for any source and for no process. */
static inline int sp_pmpi_rank(int rank)
{
    return rank < 0 ? -1 : rank;
}

/* ---- Persistent requests ---------------------------------------------------------------------*/

void sp_pmpi_request_made(MPI_Request request, int64_t bytes, int dest, int tag, MPI_Comm comm);
void sp_pmpi_request_freed(MPI_Request request);

/* ---- Communicators ---------------------------------------------------------------------------*/

/* What is kept with a communicator, until MPI frees it. */
typedef struct sp_pmpi_comm {
    uint32_t id; /* the same on all its ranks; 0: MPI_COMM_WORLD */
    int rank, size; /* in the own group */
    int num_peers;
    int *world; /* rank in MPI_COMM_WORLD of each peer, -1: not of this job; NULL: the same */
    _Atomic int64_t num_collectives;
} sp_pmpi_comm;

/* NULL: no communicator, or memory is short. */
sp_pmpi_comm *sp_pmpi_comm_of(MPI_Comm comm);
/* To be called once for a new communicator by each of its ranks, so that they agree on its id. */
void sp_pmpi_comm_made(MPI_Comm comm);
/* Rank in the job of a peer, -1 when there is none. */
int sp_pmpi_world_rank(const sp_pmpi_comm *comm, int peer);
int sp_pmpi_window_rank(MPI_Win win, int target);
int64_t sp_pmpi_comm_size(MPI_Comm comm);
/* Of an array with one count a peer, `width` bytes each: that of this rank, and their sum. */
int64_t sp_pmpi_count_of_own(const void *counts, size_t width, MPI_Comm comm);
int64_t sp_pmpi_sum_of_counts(const void *counts, size_t width, MPI_Comm comm);

/* ---- What differs between the libraries ------------------------------------------------------*/

/* The library of that name in this process that holds a function; NULL when it has none. */
sp_os_function sp_pmpi_find(const char *name);
/* Whether the process runs the MPI that this was compiled for. */
bool sp_pmpi_is_own_library(void);
MPI_Comm sp_pmpi_world(void);
bool sp_pmpi_is_no_comm(MPI_Comm comm);
bool sp_pmpi_is_no_type(MPI_Datatype type);
/* MPI_IN_PLACE for the one of Fortran, else the same. */
const void *sp_pmpi_fortran_buffer(const void *buffer);
/* A copy of requests of Fortran; free() it. */
MPI_Request *sp_pmpi_fortran_requests(const void *requests, int count);

#endif
