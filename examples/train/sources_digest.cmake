# Writes HEADER, which says what the files of LIST, one a line, hold: their contents and their places under ROOT, so
# that the same sources have the same digest in every folder.
file(STRINGS ${LIST} files)
list(SORT files)
set(all "")
foreach(path IN LISTS files)
  file(SHA256 ${path} digest)
  file(RELATIVE_PATH name ${ROOT} ${path})
  string(APPEND all "${digest} ${name}\n")
endforeach()
string(SHA256 digest "${all}")
string(SUBSTRING ${digest} 0 12 digest)
file(CONFIGURE OUTPUT ${HEADER} CONTENT "inline constexpr char sources_digest[] = \"${digest}\";\n")
