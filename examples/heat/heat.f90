! heat.f90 - heat.py in Fortran alone: the same scheme, numbers and regions.
!
!     cmake -S . -B build -DHEAT_FORTRAN=ON && cmake --build build
!     build/heat_fortran --n 256              writes heat_rank00000.h5
module heat_kernels
    use, intrinsic :: iso_fortran_env, only: real64
    use scope_profiler
    implicit none
    private
    public :: step_field, norm_of, largest_change

contains

    ! next = u + ratio * (sum of the four neighbours of u - 4 u), walls at zero.
    subroutine step_field(u, next, ratio)
        real(real64), intent(in) :: u(:, :), ratio
        real(real64), intent(inout) :: next(:, :)
        integer :: i, j, n
        n = size(u, 1)
        call sp_begin_name("apply stencil")
        do i = 2, n - 1
            do j = 2, n - 1
                next(j, i) = u(j, i) + ratio * (u(j - 1, i) + u(j + 1, i) + u(j, i - 1) + &
                    u(j, i + 1) - 4.0_real64 * u(j, i))
            end do
        end do
        call sp_end_name("apply stencil")
        call sp_begin_name("boundary")
        next(:, 1) = 0.0_real64
        next(:, n) = 0.0_real64
        next(1, :) = 0.0_real64
        next(n, :) = 0.0_real64
        call sp_end_name("boundary")
    end subroutine step_field

    ! The L2 norm on the unit square.
    function norm_of(u) result(norm)
        real(real64), intent(in) :: u(:, :)
        real(real64) :: norm, total
        integer :: i, j
        call sp_begin_name("norm")
        total = 0.0_real64
        do i = 1, size(u, 2)
            do j = 1, size(u, 1)
                total = total + u(j, i) * u(j, i)
            end do
        end do
        norm = sqrt(total) / (size(u, 1) - 1)
        call sp_end_name("norm")
    end function norm_of

    function largest_change(a, b) result(largest)
        real(real64), intent(in) :: a(:, :), b(:, :)
        real(real64) :: largest
        call sp_begin_name("residual")
        largest = maxval(abs(a - b))
        call sp_end_name("residual")
    end function largest_change

end module heat_kernels

program heat
    use, intrinsic :: iso_fortran_env, only: error_unit, real64
    use heat_kernels
    use scope_profiler
    implicit none
    real(real64), parameter :: pi = 3.14159265358979323846_real64
    real(real64), parameter :: ratio = 0.2_real64 ! dt / h^2; stable up to 0.25

    type :: solution
        real(real64) :: time, error, norm
    end type solution

    integer :: n = 256, steps = 400, every = 100
    type(solution) :: coarse, fine

    call read_options()
    call sp_init("heat")
    ! Half the intervals, steps four times as long: the same ratio, the same final time.
    coarse = solve(n / 2, steps / 4, 0)
    fine = solve(n, steps, every)
    print '(2(a, a))', "time ", scientific(fine%time, 6), "  norm ", scientific(fine%norm, 9)
    print '(5a)', "error ", scientific(fine%error, 3), "  (half the grid: ", &
        scientific(coarse%error, 3), ")"
    print '(a, f0.3)', "order of accuracy ", log(coarse%error / fine%error) / log(2.0_real64)
    call sp_finalize()

contains

    ! sin(pi x) sin(pi y), decaying.
    function exact(points, time) result(u)
        integer, intent(in) :: points
        real(real64), intent(in) :: time
        real(real64) :: u(points, points), wave(points)
        integer :: i
        do i = 1, points
            wave(i) = sin(pi * ((i - 1) * (1.0_real64 / (points - 1))))
        end do
        do i = 1, points
            u(:, i) = exp(-2.0_real64 * pi**2 * time) * (wave(i) * wave)
        end do
    end function exact

    function initial_field(points) result(u)
        integer, intent(in) :: points
        real(real64), allocatable :: u(:, :)
        call sp_begin_name("setup")
        u = exact(points, 0.0_real64)
        u(:, [1, points]) = 0.0_real64
        u([1, points], :) = 0.0_real64
        call sp_end_name("setup")
    end function initial_field

    function solve(intervals, num_steps, output_every) result(found)
        integer, intent(in) :: intervals, num_steps, output_every
        type(solution) :: found
        real(real64), allocatable :: u(:, :), next(:, :), spare(:, :)
        integer :: step, step_region
        call sp_begin_name("solve")
        u = initial_field(intervals + 1)
        allocate (next, mold=u)
        step_region = sp_region("step")
        call sp_begin_name("step loop")
        do step = 1, num_steps
            call sp_begin(step_region)
            call step_field(u, next, ratio)
            call sp_end(step_region)
            call move_alloc(u, spare)
            call move_alloc(next, u)
            call move_alloc(spare, next)
            if (output_every == 0) cycle
            if (mod(step, output_every) == 0) call report(u, next, step)
        end do
        call sp_end_name("step loop")
        found%time = num_steps * ratio / real(intervals, real64)**2
        found%error = maxval(abs(u - exact(intervals + 1, found%time)))
        found%norm = norm_of(u)
        call sp_end_name("solve")
    end function solve

    subroutine report(u, before, step)
        real(real64), intent(in) :: u(:, :), before(:, :)
        integer, intent(in) :: step
        call sp_begin_name("output")
        print '(a, i6, 4a)', "step ", step, "  norm ", scientific(norm_of(u), 9), &
            "  largest change ", scientific(largest_change(u, before), 3)
        call sp_end_name("output")
    end subroutine report

    ! As printf's %.<digits>e prints it, for exponents of two digits.
    function scientific(number, digits) result(text)
        real(real64), intent(in) :: number
        integer, intent(in) :: digits
        character(len=:), allocatable :: text
        character(len=40) :: buffer, layout
        integer :: at
        write (layout, '(a, i0, a, i0, a)') "(es", digits + 8, ".", digits, "e2)"
        write (buffer, layout) number
        text = trim(adjustl(buffer))
        at = index(text, "E")
        if (at > 0) text(at:at) = "e"
    end function scientific

    subroutine read_options()
        character(len=32) :: name, text
        integer :: i, number, failed
        if (mod(command_argument_count(), 2) /= 0) call refuse()
        do i = 1, command_argument_count(), 2
            call get_command_argument(i, name)
            call get_command_argument(i + 1, text)
            read (text, *, iostat=failed) number
            if (failed /= 0) call refuse()
            select case (name)
            case ("--n")
                n = number
            case ("--steps")
                steps = number
            case ("--every")
                every = number
            case default
                call refuse()
            end select
        end do
        if (n < 4 .or. mod(n, 2) /= 0 .or. steps < 4 .or. mod(steps, 4) /= 0 .or. every < 0) &
            call refuse()
    end subroutine read_options

    subroutine refuse()
        write (error_unit, '(a)') "usage: heat_fortran [--n EVEN] [--steps MULTIPLE_OF_4] [--every N]"
        stop 2
    end subroutine refuse

end program heat
