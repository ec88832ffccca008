# Writes generated/coppice/instruction_set.hpp: the instruction sets that the library is compiled for and that matter to
# its headers, and an error for programs that compile them for others. Gives base/processor.cpp the names of those that
# the processor must have.
separate_arguments(flags UNIX_COMMAND "${CMAKE_CXX_FLAGS}")
execute_process(COMMAND ${CMAKE_CXX_COMPILER} ${flags} ${COPPICE_USAGE_OPTIONS} -dM -E -x c++ /dev/null
  OUTPUT_VARIABLE macros RESULT_VARIABLE status ERROR_QUIET)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "the compiler does not take ${COPPICE_USAGE_OPTIONS}; COPPICE_ARCH is '${COPPICE_ARCH}'")
endif()
set(COPPICE_ARCH_CHECKS "")
foreach(name IN ITEMS __FMA__ __AVX__ __AVX2__ __AVX512F__)
  if(macros MATCHES "#define ${name} ")
    string(APPEND COPPICE_ARCH_CHECKS "#ifndef ${name}\n#define COPPICE_OTHER_INSTRUCTION_SET\n#endif\n")
  else()
    string(APPEND COPPICE_ARCH_CHECKS "#ifdef ${name}\n#define COPPICE_OTHER_INSTRUCTION_SET\n#endif\n")
  endif()
endforeach()
set(COPPICE_ARCH_FLAG "the compiler's default")
if(COPPICE_ARCH)
  set(COPPICE_ARCH_FLAG "-march=${COPPICE_ARCH}")
endif()
configure_file(${PROJECT_SOURCE_DIR}/tools/instruction_set.hpp.in
  ${PROJECT_BINARY_DIR}/generated/coppice/instruction_set.hpp @ONLY)

set(COPPICE_NEEDS "")
foreach(name IN ITEMS sse4.2 avx avx2 bmi bmi2 fma avx512f avx512cd avx512bw avx512dq avx512vl)
  string(TOUPPER ${name} macro)
  string(REPLACE "." "_" macro __${macro}__)
  if(macros MATCHES "#define ${macro} ")
    string(APPEND COPPICE_NEEDS "COPPICE_INSTRUCTIONS(\"${name}\")")
  endif()
endforeach()
# These run on the oldest processor of the kind, in order to say so.
set(for_any_processor src/coppice/base/processor.cpp src/coppice/app/old_processor.cpp)
set_source_files_properties(${for_any_processor} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
if(COPPICE_NEEDS)
  set_source_files_properties(${for_any_processor} PROPERTIES COMPILE_OPTIONS -march=x86-64)  # the last one counts
  set_source_files_properties(src/coppice/base/processor.cpp PROPERTIES
    COMPILE_DEFINITIONS "COPPICE_NEEDS=${COPPICE_NEEDS}")
endif()
if(COPPICE_PYTHON)
  # For the Python package, which asks before it loads the rest.
  add_library(coppice_processor MODULE src/coppice/base/processor.cpp)
  target_include_directories(coppice_processor PRIVATE src)
  set_target_properties(coppice_processor PROPERTIES PREFIX "" OUTPUT_NAME _processor)
endif()
