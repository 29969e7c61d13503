! Blank-padded names, names of any length, handles and names mixed, recursion, tags, metadata, a block.
program names
    use scope_profiler
    use, intrinsic :: iso_fortran_env, only: int64
    implicit none
    character(len=64) :: padded
    character(len=5000) :: long
    integer :: solve, again, words, tagged, i

    padded = "solve"
    long = repeat("n", 4999)//"m"
    call check(.not. sp_is_active(), "active too early")
    call check(sp_region("early") == 0, "a region too early")
    call sp_begin(0)
    call sp_end(0)
    call sp_begin_name("early")

    call sp_init("names   ", 2)
    call check(sp_is_active(), "not active")
    call check(index(sp_output_path(), "/names_rank00002.") > 0, "output path")
    solve = sp_region(padded, "names.f90   ", 21)
    again = sp_region("solve")
    words = sp_region("two words  ")
    tagged = sp_region("tagged", tags="physics, io ")
    call check(solve == 1 .and. again == solve .and. words == 2, "numbers of regions")

    call sp_begin(solve)
    call sp_end(again)
    call sp_begin_name("solve  ")
    call sp_end_name(padded)
    call sp_begin(solve)
    call sp_begin_name("solve")
    call sp_end_name("solve ")
    call sp_end(solve)
    call sp_begin(words)
    call sp_metadata("step", 3)
    call sp_metadata("bytes", 2_int64**40)
    call sp_metadata("residual", 0.5)
    call sp_metadata("tolerance", 0.25d0)
    call sp_metadata("kind  ", "first  ")
    call sp_end(words)
    do i = 1, 2
        call sp_begin_name(long)
        call sp_end_name(long)
    end do
    call sp_begin_name(long(:4999))
    call sp_end_name(long(:4999))
    call in_a_block()

    call sp_pause()
    call sp_begin(tagged)
    call sp_end(tagged)
    call sp_resume()
    call sp_begin(tagged)
    call recursive_steps(3)
    call sp_end(tagged)
    call sp_finalize()
    call check(.not. sp_is_active(), "still active")
    call check(sp_num_calls(solve) == 4_int64, "calls of solve")
    call check(sp_num_calls(tagged) == 1_int64, "calls of tagged")
    call check(sp_num_calls(0) == 0_int64 .and. sp_num_calls(999) == 0_int64, "no such region")
    call sp_finalize()

contains

    subroutine check(holds, what)
        logical, intent(in) :: holds
        character(len=*), intent(in) :: what
        if (.not. holds) print '(2a)', "wrong: ", what
    end subroutine check

    subroutine in_a_block()
        block
            integer :: region
            region = sp_region("block")
            call sp_begin(region)
            call sp_end(region)
        end block
    end subroutine in_a_block

    recursive subroutine recursive_steps(depth)
        integer, intent(in) :: depth
        call sp_begin_name("recursive")
        if (depth > 0) call recursive_steps(depth - 1)
        call sp_end_name("recursive")
    end subroutine recursive_steps

end program names
