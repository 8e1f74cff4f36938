#!/usr/bin/env bats
# Metrics on a TCP port, from a service without network; secrets passed by systemd.
load outside.bash

@test "the port is closed until it is enabled; then the sandboxed service answers there" {
  inside << 'END'
    install_package
    equal "the unit" disabled "$(systemctl is-enabled laded-metrics.socket || true)"
    curl --silent --max-time 5 http://127.0.0.1:9464/metrics && die "it listens"
    contains "on the control socket" "lade_build_info" "$(curl --silent --fail --unix-socket /run/lade/control.sock http://lade/metrics)"
    systemctl enable laded-metrics.socket
    systemctl restart laded
    equal "the socket" active "$(systemctl is-active laded-metrics.socket)"
    people 100 /tmp/people.csv
    drop /tmp/people.csv people
    eventually ended 1
    curl --silent --show-error --fail http://127.0.0.1:9464/metrics > /tmp/metrics
    grep -q '^lade_records_total{kind="import"} 100$' /tmp/metrics || die "$(cat /tmp/metrics)"
    grep -q '^lade_jobs{lane="import",state="completed"} 1$' /tmp/metrics
    grep -q '^process_open_fds [1-9]' /tmp/metrics || die "/proc can't be read: $(grep ^process /tmp/metrics)"
    grep -q '^process_start_time_seconds [1-9]' /tmp/metrics
    equal "its health" pass "$(curl --silent --fail http://127.0.0.1:9464/v1/health | jq -r .status)"
    equal "its readiness" pass "$(curl --silent --fail http://127.0.0.1:9464/v1/ready | jq -r .status)"
    equal "anything else" 404 "$(curl --silent --output /dev/null --write-out '%{http_code}' http://127.0.0.1:9464/v1/status)"
    equal "its network" yes "$(systemctl show --property=PrivateNetwork --value laded)"
    ladectl status > /dev/null
    # The port stays open while the service is restarted.
    systemctl restart laded
    curl --silent --show-error --fail --max-time 30 http://127.0.0.1:9464/v1/health > /dev/null
END
}

@test "stopped, the service is started by a request for metrics" {
  inside << 'END'
    install_package
    systemctl enable laded-metrics.socket
    systemctl restart laded
    systemctl stop laded.service
    equal "the service" inactive "$(systemctl is-active laded || true)"
    contains "the answer" "lade_build_info" "$(curl --silent --show-error --fail --max-time 30 http://127.0.0.1:9464/metrics)"
    equal "the service" active "$(systemctl is-active laded)"
    ladectl status > /dev/null
END
}

@test "a token passed by systemd is required, the service reloads with it, and no log contains it" {
  inside << 'END'
    install_package
    install -m 600 /dev/stdin /etc/lade/metrics-token <<< s3cret-token
    mkdir -p /etc/systemd/system/laded.service.d /etc/lade/lade.yaml.d
    printf '[Service]\nLoadCredential=metrics-token:/etc/lade/metrics-token\n' > /etc/systemd/system/laded.service.d/token.conf
    echo 'metrics: { token: { credential: metrics-token } }' > /etc/lade/lade.yaml.d/metrics.yaml
    systemctl daemon-reload
    systemctl enable laded-metrics.socket
    systemctl restart laded
    code() { curl --silent --output /dev/null --write-out '%{http_code}' --max-time 30 "$@" http://127.0.0.1:9464/metrics; }
    equal "without it" 401 "$(code)"
    equal "with another" 401 "$(code -H 'Authorization: Bearer s3cret-tokem')"
    equal "with it" 200 "$(code -H 'Authorization: Bearer s3cret-token')"
    # ExecReload= sees no credentials.
    systemctl reload laded
    equal "with it" 200 "$(code -H 'Authorization: Bearer s3cret-token')"
    laded --check-config
    journalctl --unit laded | grep s3cret && die "the journal has it"
    systemctl show laded | grep s3cret && die "the unit has it"
    true
END
}

@test "the sandbox refuses a port of the configuration, and the message says what to do" {
  inside << 'END'
    install_package
    mkdir -p /etc/lade/lade.yaml.d
    echo 'metrics: { address: 127.0.0.1:9464 }' > /etc/lade/lade.yaml.d/metrics.yaml
    systemctl stop laded.socket laded.service
    systemctl start laded && die "it runs"
    equal "its status" 77 "$(systemctl show --property=ExecMainStatus --value laded)"
    contains "the journal" "systemctl enable laded-metrics.socket" "$(journalctl --unit laded)"
END
}

@test "it stays enabled after an upgrade, and a purge removes it" {
  inside << 'END'
    install_package
    systemctl enable laded-metrics.socket
    systemctl restart laded
    install_package
    equal "the unit" enabled "$(systemctl is-enabled laded-metrics.socket)"
    equal "the socket" active "$(systemctl is-active laded-metrics.socket)"
    curl --silent --show-error --fail --max-time 30 http://127.0.0.1:9464/metrics > /dev/null
    dpkg --purge lade > /tmp/dpkg.log 2>&1 || die "$(cat /tmp/dpkg.log)"
    equal "the links" "" "$(find /etc/systemd -name 'laded*')"
    curl --silent --max-time 5 http://127.0.0.1:9464/metrics && die "it listens"
    true
END
}
