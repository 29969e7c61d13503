# zlib for compressed JSON profiles.

set(SCOPE_PROFILER_ENABLE_ZLIB AUTO CACHE STRING "gzip of JSON profiles: AUTO, ON, OFF")

# sp_find_zlib_archive(<variable>): the static library of zlib, when it can become part of a shared
# one; else empty.

function(sp_find_zlib_archive variable)
  set(${variable} "" PARENT_SCOPE)
  list(GET ZLIB_LIBRARIES 0 library)
  get_filename_component(folder ${library} DIRECTORY)
  set(archive ${folder}/libz.a)
  if(NOT EXISTS ${archive})
    return()
  endif()
  if(NOT DEFINED SP_ZLIB_ARCHIVE_LINKS)
    try_compile(SP_ZLIB_ARCHIVE_LINKS ${PROJECT_BINARY_DIR}/zlib-archive
      SOURCES ${PROJECT_SOURCE_DIR}/cmake/zlib_archive.c
      COMPILE_DEFINITIONS -fPIC
      CMAKE_FLAGS "-DINCLUDE_DIRECTORIES=${ZLIB_INCLUDE_DIRS}"
      LINK_OPTIONS -shared -Wl,-z,defs -Wl,--exclude-libs,ALL
      LINK_LIBRARIES ${archive})
  endif()
  if(SP_ZLIB_ARCHIVE_LINKS)
    set(${variable} ${archive} PARENT_SCOPE)
  endif()
endfunction()
