# Finds the MPI libraries whose calls can be recorded.
#
# sp_find_mpi(<variable>) sets a list of "<abi>|<compiler wrapper>": openmpi and mpich, those that are
# there. Which one a wrapper belongs to is what its mpi.h says.

function(sp_find_mpi out)
  set(found)
  set(known)
  foreach(name IN ITEMS mpicc.openmpi mpicc.mpich mpicc)
    string(MAKE_C_IDENTIFIER "SCOPE_PROFILER_${name}" variable)
    string(TOUPPER ${variable} variable)
    find_program(${variable} ${name})
    mark_as_advanced(${variable})
    if(NOT ${variable})
      continue()
    endif()
    sp_mpi_abi(abi ${${variable}})
    if(abi AND NOT abi IN_LIST known)
      list(APPEND known ${abi})
      list(APPEND found "${abi}|${${variable}}")
    endif()
  endforeach()
  set(${out} "${found}" PARENT_SCOPE)
endfunction()

# openmpi or mpich, empty for a wrapper that does not work or belongs to neither.
function(sp_mpi_abi out compiler)
  set(${out} "" PARENT_SCOPE)
  set(probe ${PROJECT_BINARY_DIR}/mpi/include_mpi.c)
  file(CONFIGURE OUTPUT ${probe} CONTENT "#include <mpi.h>\n")
  execute_process(COMMAND ${compiler} -E -dM ${probe} RESULT_VARIABLE result
                  OUTPUT_VARIABLE macros ERROR_QUIET)
  if(result EQUAL 0 AND macros MATCHES "define OPEN_MPI ")
    set(${out} openmpi PARENT_SCOPE)
  elseif(result EQUAL 0 AND macros MATCHES "define MPICH_NUMVERSION ")
    set(${out} mpich PARENT_SCOPE)
  endif()
endfunction()

# Folders of the headers that a wrapper adds.
function(sp_mpi_include_dirs out compiler)
  set(${out} "" PARENT_SCOPE)
  foreach(option IN ITEMS -showme:compile -show)
    execute_process(COMMAND ${compiler} ${option} RESULT_VARIABLE result OUTPUT_VARIABLE line
                    ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(result EQUAL 0)
      string(REGEX MATCHALL "-I[^ ]+" words "${line}")
      list(TRANSFORM words REPLACE "^-I" "")
      set(${out} "${words}" PARENT_SCOPE)
      return()
    endif()
  endforeach()
endfunction()
