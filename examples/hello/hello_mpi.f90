! hello_mpi.f90 - one file per rank of an MPI program, and one profile of all.
!
!     mpifort hello_mpi.f90 $(scope-profiler config --cflags --libs --fortran) -o hello_mpi
!     mpirun -n 4 ./hello_mpi
!     scope-profiler import-native . -o hello.h5
program hello_mpi
    use mpi_f08
    use scope_profiler
    implicit none
    integer :: rank, waiting

    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call sp_init("hello", rank)
    call sp_begin_name("greeting")
    print '(a, i0)', "hello from rank ", rank
    call sp_end_name("greeting")
    waiting = sp_region("waiting")
    call sp_begin(waiting)
    call MPI_Barrier(MPI_COMM_WORLD)
    call sp_end(waiting)
    call sp_finalize()
    call MPI_Finalize()
end program hello_mpi
