# Programs of AArch64 that are recorded in QEMU (record --insn).
if(TARGET traceloom-qemu AND NOT CMAKE_CROSSCOMPILING)
  foreach(case output log replay steps kill packed slice written refuse crowd)
    traceloom_script(insn.${case} insn/insn_record.py $<TARGET_FILE:traceloom> ${case})
  endforeach()
  foreach(case memtrace)
    traceloom_script(insn.${case} insn/insn_simulators.py $<TARGET_FILE:traceloom> ${case})
  endforeach()
endif()
