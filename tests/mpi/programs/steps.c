/* steps HOW [PREFIX]: each rank calls "step" once more than its number, inside "all". HOW is made of
 *     e  sp_init before MPI_Init, with rank 0 everywhere
 *     f  sp_finalize before MPI_Finalize
 *     l  sp_finalize after it
 *     n  sp_init and sp_finalize not at all
 *     x  rank 1 leaves without either
 */
#include <mpi.h>
#include <scope_profiler.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int has(char **argv, char letter)
{
    return strchr(argv[1], letter) != NULL;
}

int main(int argc, char **argv)
{
    const char *prefix = argc > 2 ? argv[2] : "run";
    int rank, status = SP_OK;
    if (has(argv, 'e'))
        sp_init(prefix, 0);
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (!has(argv, 'e') && !has(argv, 'n'))
        sp_init(prefix, rank);
    int all = sp_region("all"), step = sp_region("step");
    sp_begin(all);
    for (int i = 0; i <= rank; i++) {
        sp_begin(step);
        sp_end(step);
    }
    sp_end(all);
    MPI_Barrier(MPI_COMM_WORLD);
    if (has(argv, 'x') && rank == 1)
        _exit(0);
    if (has(argv, 'f'))
        status = sp_finalize();
    if (has(argv, 'x'))
        _exit(status); /* MPI would wait for the one that left */
    MPI_Finalize();
    if (has(argv, 'l'))
        status = sp_finalize();
    if (status != SP_OK)
        fprintf(stderr, "%s\n", sp_error_string(status));
    if (rank == 0)
        printf("file: %s\n", sp_output_path());
    return status;
}
