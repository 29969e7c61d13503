# Read by the build scripts: ninja where there is one, make elsewhere. A build folder keeps the one
# it was made with.
if [ -z "${CMAKE_GENERATOR:-}" ] && command -v ninja >/dev/null 2>&1; then
    export CMAKE_GENERATOR=Ninja
fi
