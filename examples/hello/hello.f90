! hello.f90 - the smallest Fortran program that records.
!
!     gfortran hello.f90 $(scope-profiler config --cflags --libs --fortran) -o hello
!     scope-profiler run -- ./hello
program hello
    use scope_profiler
    implicit none
    integer :: greeting, i

    call sp_init("hello")
    greeting = sp_region("greeting")
    do i = 1, 3
        call sp_begin(greeting)
        print '(a)', "hello"
        call sp_end(greeting)
    end do
    call sp_finalize()
end program hello
