# Links each of CALLERS with each of CALLEES, of which the first is compiled without NARROW_COMPILED_KERNELS and the second
# with it: equal ones must link, others must not, for want of the function with a number of the caller's namespace.
#
# Arguments: COMPILER, CALLERS, CALLEES.
cmake_minimum_required(VERSION 3.22)
foreach(caller 0 1)
  foreach(callee 0 1)
    list(GET CALLERS ${caller} from)
    list(GET CALLEES ${callee} to)
    execute_process(COMMAND ${COMPILER} ${from} ${to} -o mixed_${caller}${callee} RESULT_VARIABLE failed
      OUTPUT_VARIABLE output ERROR_VARIABLE output)
    if(caller EQUAL callee)
      if(failed)
        message(FATAL_ERROR "does not link: ${from} ${to}\n${output}")
      endif()
    elseif(NOT failed)
      message(FATAL_ERROR "links: ${from} ${to}")
    elseif(NOT output MATCHES "undefined reference to .twice\\(narrow::(linked_)?v[0-9_]+::floating<")
      message(FATAL_ERROR "does not link for another reason: ${from} ${to}\n${output}")
    endif()
  endforeach()
endforeach()
