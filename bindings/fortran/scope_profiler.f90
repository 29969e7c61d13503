! scope_profiler.f90 - marks regions of a Fortran program and records every call of them.
!
!     use scope_profiler
!     integer :: assemble
!     call sp_init("solver")
!     assemble = sp_region("assemble")
!     call sp_begin(assemble)
!     ...
!     call sp_end(assemble)
!     call sp_finalize()                      ! writes solver_rank00000.h5
!
! A thin layer over libscope_profiler, so Fortran, C, C++ and Python regions of one process go into one
! recording. Every procedure may be called from any thread; a call belongs to the thread that began it.
!
! Trailing blanks of names and texts do not count. Region numbers start at 1; 0 is no region, and
! beginning or ending it does nothing. `stat` becomes one of the constants below, `errmsg` its text
! (blank when all went well); where neither is given, an error is printed on standard error.
module scope_profiler
    use, intrinsic :: iso_c_binding, only: c_char, c_double, c_f_pointer, c_int, c_int64_t, &
        c_null_char, c_ptr, c_associated
    use, intrinsic :: iso_fortran_env, only: error_unit, int32, int64, real32, real64
    implicit none
    private

    integer, parameter, public :: SP_OK = 0
    integer, parameter, public :: SP_ERR_INACTIVE = 1
    integer, parameter, public :: SP_ERR_NO_CLOCK = 2
    integer, parameter, public :: SP_ERR_NO_MEMORY = 3
    integer, parameter, public :: SP_ERR_IO = 4
    integer, parameter, public :: SP_ERR_UNMATCHED_END = 5
    integer, parameter, public :: SP_ERR_OPEN_SCOPES = 6
    integer, parameter, public :: SP_ERR_INVALID_ARGUMENT = 7
    integer, parameter, public :: SP_ERR_DEPTH = 8 ! never: there is no limit of the depth
    integer, parameter, public :: SP_ERR_NO_MODULE = 14
    integer, parameter, public :: SP_ERR_UNSUPPORTED = 16

    integer, parameter, public :: SP_OUTPUT_HDF5 = 0
    integer, parameter, public :: SP_OUTPUT_TRACE = 1

    ! A length for variables that hold names. Names themselves may be longer.
    integer, parameter, public :: SP_MAX_NAME = 128

    ! Totals of a region. `calls` counts open ones too, the times (ns) cover those that ended.
    type, public, bind(C) :: sp_region_stats
        integer(c_int64_t) :: calls = 0
        integer(c_int64_t) :: total_ns = 0
        integer(c_int64_t) :: min_ns = 0
        integer(c_int64_t) :: max_ns = 0
    end type sp_region_stats

    public :: sp_init, sp_finalize, sp_flush, sp_reset
    public :: sp_region, sp_begin, sp_end, sp_begin_name, sp_end_name
    public :: sp_num_calls, sp_get_region_stats, sp_now_ns, sp_is_active, sp_last_error
    public :: sp_pause, sp_resume
    public :: sp_configure_file, sp_set_output_format, sp_set_aggregation, sp_output_path
    public :: sp_set_quiet, sp_name_thread
    public :: sp_enable_tags, sp_register_opt_in_tag
    public :: sp_metadata

    ! Gives the innermost open call of this thread a piece of metadata.
    interface sp_metadata
        module procedure metadata_int32, metadata_int64, metadata_real32, metadata_real64, &
            metadata_text
    end interface sp_metadata

    interface
        function c_init(prefix, rank) bind(C, name="sp_init") result(status)
            import :: c_char, c_int
            character(kind=c_char), intent(in) :: prefix(*)
            integer(c_int), value :: rank
            integer(c_int) :: status
        end function c_init

        function c_finalize() bind(C, name="sp_finalize") result(status)
            import :: c_int
            integer(c_int) :: status
        end function c_finalize

        function c_set_quiet(is_quiet) bind(C, name="sp_set_quiet") result(was_quiet)
            import :: c_int
            integer(c_int), value :: is_quiet
            integer(c_int) :: was_quiet
        end function c_set_quiet

        function c_flush() bind(C, name="sp_flush") result(status)
            import :: c_int
            integer(c_int) :: status
        end function c_flush

        function c_reset() bind(C, name="sp_reset") result(status)
            import :: c_int
            integer(c_int) :: status
        end function c_reset

        function c_region(name) bind(C, name="sp_region") result(region)
            import :: c_char, c_int
            character(kind=c_char), intent(in) :: name(*)
            integer(c_int) :: region
        end function c_region

        function c_region_at(name, file, line) bind(C, name="sp_region_at") result(region)
            import :: c_char, c_int
            character(kind=c_char), intent(in) :: name(*), file(*)
            integer(c_int), value :: line
            integer(c_int) :: region
        end function c_region_at

        function c_region_tagged(name, tags) bind(C, name="sp_region_tagged") result(region)
            import :: c_char, c_int
            character(kind=c_char), intent(in) :: name(*), tags(*)
            integer(c_int) :: region
        end function c_region_tagged

        subroutine c_begin(region) bind(C, name="sp_begin")
            import :: c_int
            integer(c_int), value :: region
        end subroutine c_begin

        subroutine c_end(region) bind(C, name="sp_end")
            import :: c_int
            integer(c_int), value :: region
        end subroutine c_end

        function c_default_profiler() bind(C, name="sp_default_profiler") result(profiler)
            import :: c_ptr
            type(c_ptr) :: profiler
        end function c_default_profiler

        function c_profiler_begin(profiler, region) bind(C, name="sp_profiler_begin") result(status)
            import :: c_int, c_ptr
            type(c_ptr), value :: profiler
            integer(c_int), value :: region
            integer(c_int) :: status
        end function c_profiler_begin

        function c_profiler_end(profiler, region) bind(C, name="sp_profiler_end") result(status)
            import :: c_int, c_ptr
            type(c_ptr), value :: profiler
            integer(c_int), value :: region
            integer(c_int) :: status
        end function c_profiler_end

        function c_num_calls(region) bind(C, name="sp_num_calls") result(calls)
            import :: c_int, c_int64_t
            integer(c_int), value :: region
            integer(c_int64_t) :: calls
        end function c_num_calls

        function c_get_region_stats(region, stats) bind(C, name="sp_get_region_stats") &
            result(status)
            import :: c_int, sp_region_stats
            integer(c_int), value :: region
            type(sp_region_stats), intent(out) :: stats
            integer(c_int) :: status
        end function c_get_region_stats

        function c_now_ns() bind(C, name="sp_now_ns") result(now)
            import :: c_int64_t
            integer(c_int64_t) :: now
        end function c_now_ns

        function c_is_active() bind(C, name="sp_is_active") result(active)
            import :: c_int
            integer(c_int) :: active
        end function c_is_active

        function c_last_error() bind(C, name="sp_last_error") result(text)
            import :: c_ptr
            type(c_ptr) :: text
        end function c_last_error

        function c_error_string(status) bind(C, name="sp_error_string") result(text)
            import :: c_int, c_ptr
            integer(c_int), value :: status
            type(c_ptr) :: text
        end function c_error_string

        subroutine sp_pause() bind(C, name="sp_pause")
        end subroutine sp_pause

        subroutine sp_resume() bind(C, name="sp_resume")
        end subroutine sp_resume

        function c_set_output_format(output_format) bind(C, name="sp_set_output_format") &
            result(status)
            import :: c_int
            integer(c_int), value :: output_format
            integer(c_int) :: status
        end function c_set_output_format

        subroutine c_name_thread(name) bind(C, name="sp_name_thread")
            import :: c_char
            character(kind=c_char), intent(in) :: name(*)
        end subroutine c_name_thread

        function c_configure_file(path) bind(C, name="sp_configure_file") result(status)
            import :: c_char, c_int
            character(kind=c_char), intent(in) :: path(*)
            integer(c_int) :: status
        end function c_configure_file

        function c_set_aggregation(is_on) bind(C, name="sp_set_aggregation") result(status)
            import :: c_int
            integer(c_int), value :: is_on
            integer(c_int) :: status
        end function c_set_aggregation

        function c_output_path() bind(C, name="sp_output_path") result(path)
            import :: c_ptr
            type(c_ptr) :: path
        end function c_output_path

        function c_enable_tags(tags) bind(C, name="sp_enable_tags") result(status)
            import :: c_char, c_int
            character(kind=c_char), intent(in) :: tags(*)
            integer(c_int) :: status
        end function c_enable_tags

        function c_register_opt_in_tag(tag) bind(C, name="sp_register_opt_in_tag") result(status)
            import :: c_char, c_int
            character(kind=c_char), intent(in) :: tag(*)
            integer(c_int) :: status
        end function c_register_opt_in_tag

        function c_metadata_int(key, number) bind(C, name="sp_metadata_int") result(status)
            import :: c_char, c_int, c_int64_t
            character(kind=c_char), intent(in) :: key(*)
            integer(c_int64_t), value :: number
            integer(c_int) :: status
        end function c_metadata_int

        function c_metadata_double(key, number) bind(C, name="sp_metadata_double") result(status)
            import :: c_char, c_double, c_int
            character(kind=c_char), intent(in) :: key(*)
            real(c_double), value :: number
            integer(c_int) :: status
        end function c_metadata_double

        function c_metadata_string(key, text) bind(C, name="sp_metadata_string") result(status)
            import :: c_char, c_int
            character(kind=c_char), intent(in) :: key(*), text(*)
            integer(c_int) :: status
        end function c_metadata_string
    end interface

