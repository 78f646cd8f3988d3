# Programs of .NET that are recorded on Mono.
if(TARGET mono-profiler-traceloom)
  foreach(case calls shares kill compile system refuse)
    traceloom_script(dotnet.${case} dotnet/dotnet_record.py $<TARGET_FILE:traceloom> ${case})
  endforeach()
endif()
