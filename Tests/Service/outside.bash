# What the tests share: each boots a systemd of its own, in which the package is installed, and throws it away.

repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
LADE_REPOSITORY=$repository . "$repository/Tests/Service/package.bash"

# inside [OPTION of with-systemd...] < SCRIPT: runs the script in a fresh system, with what inside.bash has.
inside() {
  local script
  script=$(cat)
  run "$repository/Tests/Service/with-systemd" "$@" -- env LADE_REPOSITORY="$repository" \
    bash -euo pipefail -c ". '$repository/Tests/Service/inside.bash'; $script"
  # Seen only if the test fails.
  printf '%s\n' "$output"
  [[ $status == 0 ]]
}
