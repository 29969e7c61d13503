/* What a call is about, as metadata of the call. */
#include "backends/pmpi/pmpi.h"
#include "base/json.h"

#include <stdatomic.h>

static void add_key(sp_text *members, const char *key)
{
    sp_text_add(members, members->length > 0 ? ", \"" : "\"");
    sp_text_add(members, key);
    sp_text_add(members, "\": ");
}

void sp_pmpi_note_integer(sp_pmpi_note *note, const char *key, int64_t value)
{
    if (!note->is_wanted)
        return;
    add_key(&note->members, key);
    sp_json_integer(&note->members, value);
}

int64_t sp_pmpi_bytes(int64_t count, MPI_Datatype type)
{
    int size;
    if (count == 0)
        return 0;
    /* Asking for what is no type would end the program. */
    if (count < 0 || sp_pmpi_is_no_type(type) || SP_MPI(Type_size)(type, &size) != MPI_SUCCESS || size < 0)
        return -1;
    return count * size;
}

void sp_pmpi_note_bytes(sp_pmpi_note *note, int64_t bytes)
{
    if (bytes >= 0)
        sp_pmpi_note_integer(note, "bytes", bytes);
}

static sp_pmpi_comm *note_message(sp_pmpi_note *note, int64_t bytes, int peer, int tag,
                                  MPI_Comm comm)
{
    sp_pmpi_comm *known = sp_pmpi_comm_of(comm);
    sp_pmpi_note_bytes(note, bytes);
    sp_pmpi_note_integer(note, "peer", sp_pmpi_rank(peer));
    sp_pmpi_note_integer(note, "tag", tag < 0 ? -1 : tag);
    if (known != NULL)
        sp_pmpi_note_integer(note, "comm", known->id);
    return known;
}

void sp_pmpi_note_send(sp_pmpi_note *note, int64_t bytes, int dest, int tag, MPI_Comm comm)
{
    if (!note->is_wanted)
        return;
    int to = sp_pmpi_world_rank(note_message(note, bytes, dest, tag, comm), dest);
    if (to >= 0)
        sp_pmpi_note_integer(note, "to", to);
}

void sp_pmpi_note_receive(sp_pmpi_note *note, int64_t bytes, int source, int tag, MPI_Comm comm)
{
    if (note->is_wanted)
        note_message(note, bytes, source, tag, comm);
}

void sp_pmpi_note_collective(sp_pmpi_note *note, int64_t bytes, int root, MPI_Comm comm)
{
    sp_pmpi_comm *known = sp_pmpi_comm_of(comm);
    sp_pmpi_note_bytes(note, bytes);
    if (root >= 0)
        sp_pmpi_note_integer(note, "root", root);
    if (known == NULL)
        return;
    sp_pmpi_note_integer(note, "comm", known->id);
    sp_pmpi_note_integer(note, "seq", atomic_fetch_add(&known->num_collectives, 1));
}

void sp_pmpi_note_access(sp_pmpi_note *note, int64_t bytes, int target, bool is_put, MPI_Win win)
{
    if (!note->is_wanted)
        return;
    int rank = sp_pmpi_window_rank(win, target);
    sp_pmpi_note_bytes(note, bytes);
    sp_pmpi_note_integer(note, "peer", sp_pmpi_rank(target));
    if (rank >= 0)
        sp_pmpi_note_integer(note, is_put ? "to" : "from", rank);
}
