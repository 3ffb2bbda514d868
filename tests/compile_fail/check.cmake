# Checks one file of this folder:
#   it compiles as it is;
#   with OFFENCE=n, for each n that it tests with `#if OFFENCE == n`, it is refused, and the first error reported
#   matches the regular expression of its line `// expect: <regular expression>`.
#
# Arguments: COMPILER, FLAGS, INCLUDE_DIRS, FILE.
cmake_minimum_required(VERSION 3.22)
list(TRANSFORM INCLUDE_DIRS PREPEND -I)
set(compile ${COMPILER} ${FLAGS} -std=gnu++20 -fsyntax-only -Wfatal-errors ${INCLUDE_DIRS} ${FILE})

file(READ ${FILE} text)
if(NOT text MATCHES "// expect: ([^\n]+)")
  message(FATAL_ERROR "no line '// expect: ...' in ${FILE}")
endif()
set(expected "${CMAKE_MATCH_1}")
string(REGEX MATCHALL "OFFENCE == [0-9]+" offences "${text}")
if(NOT offences)
  message(FATAL_ERROR "no '#if OFFENCE == 1' in ${FILE}")
endif()

execute_process(COMMAND ${compile} RESULT_VARIABLE failed ERROR_VARIABLE output)
if(failed)
  message(FATAL_ERROR "must compile without OFFENCE, but:\n${output}")
endif()

foreach(offence IN LISTS offences)
  string(REPLACE "OFFENCE == " "-DOFFENCE=" definition ${offence})
  execute_process(COMMAND ${compile} ${definition} RESULT_VARIABLE failed ERROR_VARIABLE output)
  if(NOT failed)
    message(FATAL_ERROR "compiles with ${definition}, expected the error: ${expected}")
  endif()
  string(REGEX MATCH "error: [^\n]*" first_error "${output}")
  if(NOT first_error MATCHES "${expected}")
    message(FATAL_ERROR "${definition}: the first error is\n${first_error}\nexpected: ${expected}\n${output}")
  endif()
  message(STATUS "${definition} ${first_error}")
endforeach()
