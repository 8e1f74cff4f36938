#!/usr/bin/env bats
# The service's journal messages: fields, priorities, message IDs and the catalogue.
load outside.bash

@test "threads that get no higher priority, as in a container, aren't worth a line" {
  inside << 'END'
    mkdir -p /etc/systemd/system/laded.service.d
    printf '[Service]\nLimitNICE=0\n' > /etc/systemd/system/laded.service.d/nice.conf
    install_package
    people 10 /tmp/people.csv
    drop /tmp/people.csv people
    eventually ended 1
    equal "the lines" "" "$(journalctl --unit laded --output=cat | grep -i 'thread priority' || true)"
END
}

@test "the log of a job is found by its number, store, entity and lane, and equals that of ladectl log" {
  inside << 'END'
    install_package
    people 10 /tmp/people.csv
    drop /tmp/people.csv people
    eventually ended 1
    story() { journalctl --unit laded --output "${1:-cat}" JOB_ID=1 _COMM=laded; }
    whole() { [[ $(story) == *"completed in"* ]]; }
    eventually whole
    equal "ladectl's" "$(story)" "$(ladectl log 1 --json | jq -r '.lines[] | .message + (if .metadata.entry then " entry=" + .metadata.entry else "" end)')"
    contains "the beginning" "job 1: handed in by spool (user 0): import of Person from people.csv" "$(story)"
    contains "the end" "job 1: completed in" "$(story)"
    contains "the end" "10 records, 10 inserted" "$(story)"
    equal "the states" "scheduled available running completed" "$(story json | jq -r 'select(.JOB_STATE).JOB_STATE' | uniq | paste -sd ' ')"
    equal "the fields" "import import demo Person people" \
      "$(story json | jq -r 'select(.LADE_EVENT == "job-completed") | [.JOB_KIND, .LANE, .STORE, .ENTITY, .RECIPE] | join(" ")')"
    for match in LANE=import STORE=demo ENTITY=Person; do
      contains "$match" "job 1: completed" "$(journalctl --unit laded --output cat "$match")"
    done
    equal "another job's" "" "$(journalctl --unit laded --output cat --quiet JOB_ID=999)"
END
}

@test "each kind of message has its ID, and the catalogue explains it" {
  inside << 'END'
    install_package
    journalctl --update-catalog
    people 10 /tmp/people.csv
    drop /tmp/people.csv people
    eventually ended 1
    : > /tmp/empty.csv
    drop /tmp/empty.csv people
    eventually ended 1 discarded
    mkfifo /tmp/pipe && mv /tmp/pipe /var/spool/lade/incoming/people/pipe.csv
    number_of() { journalctl --unit laded --output json "LADE_EVENT=$1" | jq -r .MESSAGE_ID | tail -n 1; }
    refused() { [[ $(number_of entry-refused) != "" ]]; }
    eventually refused
    printf 'lanes: {import: {concurency: 4}}\n' > /etc/lade/lade.yaml.d/wrong.yaml
    kill -HUP "$(main_pid)"
    heard() { [[ $(number_of configuration-refused) != "" ]]; }
    eventually heard
    rm /etc/lade/lade.yaml.d/wrong.yaml
    systemctl restart laded
    for event in daemon-started daemon-stopping daemon-stopped configuration-refused entry-refused \
      job-submitted job-started job-completed job-discarded; do
      number=$(number_of $event)
      [[ $number =~ ^[0-9a-f]{32}$ ]] || die "$event has no number: “$number”"
      contains "what explains $event" "Defined-By: lade" "$(journalctl --unit laded --catalog "MESSAGE_ID=$number")"
    done
    contains "the advice" "ladectl retry 2" "$(journalctl --unit laded --catalog "LADE_EVENT=job-discarded")"
    contains "the advice" "mv corrupt/" "$(journalctl --unit laded --catalog "LADE_EVENT=entry-refused")"
    # The journal knows every message ID of the package's catalogue.
    for number in $(sed -n 's/^-- \([0-9a-f]\{32\}\)$/\1/p' /usr/lib/systemd/catalog/lade.catalog); do
      journalctl --dump-catalog "$number" | grep -q 'Defined-By: lade' || die "$number isn't in the journal's catalogue"
    done
END
}

@test "priorities follow syslog: a failed job is an error, one with rejects a notice" {
  inside << 'END'
    install_package
    people 10 /tmp/people.csv
    echo 'x,Nobody,,,,,' >> /tmp/people.csv
    drop /tmp/people.csv people
    eventually ended 1
    : > /tmp/empty.csv
    drop /tmp/empty.csv people
    eventually ended 1 discarded
    priority() { journalctl --unit laded --output json JOB_ID="$1" LADE_EVENT="$2" | jq -r .PRIORITY; }
    equal "with rejects" 5 "$(priority 1 job-completed)"
    equal "failed for good" 3 "$(priority 2 job-discarded)"
    equal "begun" 6 "$(priority 1 job-started)"
    contains "the errors" "job 2: discarded: the file is empty" "$(journalctl --unit laded --priority err --output cat)"
END
}

@test "started by hand, it logs to standard error" {
  inside << 'END'
    install_package
    systemctl stop laded laded.socket
    setpriv --reuid=lade --regid=lade --init-groups laded > /tmp/out 2> /tmp/err &
    up() { ladectl status > /dev/null 2>&1; }
    eventually up
    kill %1
    wait %1
    equal "the standard output" "" "$(cat /tmp/out)"
    contains "the standard error" "laded has stopped" "$(cat /tmp/err)"
END
}
