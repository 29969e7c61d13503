# Language level, kind of build, places of built and installed things, and the options of the build.

set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_C_VISIBILITY_PRESET hidden)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Kind of build" FORCE)
endif()

# Each optional part: AUTO takes what is found, ON fails without it, OFF leaves it out.
set(SCOPE_PROFILER_ENABLE_HDF5 AUTO CACHE STRING "HDF5 store module: AUTO, ON, OFF")
set(SCOPE_PROFILER_ENABLE_TOML AUTO CACHE STRING "Settings files for native programs: AUTO, ON, OFF")
set(SCOPE_PROFILER_ENABLE_OMPT AUTO CACHE STRING "OpenMP tool: AUTO, ON, OFF")
set(SCOPE_PROFILER_ENABLE_FORTRAN AUTO CACHE STRING "Fortran module: AUTO, ON, OFF")
set(SCOPE_PROFILER_ENABLE_MPI AUTO CACHE STRING "Native MPI programs write one file: AUTO, ON, OFF")
set(SCOPE_PROFILER_PMPI AUTO CACHE STRING "Recording of MPI calls: AUTO, ON, OFF")
option(SCOPE_PROFILER_WERROR "Warnings are errors" OFF)
option(SCOPE_PROFILER_BUILD_TESTS "Build the C tests" ${PROJECT_IS_TOP_LEVEL})
option(SCOPE_PROFILER_BUILD_BENCH "Build the benches" OFF)
set(SCOPE_PROFILER_SANITIZE "" CACHE STRING "Sanitizers, e.g. address,undefined or thread")
set(SCOPE_PROFILER_CORE_DIR "" CACHE PATH
    "Prefix of an installed core to build the Python extensions against, instead of building it")

# Inside a Python package the prefix is a folder of the package, the command a script.
if(SKBUILD)
  set(SCOPE_PROFILER_BUILD_TESTS OFF)
  set(CMAKE_INSTALL_LIBDIR lib)
  set(CMAKE_INSTALL_INCLUDEDIR include)
  set(CMAKE_INSTALL_BINDIR ${SKBUILD_SCRIPTS_DIR})
  set(CMAKE_INSTALL_MANDIR ${SKBUILD_DATA_DIR}/share/man)
endif()
include(GNUInstallDirs)

# The build tree is laid out as the installed tree is, so that look-ups at run time are one rule.
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
set(SCOPE_PROFILER_MODULE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib/scope-profiler)
set(SCOPE_PROFILER_MODULE_INSTALL_DIR ${CMAKE_INSTALL_LIBDIR}/scope-profiler)

if(SCOPE_PROFILER_SANITIZE)
  add_compile_options(-fsanitize=${SCOPE_PROFILER_SANITIZE} -fno-omit-frame-pointer
                      -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${SCOPE_PROFILER_SANITIZE})
endif()
