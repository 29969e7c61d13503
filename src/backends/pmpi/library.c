/* What differs between Open MPI and MPICH: names of their libraries and a few of their constants. */
#include "backends/pmpi/pmpi.h"

#include <stdlib.h>

#ifdef OPEN_MPI
static const char *const libraries[] = {"libmpi.so.40", "libmpi_mpifh.so.40", "libmpi_usempif08.so.40"};
#else
static const char *const libraries[] = {"libmpich.so.12", "libmpi.so.12", "libmpichfort.so.12",
                                        "libmpifort.so.12"};
#endif

/* Tells that this library is in the process, and for which MPI. */
#ifdef OPEN_MPI
SP_API extern const char scope_profiler_pmpi_mpi[];
const char scope_profiler_pmpi_mpi[] = "openmpi";
#else
SP_API extern const char scope_profiler_pmpi_mpi[];
const char scope_profiler_pmpi_mpi[] = "mpich";
#endif

/* A library that came in with local scope (by way of a Python module, say) is not among those that
 * follow this one. */
sp_os_function sp_pmpi_find(const char *name)
{
    sp_os_function found = sp_os_next_function(name);
    for (size_t i = 0; found == NULL && i < sizeof libraries / sizeof libraries[0]; i++) {
        void *library = sp_os_library_loaded(libraries[i]);
        if (library != NULL)
            found = sp_os_library_function(library, name);
    }
    return found;
}

bool sp_pmpi_is_own_library(void)
{
#ifdef OPEN_MPI
    return sp_pmpi_find("ompi_mpi_init") != NULL;
#else
    return sp_pmpi_find("PMPI_Comm_rank") != NULL && sp_pmpi_find("ompi_mpi_init") == NULL;
#endif
}

MPI_Comm sp_pmpi_world(void)
{
#ifdef OPEN_MPI
    return SP_FROM_FORTRAN(Comm, 0); /* its name is the address of a variable of the library */
#else
    return MPI_COMM_WORLD;
#endif
}

bool sp_pmpi_is_no_comm(MPI_Comm comm)
{
#ifdef OPEN_MPI
    return comm == NULL || comm == SP_FROM_FORTRAN(Comm, 2);
#else
    return comm == MPI_COMM_NULL;
#endif
}

bool sp_pmpi_is_no_type(MPI_Datatype type)
{
#ifdef OPEN_MPI
    return type == NULL || type == SP_FROM_FORTRAN(Type, 0);
#else
    return type == MPI_DATATYPE_NULL;
#endif
}

const void *sp_pmpi_fortran_buffer(const void *buffer)
{
#ifdef OPEN_MPI
    const void *in_place = sp_os_program_variable("mpi_fortran_in_place_");
#else
    const void *const *pointer = sp_os_program_variable("MPIR_F_MPI_IN_PLACE");
    const void *in_place = pointer == NULL ? NULL : *pointer;
#endif
    return in_place != NULL && buffer == in_place ? MPI_IN_PLACE : buffer;
}

MPI_Request *sp_pmpi_fortran_requests(const void *requests, int count)
{
    const MPI_Fint *numbers = requests;
    MPI_Request *copy = calloc(count > 0 ? (size_t)count : 1, sizeof *copy);
    for (int i = 0; copy != NULL && i < count; i++)
        copy[i] = SP_FROM_FORTRAN(Request, numbers[i]);
    return copy;
}
