#!/usr/bin/env bats
# Reasons for the service not to start: each has its status and message, and no restart where it wouldn't help.
load outside.bash

@test "every mistake of a configuration is reported, with status 78, and the service isn't restarted" {
  inside << 'END'
    install_package
    systemctl stop laded
    printf 'sool: /x\nlog_level: wrning\n' >> /etc/lade/lade.yaml
    systemctl start laded && die "it started"
    equal "its status" 78 "$(systemctl show --property=ExecMainStatus --value laded)"
    equal "the restarts" 0 "$(systemctl show --property=NRestarts --value laded)"
    contains "the journal" 'did you mean `spool`?' "$(journalctl --unit laded)"
    contains "the journal" 'did you mean `warning`?' "$(journalctl --unit laded)"
END
}

@test "a store outside its directories can't be created: the sandbox works" {
  inside << 'END'
    install_package
    systemctl stop laded
    sed -i 's|path: /var/lib/lade/demo.sqlite|path: /srv/demo.sqlite|' /etc/lade/lade.yaml.d/demo.yaml
    chmod 777 /srv
    systemctl start laded && die "it started"
    equal "its status" 73 "$(systemctl show --property=ExecMainStatus --value laded)"
    contains "the journal" "/srv/demo.sqlite" "$(journalctl --unit laded)"
    contains "the journal" "ead-only" "$(journalctl --unit laded)"
    contains "the status" "failed: store demo" "$(systemctl show --property=StatusText laded)"
    [[ ! -e /srv/demo.sqlite ]]
END
}

@test "clients of a daemon that can't start don't start it again and again, and the reason stays visible" {
  inside << 'END'
    install_package
    systemctl stop laded
    sed -i 's|path: /var/lib/lade/demo.sqlite|path: /srv/demo.sqlite|' /etc/lade/lade.yaml.d/demo.yaml
    for _ in 1 2 3 4 5 6 7 8; do
      ladectl list > /tmp/said 2>&1 && die "it answered"
      contains "the hint" "systemctl status laded" "$(cat /tmp/said)"
    done
    failed() { [[ $(systemctl is-failed laded.socket) == failed ]]; }
    eventually failed
    starts=$(journalctl --unit laded | grep -c 'failed: store demo\|store demo can.t be opened')
    ((starts <= 6)) || die "it was started $starts times"
    contains "the status" "store demo" "$(systemctl show --property=StatusText laded)$(systemctl status --no-pager laded || true)"
    sed -i 's|path: /srv/demo.sqlite|path: /var/lib/lade/demo.sqlite|' /etc/lade/lade.yaml.d/demo.yaml
    systemctl start laded.socket laded
    ladectl status > /dev/null
END
}

@test "a full disk keeps it from starting, and it starts by itself when there is room" {
  inside << 'END'
    install_package
    systemctl stop laded.socket laded
    mount -t tmpfs -o size=24m,uid=$(id -u lade),gid=$(id -g lade),mode=750 lade /var/lib/lade
    head -c 64m /dev/zero > /var/lib/lade/ballast || true
    systemctl start laded && die "it started"
    restarted() { (($(systemctl show --property=NRestarts --value laded) > 1)); }
    eventually restarted
    contains "the journal" "status=74" "$(journalctl --unit laded)"
    rm /var/lib/lade/ballast
    up() { [[ $(systemctl is-active laded) == active ]]; }
    eventually up
    ladectl status > /dev/null
END
}

@test "a second daemon on the same directories is refused, with the process ID of the first" {
  inside << 'END'
    install_package
    runuser -u lade -- laded --config /etc/lade/lade.yaml > /tmp/said 2>&1 && die "it started"
    runuser -u lade -- laded --config /etc/lade/lade.yaml > /tmp/said 2>&1 || status=$?
    equal "its status" 75 "$status"
    contains "what it said" "another laded (process $(main_pid)) works on" "$(cat /tmp/said)"
    ladectl status > /dev/null
END
}

@test "a missing spool, a wrong owner and a file that isn't a store are reported" {
  inside << 'END'
    install_package
    systemctl stop laded
    mv /var/spool/lade /var/spool/elsewhere
    systemctl start laded && die "it started without a spool"
    contains "the journal" "/var/spool/lade" "$(journalctl --unit laded --lines=20)"
    contains "the journal" "tmpfiles" "$(journalctl --unit laded --lines=20)"
    equal "its status" 73 "$(systemctl show --property=ExecMainStatus --value laded)"
    systemctl stop laded
    mv /var/spool/elsewhere /var/spool/lade
    chown root:root /var/spool/lade/active
    chmod 700 /var/spool/lade/active
    systemctl start laded && die "it started with somebody else's active/"
    contains "the journal" "/var/spool/lade/active" "$(journalctl --unit laded --lines=20)"
    equal "its status" 77 "$(systemctl show --property=ExecMainStatus --value laded)"
    systemctl stop laded
    chown lade:lade /var/spool/lade/active
    rm -f /var/lib/lade/demo.sqlite*
    seq 100000 > /var/lib/lade/demo.sqlite
    chown lade:lade /var/lib/lade/demo.sqlite
    systemctl start laded && die "it started with a text for a store"
    equal "its status" 65 "$(systemctl show --property=ExecMainStatus --value laded)"
    contains "the journal" "/var/lib/lade/demo.sqlite" "$(journalctl --unit laded --lines=20)"
    equal "the text" 100000 "$(wc -l < /var/lib/lade/demo.sqlite)"
END
}

@test "a read-only file system is reported with its path" {
  inside << 'END'
    install_package
    systemctl stop laded
    mount --bind /var/lib/lade /var/lib/lade
    mount -o remount,bind,ro /var/lib/lade
    systemctl start laded && die "it started on a file system that it can't write to"
    equal "its status" 73 "$(systemctl show --property=ExecMainStatus --value laded)"
    contains "the journal" "/var/lib/lade can't be used: Read-only file system" "$(journalctl --unit laded)"
    systemctl stop laded
    umount /var/lib/lade
    mount --bind /var/spool/lade /var/spool/lade
    mount -o remount,bind,ro /var/spool/lade
    systemctl start laded && die "it started on a spool that it can't write to"
    equal "its status" 73 "$(systemctl show --property=ExecMainStatus --value laded)"
    contains "the journal" "/var/spool/lade" "$(journalctl --unit laded --lines=8 | grep -F 'Read-only file system')"
END
}
