# How targets are made: a layer of src/, a public library, a module opened at run time.

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)

function(sp_warnings target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes
    -Wmissing-prototypes -Wpointer-arith -Wcast-qual -Wwrite-strings)
  if(SCOPE_PROFILER_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
endfunction()

# Common properties of one layer (an OBJECT library of src/).
function(sp_layer target)
  target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
  target_compile_definitions(${target} PRIVATE _GNU_SOURCE SP_VERSION="${SCOPE_PROFILER_VERSION}")
  sp_warnings(${target})
  target_compile_options(${target} PRIVATE -Wconversion)
endfunction()

# sp_public_library(<target> EXPORT_NAME <name> LAYERS <object library>... [VERSION_SCRIPT <file>]
#                   [LINK_OPTIONS <option>...])
# The shared library, and beside it <target>_static. One real file lib<target>.so.1, no further
# version in its name: a Python wheel cannot hold links, and a copy is a second library.
function(sp_public_library target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "EXPORT_NAME;VERSION_SCRIPT" "LAYERS;LINK_OPTIONS")
  list(TRANSFORM arg_LAYERS REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>" OUTPUT_VARIABLE objects)
  # What a layer links to, its library does.
  set(needed)
  foreach(layer IN LISTS arg_LAYERS)
    get_target_property(libraries ${layer} INTERFACE_LINK_LIBRARIES)
    if(libraries)
      list(APPEND needed ${libraries})
    endif()
  endforeach()
  add_library(${target} SHARED ${objects})
  add_library(${target}_static STATIC ${objects})
  set_target_properties(${target} PROPERTIES SOVERSION ${PROJECT_VERSION_MAJOR} LINKER_LANGUAGE C
                        EXPORT_NAME ${arg_EXPORT_NAME})
  set_target_properties(${target}_static PROPERTIES OUTPUT_NAME ${target} LINKER_LANGUAGE C
                        EXPORT_NAME ${arg_EXPORT_NAME}_static)
  target_compile_definitions(${target}_static INTERFACE SP_STATIC)
  foreach(library IN ITEMS ${target} ${target}_static)
    target_include_directories(${library} INTERFACE
      $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
    target_link_libraries(${library} PRIVATE Threads::Threads ${CMAKE_DL_LIBS} m ${needed})
  endforeach()
  target_link_options(${target} PRIVATE ${arg_LINK_OPTIONS})
  if(NOT SCOPE_PROFILER_SANITIZE)
    target_link_options(${target} PRIVATE -Wl,-z,defs -Wl,--as-needed)
  endif()
  if(arg_VERSION_SCRIPT)
    cmake_path(ABSOLUTE_PATH arg_VERSION_SCRIPT)
    target_link_options(${target} PRIVATE -Wl,--version-script=${arg_VERSION_SCRIPT})
    set_property(TARGET ${target} PROPERTY LINK_DEPENDS ${arg_VERSION_SCRIPT})
  endif()
  add_library(scope-profiler::${arg_EXPORT_NAME} ALIAS ${target})
endfunction()

# sp_module(<target>): common properties of a module opened at run time, scope_profiler_<part>.so.
function(sp_module target)
  set_target_properties(${target} PROPERTIES PREFIX ""
                        LIBRARY_OUTPUT_DIRECTORY ${SCOPE_PROFILER_MODULE_OUTPUT_DIRECTORY})
  install(TARGETS ${target} LIBRARY DESTINATION ${SCOPE_PROFILER_MODULE_INSTALL_DIR})
endfunction()

# In place of the links lib<name>.so, which a wheel cannot hold: a linker script does their work, and
# nobody can load a second copy of the library through it.
function(sp_install_linker_scripts)
  foreach(library IN ITEMS scope_profiler scope_results)
    set(script ${PROJECT_BINARY_DIR}/linker-scripts/lib${library}.so)
    file(WRITE ${script} "INPUT(lib${library}.so.${PROJECT_VERSION_MAJOR})\n")
    install(FILES ${script} DESTINATION ${CMAKE_INSTALL_LIBDIR})
  endforeach()
endfunction()

# sp_part(<what> <text>): one line of the summary of what is built.
function(sp_part what text)
  string(LENGTH "${what}" width)
  math(EXPR pad "14 - ${width}")
  string(REPEAT " " ${pad} pad)
  string(REPLACE ";" "," text "${text}")
  set_property(GLOBAL APPEND PROPERTY SCOPE_PROFILER_PARTS "${what}${pad}${text}")
endfunction()
