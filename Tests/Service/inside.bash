# Sourced in the system of each test.
export LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive SYSTEMD_PAGER= SYSTEMD_COLORS=0 NO_COLOR=1
unset LADE_SOCKET
# laded reads LADE_ variables as configuration.
# shellcheck disable=SC2086
export -n ${!LADE_*}
. "$LADE_REPOSITORY/Tests/Service/package.bash"

# Prints the journal after a failure.
told() {
  local status=$?
  if [[ $status != 0 ]]; then
    echo "failed with status $status; the journal:"
    journalctl --no-pager --output=short-monotonic --lines=60 --unit='laded*' || true
    systemctl status --no-pager 'laded*' || true
  fi
}
trap told EXIT

die() { echo "$*"; exit 1; }

# eventually COMMAND...: repeats it until it succeeds, for a minute at most.
eventually() {
  local end=$((SECONDS + 60))
  until "$@"; do
    ((SECONDS < end)) || die "not within a minute: $*"
    sleep 0.1
  done
}

# equal WHAT WANTED FOUND
equal() { [[ $2 == "$3" ]] || die "$1: wanted “$2”, found “$3”"; }
# contains WHAT PART FOUND
contains() { [[ $3 == *"$2"* ]] || die "$1: wanted “$2” in: $3"; }

install_package() { dpkg --install "$package" > /tmp/dpkg.log 2>&1 || die "$(cat /tmp/dpkg.log)"; }

main_pid() { systemctl show --property=MainPID --value "${1:-laded}"; }
started_since() { [[ $(main_pid) != 0 && $(main_pid) != "$1" ]] && systemctl --quiet is-active laded; }

# people COUNT FILE [FIRST]: a file for the recipe “people”.
people() {
  awk -v rows="$1" -v first="${3:-1}" 'BEGIN {
    print "id,name,email,age,balance,created,note"
    for (i = first; i < first + rows; i++)
      printf "%d,Person %d,p%d@example.org,%d,%.2f,2024-01-01T00:00:00Z,\n", i, i, i, 18 + i % 70, i / 7
  }' > "$2"
}

# drop FILE RECIPE: hands a file over as writers do, by tmp/ and a rename.
drop() {
  local name=${1##*/} spool=${3:-/var/spool/lade}
  install -m 640 -g lade "$1" "$spool/tmp/$name"
  mv "$spool/tmp/$name" "$spool/incoming/$2/$name"
}

# ended COUNT [STATE]: whether COUNT jobs have ended in STATE.
ended() {
  local found
  found=$(ladectl list --limit 1000 --state "${2:-completed}" --json 2> /dev/null | jq '.jobs | length') || return 1
  [[ $found == "$1" ]]
}

# some_rows: whether an import of people has committed rows.
some_rows() { (($(ladectl count Person 2> /dev/null || echo 0) > 0)); }
