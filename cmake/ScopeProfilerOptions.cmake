# Language level, warnings, visibility and the options of the build.

set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_C_VISIBILITY_PRESET hidden)
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Kind of build" FORCE)
endif()

include(GNUInstallDirs)

# Each optional part: AUTO takes what is found, ON fails without it, OFF leaves it out.
set(SCOPE_PROFILER_ENABLE_HDF5 AUTO CACHE STRING "HDF5 store module: AUTO, ON, OFF")
option(SCOPE_PROFILER_WERROR "Warnings are errors" OFF)
option(SCOPE_PROFILER_BUILD_TESTS "Build the C tests" ON)
option(SCOPE_PROFILER_BUILD_BENCH "Build the benches" OFF)
set(SCOPE_PROFILER_SANITIZE "" CACHE STRING "Sanitizers, e.g. address,undefined or thread")

if(SCOPE_PROFILER_SANITIZE)
  add_compile_options(-fsanitize=${SCOPE_PROFILER_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${SCOPE_PROFILER_SANITIZE})
endif()

# Common properties of one layer (an OBJECT library of src/).
function(sp_layer target)
  target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
  target_compile_definitions(${target} PRIVATE _GNU_SOURCE)
  sp_warnings(${target})
endfunction()

function(sp_warnings target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes
    -Wmissing-prototypes -Wpointer-arith -Wcast-qual -Wwrite-strings)
  if(SCOPE_PROFILER_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
endfunction()
