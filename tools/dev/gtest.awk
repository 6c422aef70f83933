# Turns what a GoogleTest program printed into records "result <tab> suite <tab> test <tab> detail";
# what a failed test printed goes to stderr. Variables: suite, status (the program's exit status).
function record(result, detail) {
  printf "%s\t%s\t%s\t%s\n", result, suite, test, detail
  test = ""
  count++
}
{ said = said $0 "\n" }
/\[ RUN      \] / { test = $0; sub(/.*\[ RUN      \] /, "", test); said = ""; reason = "" }
/: Skipped$/ { if ((getline line) > 0) reason = line }
/\[       OK \] .*\([0-9]+ ms\)$/ { if (test != "") record("passed", "") }
/\[  SKIPPED \] .*\([0-9]+ ms\)$/ {
  if (test != "") record("skipped", reason == "" ? "no reason given" : reason)
}
/\[  FAILED  \] .*\([0-9]+ ms\)$/ {
  if (test != "") { printf "%s", said > "/dev/stderr"; failed = 1; record("failed", "see above") }
}
END {
  if (test != "") {
    printf "%s", said > "/dev/stderr"
    record("failed", "the program ended in the middle of it with status " status)
  } else if (status != 0 && !failed) {
    printf "%s", said > "/dev/stderr"
    test = "(the program itself)"
    record("failed", "ended with status " status)
  } else if (count == 0) {
    test = "(the program itself)"
    record("failed", "ran no test")
  }
}
