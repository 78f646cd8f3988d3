# Written, read again, and the same.
foreach(part events bytes profile merge)
  traceloom_script(roundtrip.${part} roundtrip/roundtrip.py ${part})
endforeach()
if(TRACELOOM_ZLIB AND TRACELOOM_ZSTD AND TRACELOOM_BZIP2)
  traceloom_script(roundtrip.compressed roundtrip/roundtrip.py compressed)
  traceloom_script(roundtrip.pipe roundtrip/roundtrip.py pipe)
endif()
