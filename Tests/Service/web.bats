#!/usr/bin/env bats
# Web pages on a TCP port, from a service without network.
load outside.bash

@test "the pages' port is closed until it is enabled; then a link of ladectl web signs in, once" {
  inside << 'END'
    install_package
    equal "the unit" disabled "$(systemctl is-enabled laded-web.socket || true)"
    curl --silent --max-time 5 http://127.0.0.1:9465/ && die "it listens"
    contains "without pages" "laded-web.socket" "$(ladectl web 2>&1 || true)"
    systemctl enable laded-web.socket
    systemctl restart laded
    equal "the socket" active "$(systemctl is-active laded-web.socket)"
    equal "its network" yes "$(systemctl show --property=PrivateNetwork --value laded)"
    code() { curl --silent --output /tmp/page --write-out '%{http_code}' --max-time 30 --cookie /tmp/jar --cookie-jar /tmp/jar "$@"; }
    equal "without a session" 403 "$(code http://127.0.0.1:9465/)"
    link=$(ladectl web)
    contains "the link" "http://127.0.0.1:9465/sign-in?token=" "$link"
    equal "the link" 303 "$(code "$link")"
    equal "the overview" 200 "$(code http://127.0.0.1:9465/)"
    contains "the overview" "Overview" "$(cat /tmp/page)"
    for page in jobs data schedules stores log configuration; do
      equal "$page" 200 "$(code http://127.0.0.1:9465/$page)"
    done
    equal "another host" 403 "$(code --header 'Host: evil.example' http://127.0.0.1:9465/)"
    equal "another site's form" 403 "$(code --request POST --header 'Origin: http://evil.example' http://127.0.0.1:9465/configuration/reload)"
    rm /tmp/jar
    equal "the link again" 403 "$(code "$link")"
END
}

@test "stopped, the service is started by a request for a page, and a purge removes its port" {
  inside << 'END'
    install_package
    systemctl enable laded-web.socket
    systemctl restart laded
    systemctl stop laded.service
    equal "the answer" 403 "$(curl --silent --output /dev/null --write-out '%{http_code}' --max-time 30 http://127.0.0.1:9465/)"
    equal "the service" active "$(systemctl is-active laded)"
    install_package
    equal "after an upgrade" enabled "$(systemctl is-enabled laded-web.socket)"
    dpkg --purge lade > /tmp/dpkg.log 2>&1 || die "$(cat /tmp/dpkg.log)"
    equal "the links" "" "$(find /etc/systemd -name 'laded*')"
    curl --silent --max-time 5 http://127.0.0.1:9465/ && die "it listens"
    true
END
}
