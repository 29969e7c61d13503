! What stat and errmsg say, and what is printed when neither is there.
program errors
    use scope_profiler
    use, intrinsic :: iso_fortran_env, only: int64
    implicit none
    character(len=200) :: message
    character(len=4) :: short
    integer :: stat, region
    type(sp_region_stats) :: stats

    call check([SP_OK, SP_ERR_INACTIVE, SP_ERR_NO_CLOCK, SP_ERR_NO_MEMORY, SP_ERR_IO, &
        SP_ERR_UNMATCHED_END, SP_ERR_OPEN_SCOPES, SP_ERR_INVALID_ARGUMENT, SP_ERR_DEPTH], &
        [0, 1, 2, 3, 4, 5, 6, 7, 8], "constants")

    ! Too early.
    region = sp_region("early", stat=stat, errmsg=message)
    call expect(stat, SP_ERR_INACTIVE, "region")
    call check([region], [0], "region 0")
    if (message /= "profiler is not active") print '(2a)', "message: ", trim(message)
    call sp_begin(1, stat)
    call expect(stat, SP_ERR_INACTIVE, "begin")
    call sp_begin_name("early", stat)
    call expect(stat, SP_ERR_INACTIVE, "begin_name")
    call sp_flush(stat)
    call expect(stat, SP_ERR_INACTIVE, "flush")
    call sp_finalize(stat, message)
    call expect(stat, SP_OK, "finalize")

    ! Bad arguments.
    call sp_init("   ", stat=stat, errmsg=message)
    call expect(stat, SP_ERR_INVALID_ARGUMENT, "blank prefix")
    call sp_init("errors", -1, stat=stat, errmsg=message)
    call expect(stat, SP_ERR_INVALID_ARGUMENT, "negative rank")
    if (message /= "rank -1 is negative") print '(2a)', "message: ", trim(message)
    call sp_init("errors", -1, errmsg=short)
    if (short /= "rank") print '(2a)', "short: ", short
    call sp_init(" ") ! printed
    call sp_configure_file("none.toml ", stat, message)
    if (stat == SP_OK .or. message == "") print '(a)', "a settings file that is not there"

    call sp_init("errors", stat=stat, errmsg=message)
    call expect(stat, SP_OK, "init")
    if (message /= "") print '(2a)', "message: ", trim(message)
    call sp_set_output_format(SP_OUTPUT_TRACE)
    region = sp_region(" ", stat=stat)
    call expect(stat, SP_ERR_INVALID_ARGUMENT, "blank name")
    call check([region], [0], "no region")
    region = sp_region("known", stat=stat)
    call expect(stat, SP_OK, "known")
    call sp_begin(9999, stat)
    call expect(stat, SP_ERR_INVALID_ARGUMENT, "unknown region")
    call sp_end(region, stat, message)
    call expect(stat, SP_ERR_UNMATCHED_END, "unmatched")
    if (message /= "no open call to end") print '(2a)', "message: ", trim(message)
    call sp_end(0)
    call sp_begin(-5)
    call sp_get_region_stats(9999, stats, stat)
    call expect(stat, SP_ERR_INVALID_ARGUMENT, "statistics of nothing")
    call sp_get_region_stats(9999, stats) ! printed

    call sp_begin(region, stat)
    call expect(stat, SP_OK, "begin")
    call sp_end(region, stat)
    call expect(stat, SP_OK, "end")
    call sp_get_region_stats(region, stats)
    if (stats%calls /= 1_int64 .or. stats%total_ns /= stats%max_ns .or. &
        stats%min_ns /= stats%max_ns .or. stats%total_ns < 0) print *, "wrong: ", stats
    call sp_begin(region)
    call sp_finalize(stat, message)
    call expect(stat, SP_ERR_OPEN_SCOPES, "open")
    call sp_finalize(stat)
    call expect(stat, SP_OK, "finalize twice")

    ! A file that cannot be written: the recording goes on.
    call sp_init("/proc/no/such/folder/errors")
    call sp_set_output_format(SP_OUTPUT_TRACE)
    region = sp_region("kept")
    call sp_begin(region)
    call sp_end(region)
    call sp_finalize(stat, message)
    call expect(stat, SP_ERR_IO, "unwritable")
    if (index(message, "/proc/no") == 0) print '(2a)', "message: ", trim(message)
    if (.not. sp_is_active()) print '(a)', "the recording is gone"
    call sp_reset(stat)
    call expect(stat, SP_OK, "reset")
    ! It is tried once more when the process exits.

contains

    subroutine expect(number, expected, what)
        integer, intent(in) :: number, expected
        character(len=*), intent(in) :: what
        call check([number], [expected], what)
    end subroutine expect

    subroutine check(numbers, expected, what)
        integer, intent(in) :: numbers(:), expected(:)
        character(len=*), intent(in) :: what
        if (any(numbers /= expected)) print *, "wrong: ", what, numbers, expected
    end subroutine check

end program errors
