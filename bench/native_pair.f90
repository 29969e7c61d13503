! Calls as Fortran programs write them; see native_pair.c.
subroutine bench_fortran_pairs(count, region) bind(C, name="bench_fortran_pairs")
    use, intrinsic :: iso_c_binding, only: c_int
    use scope_profiler
    implicit none
    integer(c_int), value :: count, region
    integer :: i
    do i = 1, count
        call sp_begin(region)
        call sp_end(region)
    end do
end subroutine bench_fortran_pairs
