program steps
    use mpi
    use scope_profiler
    implicit none
    integer :: rank, ierr, i
    integer :: step
    call MPI_Init(ierr)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
    call sp_init("run", rank)
    step = sp_region("step")
    do i = 0, rank
        call sp_begin(step)
        call sp_end(step)
    end do
    call MPI_Finalize(ierr)
end program
