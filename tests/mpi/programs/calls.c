/* One of each kind of call, on any number of ranks from 2 on. Rank r sends r + 1 integers to the rank after
 * it, in each of the ways to send. */
#include <mpi.h>
#include <scope_profiler.h>

#include <stdio.h>
#include <stdlib.h>

enum { ROOM = 64 };

static int rank, size, next, previous, out[ROOM], in[ROOM];

static void point_to_point(void)
{
    MPI_Request requests[4];
    MPI_Send(out, rank + 1, MPI_INT, next, 7, MPI_COMM_WORLD);
    MPI_Recv(in, ROOM, MPI_INT, previous, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Isend(out, rank + 1, MPI_INT, next, 8, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(in, ROOM, MPI_INT, MPI_ANY_SOURCE, 8, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Sendrecv(out, rank + 1, MPI_INT, next, 9, in, ROOM, MPI_INT, previous, 9, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Send(out, 5, MPI_INT, MPI_PROC_NULL, 9, MPI_COMM_WORLD);
    MPI_Send_init(out, 10, MPI_INT, next, 10, MPI_COMM_WORLD, &requests[0]);
    MPI_Send_init(out, 20, MPI_BYTE, previous, 11, MPI_COMM_WORLD, &requests[1]);
    MPI_Recv_init(in, ROOM, MPI_INT, previous, 10, MPI_COMM_WORLD, &requests[2]);
    MPI_Recv_init(in + ROOM / 2, ROOM / 2, MPI_BYTE, next, 11, MPI_COMM_WORLD, &requests[3]);
    for (int i = 0; i < 3; i++) {
        MPI_Startall(4, requests);
        MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    }
    MPI_Start(&requests[2]);
    MPI_Start(&requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Wait(&requests[2], MPI_STATUS_IGNORE);
    for (int i = 0; i < 4; i++)
        MPI_Request_free(&requests[i]);
}

static void collectives(void)
{
    int counts[ROOM], places[ROOM], all[ROOM * ROOM];
    MPI_Request request;
    for (int i = 0; i < size; i++) {
        counts[i] = i + 1;
        places[i] = i * ROOM / 4;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Bcast(out, 3, MPI_DOUBLE, 1, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, in, 4, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Iallreduce(out, in, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    /* What does not count on a rank may be anything. */
    if (rank == 0)
        MPI_Gather(MPI_IN_PLACE, -1, MPI_DATATYPE_NULL, all, 2, MPI_INT, 0, MPI_COMM_WORLD);
    else
        MPI_Gather(out, 2, MPI_INT, NULL, -1, MPI_DATATYPE_NULL, 0, MPI_COMM_WORLD);
    MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_INT, all, counts, places, MPI_INT, MPI_COMM_WORLD);
    MPI_Alltoall(all, 2, MPI_INT, all + ROOM * ROOM / 2, 2, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < size; i++)
        counts[i] = 3;
    MPI_Alltoallv(all, counts, places, MPI_INT, all + ROOM * ROOM / 2, counts, places, MPI_INT,
                  MPI_COMM_WORLD);
}

/* In the halves of the job, where ranks have other numbers. */
static void communicators(void)
{
    MPI_Comm half, copy;
    int half_rank, half_size;
    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, -rank, &half);
    MPI_Comm_dup(half, &copy);
    MPI_Comm_rank(half, &half_rank);
    MPI_Comm_size(half, &half_size);
    MPI_Sendrecv(out, 16, MPI_BYTE, (half_rank + 1) % half_size, 12, in, ROOM, MPI_BYTE, MPI_ANY_SOURCE, 12,
                 copy, MPI_STATUS_IGNORE);
    MPI_Barrier(half);
    MPI_Barrier(copy);
    MPI_Comm_free(&copy);
    MPI_Comm_free(&half);
}

static void one_sided(void)
{
    MPI_Win window;
    MPI_Win_create(in, sizeof in, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_fence(0, window);
    MPI_Put(out, 6, MPI_INT, next, 0, 6, MPI_INT, window);
    MPI_Win_fence(0, window);
    MPI_Get(out, 3, MPI_INT, next, 0, 3, MPI_INT, window);
    MPI_Win_fence(0, window);
    MPI_Win_free(&window);
}

static void files(const char *path)
{
    MPI_File file;
    MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
    MPI_File_write_at_all(file, rank * 40, out, 10, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return EXIT_FAILURE;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    next = (rank + 1) % size;
    previous = (rank + size - 1) % size;
    MPI_Barrier(MPI_COMM_WORLD); /* nobody records yet */
    sp_init(argv[1], rank);
    int all = sp_region("all");
    sp_begin(all);
    point_to_point();
    collectives();
    communicators();
    one_sided();
    files(argv[2]);
    sp_end(all);
    int status = sp_finalize();
    MPI_Barrier(MPI_COMM_WORLD); /* nor any more */
    MPI_Finalize();
    if (status != SP_OK)
        fprintf(stderr, "%s\n", sp_error_string(status));
    return status == SP_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
