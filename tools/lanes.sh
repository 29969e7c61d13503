# Read by tools/test.sh: runs lanes one after the other, each with a time limit, no input and a log
# of its own, and counts how they end. A lane that exits with 77 was skipped; the last line of its
# log says why.

lane_logs=build/logs
lanes_passed=0
lanes_failed=0
lanes_skipped=0

# lane NAME SECONDS COMMAND...   The command may be an exported function.
lane()
{
    local name=$1 limit=$2 log=$lane_logs/$1.log start=$SECONDS code=0 result
    shift 2
    mkdir -p "$lane_logs"
    timeout -k 20 "$limit" bash -c '"$@"' lane "$@" >"$log" 2>&1 </dev/null || code=$?
    case $code in
    0) result=passed lanes_passed=$((lanes_passed + 1)) ;;
    77) result=skipped lanes_skipped=$((lanes_skipped + 1)) ;;
    *) result=FAILED lanes_failed=$((lanes_failed + 1)) ;;
    esac
    if [ $result = FAILED ]; then
        tail -n 60 "$log" | sed 's/^/    /'
        [ $code -ne 124 ] || echo "    stopped after $limit s"
    fi
    printf '%-8s %-22s %5d s   %s\n' $result "$name" $((SECONDS - start)) "$(lane_verdict "$log")"
}

# What a log says at its end: the closing line of a test runner, else the last line.
lane_verdict()
{
    grep -E '[0-9]+ (passed|failed).* in |tests passed|^Ran [0-9]+ tests|^lanes:' "$1" | tail -n 1 | sed 's/^=* //; s/ =*$//' | grep . ||
        grep . "$1" | tail -n 1
}

# Prints the closing line; fails when a lane did or when none passed.
close_lanes()
{
    echo "lanes: $lanes_passed passed, $lanes_failed failed, $lanes_skipped skipped"
    [ $lanes_failed -eq 0 ] && [ $lanes_passed -gt 0 ]
}
