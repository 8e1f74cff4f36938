#!/usr/bin/env bats
# The sandbox: systemd's rating of it, and the kernel's enforcement.
load outside.bash

@test "systemd-analyze security rates the exposure 0.5 at most" {
  for unit in laded.service laded@.service; do
    cp "$repository/systemd/$unit" "$BATS_TEST_TMPDIR/"
    run systemd-analyze security --offline=true --threshold=5 --no-pager "$BATS_TEST_TMPDIR/$unit"
    echo "$output"
    [[ $status == 0 ]]
  done
}

@test "the running daemon has no capabilities, no new privileges, a system call filter, and a read-only file system" {
  inside << 'END'
    install_package
    pid=$(main_pid)
    field() { awk -v name="$1:" '$1 == name { print $2 }' "/proc/$pid/status"; }
    for set in CapInh CapPrm CapEff CapBnd CapAmb; do equal "$set" 0000000000000000 "$(field $set)"; done
    equal "NoNewPrivs" 1 "$(field NoNewPrivs)"
    equal "Seccomp" 2 "$(field Seccomp)"
    as_it() { nsenter --target "$pid" --mount --net setpriv --reuid=lade --regid=lade --init-groups --no-new-privs "$@"; }
    for path in /etc/x /usr/x /var/x /srv/x /var/lib/x; do as_it touch "$path" 2> /dev/null && die "$path could be written"; done
    as_it touch /var/lib/lade/x /var/spool/lade/x /run/lade/x || die "its own directories can't be written"
    as_it ls /home > /dev/null 2>&1 && die "/home can be read"
    equal "its interfaces" lo "$(nsenter --target "$pid" --net ls /sys/class/net 2> /dev/null | tr '\n' ' ' | xargs || true)"
    [[ $(readlink "/proc/$pid/ns/net") != "$(readlink /proc/1/ns/net)" ]] || die "it shares the network"
END
}

@test "the import suite passes in the sandbox" {
  [[ -x $repository/.build/debug/ladePackageTests.xctest ]] || skip "the tests aren't built: make check builds them"
  inside << 'END'
    install_package
    systemctl stop laded
    # The unit's sandbox settings, for another program.
    properties=()
    while IFS= read -r line; do properties+=("--property=$line"); done < <(
      sed -n '/^NoNewPrivileges/,/^\[Install\]/p' /usr/lib/systemd/system/laded.service | grep -E '^[A-Z][A-Za-z]*=')
    # The tests and Swift's libraries may be in a place that the sandbox hides.
    libraries=$(realpath "$(dirname "$(readlink -f "$(command -v swift)")")/../lib/swift/linux")
    properties+=(--property=BindReadOnlyPaths="$LADE_REPOSITORY" --property=BindReadOnlyPaths="$libraries")
    if [[ $LADE_REPOSITORY == /home/* || $LADE_REPOSITORY == /root/* || $libraries == /home/* || $libraries == /root/* ]]; then
      properties+=(--property=ProtectHome=tmpfs)
    fi
    systemd-run --quiet --wait --collect --pipe --uid=lade --gid=lade "${properties[@]}" --property=StateDirectory=lade \
      --setenv=HOME=/var/lib/lade --setenv=LD_LIBRARY_PATH="$libraries" \
      --working-directory="$LADE_REPOSITORY" "$LADE_REPOSITORY/.build/debug/ladePackageTests.xctest" --testing-library swift-testing \
      --filter '^ImportingTests[.]' > /tmp/said 2>&1 \
      || die "status $?: $(grep -E '✘|↳|rror' /tmp/said | head -n 40; tail -n 20 /tmp/said; journalctl --lines=5)"
    tail -n 1 /tmp/said
END
}
