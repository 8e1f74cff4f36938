#!/usr/bin/env bats
# The service's configuration: drop-ins, variables, credentials, reloads.
load outside.bash

@test "systemctl reload applies a changed configuration and says so" {
  inside << 'END'
    install_package
    pid=$(main_pid)
    mkdir -p /etc/lade/lade.yaml.d
    printf 'lanes: {import: {concurrency: 4}}\nrecipes: {more: {store: demo, entity: Person}}\n' > /etc/lade/lade.yaml.d/more.yaml
    systemctl reload laded
    in_force() { [[ $(ladectl lane list --json | jq '.lanes[] | select(.name == "import").concurrency') == 4 ]]; }
    eventually in_force
    equal "the process" "$pid" "$(main_pid)"
    equal "the service" active "$(systemctl is-active laded)"
    contains "the journal" "applied lanes.import, recipes.more" "$(journalctl --unit laded)"
    people 10 /tmp/people.csv
    drop /tmp/people.csv more
    eventually ended 1
    equal "the rows" 10 "$(ladectl count Person)"
END
}

@test "a configuration with mistakes fails the reload, and the daemon continues as before" {
  inside << 'END'
    install_package
    pid=$(main_pid)
    mkdir -p /etc/lade/lade.yaml.d
    printf 'lanes: {import: {concurency: 4}}\n' > /etc/lade/lade.yaml.d/wrong.yaml
    systemctl reload laded && die "it was taken"
    contains "the journal" 'did you mean `concurrency`?' "$(journalctl --unit laded)"
    metric() { curl --silent --unix-socket /run/lade/control.sock http://lade/metrics | awk -v name="$1" '$1 == name { print $2 }'; }
    equal "the metric" 0 "$(metric lade_config_last_reload_successful)"
    # The signal is no check, either.
    kill -HUP "$pid"
    told_so() { [[ $(journalctl --unit laded) == *"it was refused, and nothing has changed"* ]]; }
    eventually told_so
    ladectl reload && die "ladectl had it taken"
    equal "the process" "$pid" "$(main_pid)"
    equal "the service" active "$(systemctl is-active laded)"
    equal "the lane" 1 "$(ladectl lane list --json | jq '.lanes[] | select(.name == "import").concurrency')"
END
}

@test "without the control socket a reload fails, and SIGHUP applies the configuration and logs the result" {
  inside << 'END'
    install_package
    mkdir -p /etc/lade/lade.yaml.d
    printf 'lanes: {import: {concurrency: 4}}\n' > /etc/lade/lade.yaml.d/more.yaml
    rm /run/lade/control.sock
    systemctl reload laded && die "it said that it had worked"
    contains "the journal" "systemctl kill --signal=HUP laded" "$(journalctl --unit laded)"
    systemctl kill --signal=HUP laded
    applied() { [[ $(journalctl --unit laded) == *"applied lanes.import"* ]]; }
    eventually applied
    equal "the service" active "$(systemctl is-active laded)"
END
}

@test "a new store waits for a restart, which the reload names, and everything else applies" {
  inside << 'END'
    install_package
    mkdir -p /etc/lade/lade.yaml.d
    cat > /etc/lade/lade.yaml.d/shop.yaml << 'YAML'
stores: { shop: { path: /var/lib/lade/shop.sqlite, model: models/Demo.xcdatamodeld } }
recipes: { customers: { store: shop, entity: Person }, more: { store: demo, entity: Person } }
YAML
    contains "what is said before" "needs a restart: stores.shop, recipes.customers" "$(ladectl config check)"
    systemctl reload laded
    contains "the journal" "needs a restart: stores.shop, recipes.customers" "$(journalctl --unit laded)"
    [[ -d /var/spool/lade/incoming/more && ! -d /var/spool/lade/incoming/customers ]]
    systemctl restart laded
    people 10 /tmp/people.csv
    drop /tmp/people.csv customers
    eventually ended 1
    equal "the rows" 10 "$(ladectl count Person --store shop)"
END
}

@test "each instance is reloaded by its own file" {
  inside << 'END'
    install_package
    sed 's|/var/lib/lade/demo|/var/lib/lade@shop/demo|' /etc/lade/lade.yaml.d/demo.yaml > /etc/lade/shop.yaml
    systemctl enable --now --quiet laded@shop
    cp /etc/lade/shop.yaml /tmp/shop.yaml
    echo 'laens: {}' >> /etc/lade/shop.yaml
    systemctl reload laded@shop && die "its mistake was taken"
    systemctl reload laded
    (cat /tmp/shop.yaml; echo 'lanes: {import: {concurrency: 4}}') > /etc/lade/shop.yaml
    echo 'laens: {}' >> /etc/lade/lade.yaml
    systemctl reload laded@shop
    equal "its lane" 4 "$(ladectl lane list --json --socket /run/lade@shop/control.sock | jq '.lanes[] | select(.name == "import").concurrency')"
    systemctl reload laded && die "the mistake was taken"
    true
END
}

@test "a running import isn't disturbed by a reload" {
  inside << 'END'
    install_package
    people "$many" /tmp/people.csv
    drop /tmp/people.csv people
    eventually some_rows
    printf 'keep: {jobs: 500}\n' >> /etc/lade/lade.yaml
    systemctl reload laded
    eventually ended 1
    equal "the rows" "$many" "$(ladectl count Person)"
    equal "the attempts" 1 "$(ladectl list --json | jq '.jobs[0].attempt')"
END
}

@test "variables of the unit are the last layer" {
  inside << 'END'
    install_package
    mkdir -p /etc/systemd/system/laded.service.d
    printf '[Service]\nEnvironment=LADE_LANES__IMPORT__CONCURRENCY=3\n' > /etc/systemd/system/laded.service.d/lanes.conf
    systemctl daemon-reload
    systemctl restart laded
    equal "the lane" 3 "$(ladectl lane list --json | jq '.lanes[] | select(.name == "import").concurrency')"
    printf '[Service]\nEnvironment=LADE_LANE=3\n' > /etc/systemd/system/laded.service.d/lanes.conf
    systemctl daemon-reload
    systemctl restart laded && die "it started"
    contains "the journal" 'LADE_LANE: there is no key `lane`; did you mean `lanes`?' "$(journalctl --unit laded)"
END
}
