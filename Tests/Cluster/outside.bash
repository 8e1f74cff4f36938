# Shared by the tests. Each has hosts, servers and daemons of its own, and discards them.

repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

# cluster < SCRIPT: runs the script among hosts, with the functions of inside.bash. Its status 77 skips the test, with the last line.
cluster() {
  local script
  script=$(cat)
  run "$repository/Tests/Cluster/with-hosts" env LADE_REPOSITORY="$repository" \
    LADE_PROGRAMS="${LADE_PROGRAMS:-$repository/.build/release}" \
    bash -euo pipefail -c ". '$repository/Tests/Cluster/inside.bash'; $script"
  # Shown only if the test fails.
  printf '%s\n' "$output"
  if [[ $status == 77 ]]; then skip "${lines[-1]}"; fi
  [[ $status == 0 ]]
}
