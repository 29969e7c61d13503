# Finds the HDF5 library for the store module.
#
# sp_find_hdf5(<prefix>) sets
#   <prefix>_FOUND, <prefix>_VERSION
#   <prefix>_INCLUDE_DIRS
#   <prefix>_LIBRARIES     the shared library, to link with
#   <prefix>_ARCHIVE       the static library and what it needs, when a module can be linked from it
#
# A serial library of version 1.10.3 or newer. With the archive the module gets an instance of its
# own that nothing else in the process can disturb, needs three libraries instead of some 35, and
# loads in half a millisecond.

set(SP_HDF5_MINIMUM 1.10.3)

# Linking the archive into a shared object. It was compiled for programs; all it lacks for this is
# the way it reads stdout and stderr, which the linker hands to variables of the module (--wrap).
set(SP_HDF5_ARCHIVE_OPTIONS -Wl,--wrap=stdout -Wl,--wrap=stderr -Wl,--exclude-libs,ALL
    -Wl,-Bsymbolic -Wl,--as-needed)

function(sp_find_hdf5 prefix)
  find_package(PkgConfig QUIET)
  foreach(package IN ITEMS hdf5-serial hdf5)
    if(PKG_CONFIG_FOUND)
      pkg_check_modules(sp_hdf5_pc QUIET ${package}>=${SP_HDF5_MINIMUM})
    endif()
    if(sp_hdf5_pc_FOUND)
      break()
    endif()
  endforeach()
  if(sp_hdf5_pc_FOUND)
    set(include_dirs ${sp_hdf5_pc_INCLUDE_DIRS})
    set(libraries ${sp_hdf5_pc_LINK_LIBRARIES})
    set(version ${sp_hdf5_pc_VERSION})
  else()
    set(HDF5_PREFER_PARALLEL OFF)
    find_package(HDF5 ${SP_HDF5_MINIMUM} QUIET COMPONENTS C)
    if(HDF5_FOUND AND NOT HDF5_IS_PARALLEL)
      set(include_dirs ${HDF5_C_INCLUDE_DIRS})
      set(libraries ${HDF5_C_LIBRARIES})
      set(version ${HDF5_VERSION})
    endif()
  endif()
  set(found OFF)
  if(libraries)
    set(found ON)
    sp_find_hdf5_archive(archive "${include_dirs}" "${libraries}")
  endif()
  set(${prefix}_FOUND ${found} PARENT_SCOPE)
  set(${prefix}_VERSION "${version}" PARENT_SCOPE)
  set(${prefix}_INCLUDE_DIRS "${include_dirs}" PARENT_SCOPE)
  set(${prefix}_LIBRARIES "${libraries}" PARENT_SCOPE)
  set(${prefix}_ARCHIVE "${archive}" PARENT_SCOPE)
endfunction()

# The archive beside the shared library, with each set of libraries that distributions build it
# for, until one links. Empty when none does.
function(sp_find_hdf5_archive out include_dirs libraries)
  set(${out} "" PARENT_SCOPE)
  list(FILTER libraries INCLUDE REGEX "/libhdf5[^/]*\\.(so|a)$")
  if(NOT libraries)
    return()
  endif()
  list(GET libraries 0 library)
  string(REGEX REPLACE "\\.so$" ".a" archive ${library})
  if(NOT EXISTS ${archive})
    return()
  endif()
  foreach(needs IN ITEMS "z" "z|sz" "z|sz|aec" "z|sz|crypto|curl")
    string(REPLACE "|" ";" needs "${needs}")
    string(MAKE_C_IDENTIFIER "SP_HDF5_LINKS_WITH_${needs}" result)
    if(NOT DEFINED ${result})
      try_compile(${result} ${PROJECT_BINARY_DIR}/hdf5-archive
        SOURCES ${PROJECT_SOURCE_DIR}/cmake/hdf5_archive.c
        COMPILE_DEFINITIONS -fPIC
        CMAKE_FLAGS "-DINCLUDE_DIRECTORIES=${include_dirs}"
        LINK_OPTIONS -shared -Wl,-z,defs ${SP_HDF5_ARCHIVE_OPTIONS}
        LINK_LIBRARIES ${archive} ${needs} ${CMAKE_DL_LIBS} m pthread)
    endif()
    if(${result})
      set(${out} ${archive} ${needs} PARENT_SCOPE)
      return()
    endif()
  endforeach()
endfunction()

# sp_find_codec(<variable> <package>): a compression library, as the name of an imported
# target, or empty.
function(sp_find_codec variable package)
  set(${variable} "" PARENT_SCOPE)
  find_package(PkgConfig QUIET)
  if(PKG_CONFIG_FOUND)
    pkg_check_modules(${variable}_pc QUIET IMPORTED_TARGET ${package})
  endif()
  if(${variable}_pc_FOUND)
    set(${variable} PkgConfig::${variable}_pc PARENT_SCOPE)
  endif()
endfunction()
