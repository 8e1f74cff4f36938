# Shared by the tests. Each boots its own systemd, installs the package in it, and discards it.

repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
LADE_REPOSITORY=$repository . "$repository/Tests/Service/package.bash"

# inside [OPTION of with-systemd...] < SCRIPT: runs the script in a fresh system, with the functions of inside.bash.
inside() {
  local script
  script=$(cat)
  run "$repository/Tests/Service/with-systemd" "$@" -- env LADE_REPOSITORY="$repository" \
    bash -euo pipefail -c ". '$repository/Tests/Service/inside.bash'; $script"
  # Shown only if the test fails.
  printf '%s\n' "$output"
  [[ $status == 0 ]]
}
