! A stranger's program: as record.c.
program record
    use scope_profiler
    implicit none
    character(len=1000) :: prefix
    integer :: outer, inner, i, stat

    call get_command_argument(1, prefix)
    call sp_init(prefix)
    outer = sp_region("outer")
    inner = sp_region("inner")
    call sp_begin(outer)
    do i = 1, 2
        call sp_begin(inner)
        call sp_end(inner)
    end do
    call sp_end(outer)
    call sp_finalize(stat)
    if (stat /= SP_OK) stop 1
end program record
