#!/usr/bin/env bash
# The module graph and the size of the house: every #include "module/..." of src/<module>/ is one
# that src/modules.txt allows, the graph has no cycle (a module uses only modules of earlier lines),
# docs/images/modules.svg shows them all, no source file is over 800 lines; folders of over 15
# entries are reported. Generated tables are not read by people and may be longer.
set -euo pipefail
cd "$(dirname "$0")/../../.."

bad=$(
  awk '
    FILENAME == "src/modules.txt" {
      if (/^#/ || !/:/) next
      split($0, part, ":"); module = part[1]; known[module] = 1; allowed[module, module] = 1
      n = split(part[2], dep, " ")
      for (i = 1; i <= n; i++) {
        if (!(dep[i] in known))
          print "src/modules.txt: " module " uses " dep[i] ", which stands in no line above it"
        allowed[module, dep[i]] = 1
      }
      next
    }
    FNR == 1 { split(FILENAME, at, "/"); module = at[2]
      if (!(module in known)) print FILENAME ": src/modules.txt has no module " module }
    /^[ \t]*#[ \t]*include[ \t]*"/ {
      split($0, quoted, "\""); split(quoted[2], path, "/")
      if (!(path[1] in known)) {
        if (index(quoted[2], "/") == 0)
          print FILENAME ":" FNR ": include \"" quoted[2] "\" by its path from src/"
        else if (!(path[1] == "support" && FILENAME ~ /(_test\.cpp|\/test_[a-z_]*\.h)$/))
          print FILENAME ":" FNR ": includes \"" quoted[2] "\", which is in no module"
      } else if (!((module, path[1]) in allowed))
        print FILENAME ":" FNR ": " module " may not include " path[1] " (src/modules.txt)"
    }' src/modules.txt $(git ls-files --cached --others --exclude-standard 'src/*.h' 'src/*.cpp' \
      'src/*.inc')
  # The picture: every module is in it once, in a row above those of what it uses.
  awk -v picture=docs/images/modules.svg '
    FILENAME == picture {
      if (!/class="name"/) next
      name = $0; gsub(/<[^>]*>|^ +/, "", name)
      match($0, / y="[0-9]+"/); at[name] = substr($0, RSTART + 4, RLENGTH - 5) + 0; times[name]++
      next
    }
    /^#/ || !/:/ { next }
    {
      split($0, part, ":"); module = part[1]; n = split(part[2], dep, " ")
      if (times[module] != 1)
        print picture ": has the module " module " " times[module] + 0 " times, not once"
      for (i = 1; i <= n; i++)
        if (times[module] == 1 && times[dep[i]] == 1 && at[dep[i]] <= at[module])
          print picture ": " module " uses " dep[i] ", which does not stand below it"
    }' docs/images/modules.svg src/modules.txt
  # The rooms of src/ops.
  awk '
    function room_of(path, part, n) {
      n = split(path, part, "/")
      if (n == 2) return "core"
      if (part[2] in named) return part[2]
      return "family"
    }
    FILENAME == "src/ops/rooms.txt" {
      if (/^#/ || !/:/) next
      split($0, half, ":"); room = half[1]; named[room] = 1
      n = split(half[2], word, " ")
      for (i = 1; i <= n; i++) allowed[room, word[i]] = 1
      next
    }
    /^[ \t]*#[ \t]*include[ \t]*"ops\// {
      split($0, quoted, "\""); to = quoted[2]; from = FILENAME; sub(/^src\//, "", from)
      if (from ~ /(_test\.cpp|\/test_[a-z_]*\.h)$/ || to ~ /^ops\/famil/) next
      name = from; sub(/.*\//, "", name)
      room = room_of(from) == "core" && (name in named) ? name : room_of(from)
      target = to; sub(/^ops\//, "", target); folder = target; sub(/\/[^\/]*$/, "", folder)
      if (!((room, room_of(to)) in allowed) && !((room, target) in allowed) &&
          !((room, folder) in allowed))
        print FILENAME ":" FNR ": the room " room " may not include " to " (src/ops/rooms.txt)"
    }' src/ops/rooms.txt $(git ls-files --cached --others --exclude-standard 'src/ops/*.h' \
      'src/ops/*.cpp')
  # src/ops is read most: functions of 60 lines, files of 400.
  git ls-files --cached --others --exclude-standard 'src/ops/*.h' 'src/ops/*.cpp' 'src/ops/*.wgsl' \
    'src/ops/*.def' | grep -v _test.cpp | xargs wc -l |
    awk '$2 != "total" && $1 > 400 { print $2 ": " $1 " lines, 400 are the limit in src/ops" }'
  git ls-files --cached --others --exclude-standard '*.h' '*.cpp' '*.sh' '*.py' '*.cmake' dev |
    grep -vE '/generated/|^third_party/' | xargs wc -l |
    awk '$2 != "total" && $1 > 800 { print $2 ": " $1 " lines, 800 are the limit" }'
)
git ls-files --cached --others --exclude-standard | awk -F/ '
  { path = ""
    for (i = 1; i < NF; i++) {
      dir = path == "" ? "." : path; entry = dir "\t" $i
      if (!(entry in seen)) { seen[entry] = 1; n[dir]++ }
      path = path == "" ? $i : path "/" $i
    }
    n[path == "" ? "." : path]++ }
  END { for (d in n) if (n[d] > 15) print "note: " d " has " n[d] " entries" }' | sort
if [ -n "$bad" ]; then
  printf '%s\n' "$bad"
  exit 1
fi
echo "the module graph holds"
