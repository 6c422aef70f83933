# Part of ./dev: the site of docs/. Sourced, not run.

# The venv of tools/site/requirements.txt, made where it is missing or of other versions; its last
# line says why there is none.
site_ready() {
  local venv=build/site/venv
  cmp -s tools/site/requirements.txt build/site/installed.txt && return 0
  present python:venv || { echo "needs Python 3 with venv: Debian's python3-venv"; return 1; }
  mkdir -p build/site
  rm -rf "$venv"
  { python3 -m venv "$venv" || /usr/bin/python3 -m venv "$venv"; } >build/site/venv.log 2>&1 ||
    { echo "needs Python 3 with venv and pip: build/site/venv.log"; return 1; }
  "$venv/bin/pip" install --quiet --disable-pip-version-check -r tools/site/requirements.txt \
    >build/site/pip.log 2>&1 ||
    { echo "needs what pip installs from tools/site/requirements.txt: build/site/pip.log"; return 1
    }
  cp tools/site/requirements.txt build/site/installed.txt
}

# mkdocs COMMAND...: its navigation and links are looked at by tools/site/hooks.py.
mkdocs() { NO_MKDOCS_2_WARNING=1 build/site/venv/bin/mkdocs "$@" -f tools/site/mkdocs.yml; }

# docs [--serve [PORT]]
docs() {
  local why
  why=$(site_ready) || die "docs: $why"
  case ${1:-} in
    '') # --quiet would hide warnings from the strict mode, too
      mkdocs build >build/docs.log 2>&1 ||
        { grep -v '^INFO' build/docs.log >&2; die "docs: refused"; }
      say "build/docs/index.html is the site" ;;
    --serve) mkdocs serve --dev-addr "127.0.0.1:${2:-8000}" ;;
    *) die "docs knows --serve [PORT], not '$1'" ;;
  esac
}

# Part of ./dev test --all: a link or an anchor that leads nowhere fails, and so does a page that is
# wider than a phone.
run_site() {
  local why
  if ! why=$(site_ready); then
    for name in build planted pages; do skip_script "docs-site/$name" "$why"; done
    return
  fi
  run_script docs-site/build ./dev docs
  run_script docs-site/planted tests/tooling/site_planted.sh
  if present command:node; then run_script docs-site/pages node tests/tooling/site.mjs build/docs
  else skip_script docs-site/pages "needs node"; fi
}