contains

    ! ---- Life of a recording -----------------------------------------------------------------

    ! Starts recording into <prefix>_rank<rank, five digits>.h5. Within a host that records already,
    ! such as a Python program, it joins that recording and the prefix does not count.
    subroutine sp_init(prefix, rank, stat, errmsg)
        character(len=*), intent(in) :: prefix
        integer, intent(in), optional :: rank
        integer, intent(out), optional :: stat
        character(len=*), intent(out), optional :: errmsg
        integer(c_int) :: number
        number = 0
        if (present(rank)) number = int(rank, c_int)
        if (is_no_text(prefix)) then
            call tell(SP_ERR_INVALID_ARGUMENT, "the prefix is blank or holds a NUL", stat, errmsg)
        else
            call answer(c_init(c_text(prefix), number), stat, errmsg)
        end if
    end subroutine sp_init

    ! Writes the file and stops; when it could not be written, the recording goes on. Doing so twice is
    ! fine.
    subroutine sp_finalize(stat, errmsg)
        integer, intent(out), optional :: stat
        character(len=*), intent(out), optional :: errmsg
        integer(c_int) :: status, was_quiet
        was_quiet = c_set_quiet(1_c_int) ! what is to be said is said here
        status = c_finalize()
        was_quiet = c_set_quiet(was_quiet)
        if (status == SP_ERR_INACTIVE) status = SP_OK
        call answer(status, stat, errmsg)
    end subroutine sp_finalize

    ! Writes what is closed and goes on recording.
    subroutine sp_flush(stat, errmsg)
        integer, intent(out), optional :: stat
        character(len=*), intent(out), optional :: errmsg
        call answer(c_flush(), stat, errmsg)
    end subroutine sp_flush

    ! Forgets the recorded calls; open calls go on.
    subroutine sp_reset(stat, errmsg)
        integer, intent(out), optional :: stat
        character(len=*), intent(out), optional :: errmsg
        call answer(c_reset(), stat, errmsg)
    end subroutine sp_reset

    ! Kind of file, before sp_init for the next recording or while one goes on.
    subroutine sp_set_output_format(output_format, stat, errmsg)
        integer, intent(in) :: output_format
        integer, intent(out), optional :: stat
        character(len=*), intent(out), optional :: errmsg
        call answer(c_set_output_format(int(output_format, c_int)), stat, errmsg)
    end subroutine sp_set_output_format

    ! Names a TOML file with the settings of the recordings that start from now on.
    subroutine sp_configure_file(path, stat, errmsg)
        character(len=*), intent(in) :: path
        integer, intent(out), optional :: stat
        character(len=*), intent(out), optional :: errmsg
        call answer(c_configure_file(c_text(path)), stat, errmsg)
    end subroutine sp_configure_file

    ! Whether the next recording keeps totals instead of every call; before sp_init.
    subroutine sp_set_aggregation(is_on, stat, errmsg)
        logical, intent(in) :: is_on
        integer, intent(out), optional :: stat
        character(len=*), intent(out), optional :: errmsg
        call answer(c_set_aggregation(merge(1_c_int, 0_c_int, is_on)), stat, errmsg)
    end subroutine sp_set_aggregation

    ! Names the calling thread in the thread table of the file.
    subroutine sp_name_thread(name)
        character(len=*), intent(in) :: name
        call c_name_thread(c_text(name))
    end subroutine sp_name_thread

    ! Whether the library says troubles on standard error.
    subroutine sp_set_quiet(is_quiet)
        logical, intent(in) :: is_quiet
        integer(c_int) :: before
        before = c_set_quiet(merge(1_c_int, 0_c_int, is_quiet))
    end subroutine sp_set_quiet

    ! ---- Regions -----------------------------------------------------------------------------

    ! Number of the region, made at first use; the same name gives the same number. 0 while nothing
    ! records. `tags`: names separated by commas.
    function sp_region(name, file, line, stat, errmsg, tags) result(id)
        character(len=*), intent(in) :: name
        character(len=*), intent(in), optional :: file
        integer, intent(in), optional :: line
        integer, intent(out), optional :: stat
        character(len=*), intent(out), optional :: errmsg
        character(len=*), intent(in), optional :: tags
        integer :: id
        integer(c_int) :: number
        id = 0
        if (is_no_text(name)) then
            call tell(SP_ERR_INVALID_ARGUMENT, "a region name is blank or holds a NUL", stat, errmsg)
            return
        end if
        if (present(file)) then
            number = -1
            if (present(line)) number = int(line, c_int)
            id = int(c_region_at(c_text(name), c_text(file), number)) + 1
        else
            id = int(c_region(c_text(name))) + 1
        end if
        if (present(tags)) id = int(c_region_tagged(c_text(name), c_text(tags))) + 1
        if (id > 0) then
            call answer(0_c_int, stat, errmsg)
        else if (c_is_active() == 0) then
            call tell_inactive(stat, errmsg)
        else
            call answer(int(SP_ERR_NO_MEMORY, c_int), stat, errmsg)
        end if
    end function sp_region

    subroutine sp_begin(id, stat, errmsg)
        integer, intent(in) :: id
        integer, intent(out), optional :: stat
        character(len=*), intent(out), optional :: errmsg
        if (present(stat) .or. present(errmsg)) then
            call begin_told(id, stat, errmsg)
        else
            call c_begin(int(id - 1, c_int))
        end if
    end subroutine sp_begin

    ! Apart from what most programs call, which is then a few instructions.
    subroutine begin_told(id, stat, errmsg)
        integer, intent(in) :: id
        integer, intent(out), optional :: stat
        character(len=*), intent(out), optional :: errmsg
        call answer_call(c_profiler_begin(c_default_profiler(), int(id - 1, c_int)), id, stat, errmsg)
    end subroutine begin_told

    ! Ends the innermost open call of that region on this thread.
    subroutine sp_end(id, stat, errmsg)
        integer, intent(in) :: id
        integer, intent(out), optional :: stat
        character(len=*), intent(out), optional :: errmsg
        if (present(stat) .or. present(errmsg)) then
            call end_told(id, stat, errmsg)
        else
            call c_end(int(id - 1, c_int))
        end if
    end subroutine sp_end

    subroutine end_told(id, stat, errmsg)
        integer, intent(in) :: id
        integer, intent(out), optional :: stat
        character(len=*), intent(out), optional :: errmsg
        call answer_call(c_profiler_end(c_default_profiler(), int(id - 1, c_int)), id, stat, errmsg)
    end subroutine end_told

    subroutine sp_begin_name(name, stat, errmsg)
        character(len=*), intent(in) :: name
        integer, intent(out), optional :: stat
        character(len=*), intent(out), optional :: errmsg
        if (is_no_text(name)) then
            call tell(SP_ERR_INVALID_ARGUMENT, "a region name is blank or holds a NUL", stat, errmsg)
        else
            call sp_begin(int(c_region(c_text(name))) + 1, stat, errmsg)
        end if
    end subroutine sp_begin_name

    subroutine sp_end_name(name, stat, errmsg)
        character(len=*), intent(in) :: name
        integer, intent(out), optional :: stat
        character(len=*), intent(out), optional :: errmsg
        if (is_no_text(name)) then
            call tell(SP_ERR_INVALID_ARGUMENT, "a region name is blank or holds a NUL", stat, errmsg)
        else
            call sp_end(int(c_region(c_text(name))) + 1, stat, errmsg)
        end if
    end subroutine sp_end_name

    ! Opt-in tags to enable for the rest of the process, separated by commas; "*": all.
    subroutine sp_enable_tags(tags, stat, errmsg)
        character(len=*), intent(in) :: tags
        integer, intent(out), optional :: stat
        character(len=*), intent(out), optional :: errmsg
        call answer(c_enable_tags(c_text(tags)), stat, errmsg)
    end subroutine sp_enable_tags

    ! Regions with this tag are off from now on unless it is enabled.
    subroutine sp_register_opt_in_tag(tag, stat, errmsg)
        character(len=*), intent(in) :: tag
        integer, intent(out), optional :: stat
        character(len=*), intent(out), optional :: errmsg
        call answer(c_register_opt_in_tag(c_text(tag)), stat, errmsg)
    end subroutine sp_register_opt_in_tag

    ! ---- Metadata ----------------------------------------------------------------------------

    subroutine metadata_int32(key, number, stat, errmsg)
        character(len=*), intent(in) :: key
        integer(int32), intent(in) :: number
        integer, intent(out), optional :: stat
        character(len=*), intent(out), optional :: errmsg
        call answer_call(c_metadata_int(c_text(key), int(number, c_int64_t)), 1, stat, errmsg)
    end subroutine metadata_int32

    subroutine metadata_int64(key, number, stat, errmsg)
        character(len=*), intent(in) :: key
        integer(int64), intent(in) :: number
        integer, intent(out), optional :: stat
        character(len=*), intent(out), optional :: errmsg
        call answer_call(c_metadata_int(c_text(key), int(number, c_int64_t)), 1, stat, errmsg)
    end subroutine metadata_int64

    subroutine metadata_real32(key, number, stat, errmsg)
        character(len=*), intent(in) :: key
        real(real32), intent(in) :: number
        integer, intent(out), optional :: stat
        character(len=*), intent(out), optional :: errmsg
        call answer_call(c_metadata_double(c_text(key), real(number, c_double)), 1, stat, errmsg)
    end subroutine metadata_real32

    subroutine metadata_real64(key, number, stat, errmsg)
        character(len=*), intent(in) :: key
        real(real64), intent(in) :: number
        integer, intent(out), optional :: stat
        character(len=*), intent(out), optional :: errmsg
        call answer_call(c_metadata_double(c_text(key), real(number, c_double)), 1, stat, errmsg)
    end subroutine metadata_real64

    subroutine metadata_text(key, text, stat, errmsg)
        character(len=*), intent(in) :: key, text
        integer, intent(out), optional :: stat
        character(len=*), intent(out), optional :: errmsg
        call answer_call(c_metadata_string(c_text(key), c_text(text)), 1, stat, errmsg)
    end subroutine metadata_text

    ! ---- Questions ---------------------------------------------------------------------------

    ! Calls entered so far, all threads; also after sp_finalize. 0 for an unknown number.
    function sp_num_calls(id) result(calls)
        integer, intent(in) :: id
        integer(int64) :: calls
        calls = c_num_calls(int(id - 1, c_int))
    end function sp_num_calls

    subroutine sp_get_region_stats(id, stats, stat, errmsg)
        integer, intent(in) :: id
        type(sp_region_stats), intent(out) :: stats
        integer, intent(out), optional :: stat
        character(len=*), intent(out), optional :: errmsg
        type(sp_region_stats) :: found
        integer(c_int) :: status
        status = c_get_region_stats(int(id - 1, c_int), found)
        if (status == SP_OK) stats = found
        call answer_call(status, id, stat, errmsg)
    end subroutine sp_get_region_stats

    ! Nanoseconds of the clock that recorded times are given in.
    function sp_now_ns() result(now)
        integer(int64) :: now
        now = c_now_ns()
    end function sp_now_ns

    function sp_is_active() result(active)
        logical :: active
        active = c_is_active() /= 0
    end function sp_is_active

    ! Text of the last error, empty when there was none.
    function sp_last_error() result(text)
        character(len=:), allocatable :: text
        text = fortran_text(c_last_error())
    end function sp_last_error

    ! Path of the file that sp_finalize writes.
    function sp_output_path() result(path)
        character(len=:), allocatable :: path
        path = fortran_text(c_output_path())
    end function sp_output_path

    ! ---- Texts and errors --------------------------------------------------------------------

    pure function c_text(text) result(copy)
        character(len=*), intent(in) :: text
        character(kind=c_char, len=len_trim(text) + 1) :: copy
        copy = trim(text)//c_null_char
    end function c_text

    pure function is_no_text(text) result(is_none)
        character(len=*), intent(in) :: text
        logical :: is_none
        is_none = len_trim(text) == 0 .or. index(text, c_null_char) > 0
    end function is_no_text

    function fortran_text(text) result(copy)
        type(c_ptr), intent(in) :: text
        character(len=:), allocatable :: copy
        integer, parameter :: most = 65536
        character(kind=c_char), pointer :: bytes(:)
        integer :: length, i
        copy = ""
        if (.not. c_associated(text)) return
        call c_f_pointer(text, bytes, [most])
        length = 0
        do while (length < most)
            if (bytes(length + 1) == c_null_char) exit
            length = length + 1
        end do
        deallocate (copy)
        allocate (character(len=length) :: copy)
        do i = 1, length
            copy(i:i) = bytes(i)
        end do
    end function fortran_text

    ! The constants of this module for the statuses of the library.
    pure function fortran_status(status) result(number)
        integer(c_int), intent(in) :: status
        integer :: number
        select case (status)
        case (7)
            number = SP_ERR_UNSUPPORTED
        case (8)
            number = SP_ERR_INVALID_ARGUMENT
        case default
            number = int(status)
        end select
    end function fortran_status

    ! Passes a status of the library on, with the text that belongs to it.
    subroutine answer(status, stat, errmsg)
        integer(c_int), intent(in) :: status
        integer, intent(out), optional :: stat
        character(len=*), intent(out), optional :: errmsg
        character(len=:), allocatable :: text
        if (status == SP_OK) then
            if (present(stat)) stat = SP_OK
            if (present(errmsg)) errmsg = ""
            return
        end if
        text = ""
        if (status /= SP_ERR_INACTIVE .and. status /= SP_ERR_NO_MEMORY) text = sp_last_error()
        if (len(text) == 0) text = fortran_text(c_error_string(status))
        call tell(fortran_status(status), text, stat, errmsg)
    end subroutine answer

    ! The same for what concerns one call: the general text of the status says all there is. What
    ! comes too early or too late, or has no region, is no error where nobody asks.
    subroutine answer_call(status, id, stat, errmsg)
        integer(c_int), intent(in) :: status
        integer, intent(in) :: id
        integer, intent(out), optional :: stat
        character(len=*), intent(out), optional :: errmsg
        character(len=:), allocatable :: text
        if (status == SP_OK) then
            if (present(stat)) stat = SP_OK
            if (present(errmsg)) errmsg = ""
        else if (c_is_active() == 0 .and. id >= 0) then
            call tell_inactive(stat, errmsg)
        else
            text = fortran_text(c_error_string(status))
            call tell(fortran_status(status), text, stat, errmsg)
        end if
    end subroutine answer_call

    subroutine tell_inactive(stat, errmsg)
        integer, intent(out), optional :: stat
        character(len=*), intent(out), optional :: errmsg
        if (present(stat)) stat = SP_ERR_INACTIVE
        if (present(errmsg)) errmsg = fortran_text(c_error_string(int(SP_ERR_INACTIVE, c_int)))
    end subroutine tell_inactive

    subroutine tell(status, text, stat, errmsg)
        integer, intent(in) :: status
        character(len=*), intent(in) :: text
        integer, intent(out), optional :: stat
        character(len=*), intent(out), optional :: errmsg
        if (present(stat)) stat = status
        if (present(errmsg)) errmsg = text
        if (present(stat) .or. present(errmsg)) return
        write (error_unit, '(2a)') "scope_profiler: ", text
        flush (error_unit)
    end subroutine tell

end module scope_profiler
