#!/usr/bin/env bats
# The service's life cycle: hangs, kills, reloads, activation, stops.
load outside.bash

@test "a daemon that hangs is restarted by the watchdog" {
  inside << 'END'
    install_package
    mkdir -p /etc/systemd/system/laded.service.d
    printf '[Service]\nWatchdogSec=1s\nTimeoutAbortSec=1s\n' > /etc/systemd/system/laded.service.d/watchdog.conf
    systemctl daemon-reload
    systemctl restart laded
    pid=$(main_pid)
    kill -STOP "$pid"
    eventually started_since "$pid"
    contains "the journal" "Watchdog timeout" "$(journalctl --unit laded)"
    people 10 /tmp/people.csv
    drop /tmp/people.csv people
    eventually ended 1
END
}

@test "a busy daemon answers its watchdog" {
  inside << 'END'
    install_package
    mkdir -p /etc/systemd/system/laded.service.d
    printf '[Service]\nWatchdogSec=1s\n' > /etc/systemd/system/laded.service.d/watchdog.conf
    systemctl daemon-reload
    systemctl restart laded
    pid=$(main_pid)
    stamp() { systemctl show --property=WatchdogTimestampMonotonic --value laded; }
    for _ in 1 2 3; do
      last=$(stamp)
      newer() { (($(stamp) > last)); }
      eventually newer
    done
    people "$many" /tmp/people.csv
    drop /tmp/people.csv people
    eventually ended 1
    equal "the process" "$pid" "$(main_pid)"
END
}

@test "killed during an import, it is restarted, and every row exists once" {
  inside << 'END'
    install_package
    people "$many" /tmp/people.csv
    drop /tmp/people.csv people
    eventually some_rows
    pid=$(main_pid)
    kill -KILL "$pid"
    eventually started_since "$pid"
    eventually ended 1
    equal "the rows" "$many" "$(ladectl count Person)"
    equal "the numbers" "$many" "$(sqlite3 -readonly /var/lib/lade/demo.sqlite 'SELECT count(DISTINCT id) FROM Person' 2> /dev/null || ladectl count Person)"
    equal "the records" "$many" "$(ladectl list --json | jq '.jobs[0].progress.records')"
END
}

@test "stopped during an import, it exits in order at a batch, and the import continues after the start" {
  inside << 'END'
    install_package
    people "$many" /tmp/people.csv
    drop /tmp/people.csv people
    eventually some_rows
    systemctl stop laded
    equal "how it ended" success "$(systemctl show --property=Result --value laded)"
    equal "its status" 0 "$(systemctl show --property=ExecMainStatus --value laded)"
    contains "the journal" "laded has stopped" "$(journalctl --unit laded)"
    systemctl start laded
    eventually ended 1
    equal "the rows" "$many" "$(ladectl count Person)"
    equal "the attempts" 1 "$(ladectl list --json | jq '.jobs | length')"
END
}

@test "a second SIGTERM ends it at once, which is not a failure, and nothing is lost" {
  inside << 'END'
    install_package
    people "$many" /tmp/people.csv
    drop /tmp/people.csv people
    eventually some_rows
    pid=$(main_pid)
    kill -TERM "$pid"
    kill -TERM "$pid" || true
    gone() { [[ ! -d /proc/$pid ]]; }
    eventually gone
    equal "how it ended" success "$(systemctl show --property=Result --value laded)"
    systemctl start laded
    eventually ended 1
    equal "the rows" "$many" "$(ladectl count Person)"
END
}

@test "stopped, it is started by a connection to its socket" {
  inside << 'END'
    install_package
    systemctl stop laded.service
    equal "the service" inactive "$(systemctl is-active laded || true)"
    [[ -S /run/lade/control.sock ]]
    equal "the answer" 0 "$(ladectl count Person)"
    equal "the service" active "$(systemctl is-active laded)"
    contains "the journal" "passed by the service manager" "$(journalctl --unit laded)"
    # A restart keeps the socket, and no client is refused during it.
    inode=$(stat -c %i /run/lade/control.sock)
    systemctl restart laded
    equal "the socket" "$inode" "$(stat -c %i /run/lade/control.sock)"
    ladectl status > /dev/null
END
}

@test "without the socket unit, it creates its socket itself" {
  inside << 'END'
    install_package
    systemctl disable --now laded.socket laded.service > /dev/null 2>&1
    systemctl mask laded.socket > /dev/null 2>&1
    [[ ! -e /run/lade/control.sock ]]
    systemctl start laded
    equal "the socket's mode" "660 lade:lade" "$(stat -c '%a %U:%G' /run/lade/control.sock)"
    equal "the answer" 0 "$(ladectl count Person)"
END
}

@test "two instances run side by side, each in its own directories" {
  inside << 'END'
    install_package
    for name in shop school; do
      sed "s|/var/lib/lade/demo|/var/lib/lade@$name/demo|" /etc/lade/lade.yaml.d/demo.yaml > "/etc/lade/$name.yaml"
      systemctl enable --now --quiet "laded@$name"
    done
    people 10 /tmp/shop.csv
    people 20 /tmp/school.csv
    for name in shop school; do drop "/tmp/$name.csv" people "/var/spool/lade@$name"; done
    counted() { [[ $(ladectl count Person --socket "/run/lade@$1/control.sock") == "$2" ]]; }
    eventually counted shop 10
    eventually counted school 20
    equal "the rows of the first" 0 "$(ladectl count Person)"
    systemctl stop laded@shop
    counted school 20
END
}

@test "SIGUSR1 writes its state to the journal" {
  inside << 'END'
    install_package
    kill -USR1 "$(main_pid)"
    told_state() { [[ $(journalctl --unit laded) == *"state: lane import: 0 of 1 running"* ]]; }
    eventually told_state
    contains "the memory" "state: memory" "$(journalctl --unit laded)"
END
}
