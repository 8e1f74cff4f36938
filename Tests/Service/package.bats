#!/usr/bin/env bats
# The package: installation, upgrade, removal.
load outside.bash

@test "after installation the service is ready, and a dropped file appears in the store" {
  inside << 'END'
    install_package
    equal "the service" active "$(systemctl is-active laded)"
    equal "at the next boot" enabled "$(systemctl is-enabled laded)"
    equal "its user" lade "$(stat -c %U /proc/"$(main_pid)")"
    equal "the spool's mode" "3770 lade:lade" "$(stat -c '%a %U:%G' /var/spool/lade/incoming)"
    equal "the folder of a recipe" "3770 lade:lade" "$(stat -c '%a %U:%G' /var/spool/lade/incoming/people)"
    equal "the socket's mode" "660 lade:lade" "$(stat -c '%a %U:%G' /run/lade/control.sock)"
    contains "what systemctl status says" "0 available, 0 running" "$(systemctl show --property=StatusText laded)"
    people 1000 /tmp/people.csv
    drop /tmp/people.csv people
    eventually ended 1
    equal "the rows" 1000 "$(ladectl count Person)"
    equal "what is left in the spool" 0 "$(find /var/spool/lade/incoming /var/spool/lade/active -type f | wc -l)"
    equal "the file's place" 1 "$(ls /var/spool/lade/done | wc -l)"
    man --where laded > /dev/null || [[ -f /usr/share/man/man8/laded.8.gz ]]
END
}

@test "a member of the group submits and reads, and can't change the jobs of others" {
  inside << 'END'
    install_package
    useradd --groups lade alice
    people 10 /srv/mine.csv
    chown alice /srv/mine.csv
    runuser -u alice -- ladectl import /srv/mine.csv --recipe people --wait > /tmp/said 2>&1 || die "$(cat /tmp/said)"
    equal "the rows" 10 "$(runuser -u alice -- ladectl count Person)"
    contains "who asked" alice "$(ladectl list --columns by)"
    runuser -u alice -- ladectl pause import > /tmp/said 2>&1 && die "alice paused a lane"
    contains "why not" "only operators" "$(cat /tmp/said)"
    useradd mallory
    runuser -u mallory -- ladectl list > /tmp/said 2>&1 && die "mallory isn't in the group"
    contains "what to do" "group" "$(cat /tmp/said)"
END
}

@test "an upgrade keeps a changed configuration, jobs and rows, and restarts the service" {
  inside << 'END'
    install_package
    people 100 /tmp/people.csv
    drop /tmp/people.csv people
    eventually ended 1
    echo 'log_level: debug' >> /etc/lade/lade.yaml
    pid=$(main_pid)
    install_package
    started_since "$pid" || die "it wasn't restarted"
    grep -q '^log_level: debug' /etc/lade/lade.yaml
    equal "the rows" 100 "$(ladectl count Person)"
    ended 1
END
}

@test "a removal keeps configuration and data; a purge removes everything, if the question is answered so" {
  inside << 'END'
    # Files that systemd and dpkg write themselves don't count.
    files() { find /etc /home /opt /root /run /srv /usr /var -xdev \( -path /run/systemd -o -path /run/log -o -path /run/credentials \
      -o -path /var/lib/dpkg -o -path /var/cache -o -path /var/log -o -path /var/tmp -o -path /var/lib/systemd/catalog \) -prune -o -print \
      | LC_ALL=C sort; }
    files > /tmp/before
    install_package
    people 10 /tmp/people.csv
    drop /tmp/people.csv people
    eventually ended 1
    sed 's|/var/lib/lade/demo|/var/lib/lade@shop/demo|' /etc/lade/lade.yaml.d/demo.yaml > /etc/lade/shop.yaml
    systemctl enable --quiet --now laded@shop
    dpkg --remove lade > /tmp/dpkg.log 2>&1 || die "$(cat /tmp/dpkg.log)"
    systemctl --quiet is-active laded && die "it still runs"
    systemctl --quiet is-active laded@shop && die "an instance still runs"
    [[ ! -e /usr/bin/laded && -f /etc/lade/lade.yaml && -f /var/lib/lade/demo.sqlite ]]
    rm /etc/lade/shop.yaml
    echo 'lade lade/remove-data boolean true' | debconf-set-selections
    dpkg --purge lade > /tmp/dpkg.log 2>&1 || die "$(cat /tmp/dpkg.log)"
    # It may own files elsewhere.
    getent passwd lade > /dev/null || die "the user is gone"
    files > /tmp/after
    rests=$(comm -13 /tmp/before /tmp/after | grep -v "^/var/lib/debconf\\|^/etc/systemd/system/multi-user.target.wants$\\|^/etc/[a-z]*-$" || true)
    equal "the rests" "" "$rests"
    equal "what it said" "" "$(grep -i -E 'warning|error' /tmp/dpkg.log || true)"
END
}

@test "a purge without an answer keeps the data, and always keeps the administrator's files" {
  inside << 'END'
    install_package
    people 10 /tmp/people.csv
    drop /tmp/people.csv people
    eventually ended 1
    cp /etc/lade/lade.yaml.d/demo.yaml /etc/lade/lade.yaml.d/mine.yaml
    dpkg --purge lade > /tmp/dpkg.log 2>&1 || die "$(cat /tmp/dpkg.log)"
    [[ ! -e /etc/lade/lade.yaml && -f /etc/lade/lade.yaml.d/mine.yaml && -f /var/lib/lade/demo.sqlite && -d /var/spool/lade/done ]]
    install_package
    equal "the rows" 10 "$(ladectl count Person)"
END
}

@test "an upgrade asks nothing, and doesn't bring the deleted demo back" {
  inside << 'END'
    install_package
    printf 'stores: {shop: {path: /var/lib/lade/shop.sqlite, model: models/Demo.xcdatamodeld}}\n' > /etc/lade/lade.yaml.d/shop.yaml
    rm /etc/lade/lade.yaml.d/demo.yaml
    systemctl restart laded
    install_package
    [[ ! -e /etc/lade/lade.yaml.d/demo.yaml ]]
    equal "the stores" shop "$(ladectl store list --json | jq -r '.stores[].name')"
END
}

@test "its copyright file has the licences of what it contains" {
  folder=$BATS_TEST_TMPDIR/package
  dpkg-deb --extract "$package" "$folder"
  copyright=$folder/usr/share/doc/lade/copyright
  head -1 "$copyright" | grep -F 'copyright-format/1.0'
  for part in 'GRDB.swift/*' 'swift-nio/*' 'hummingbird/*' 'Yams/*' 'Yams/Sources/CYaml/*' 'swift-argument-parser/*' 'usr/lib/lade/*'; do
    grep -F "Files: $part" "$copyright"
  done
  grep -F 'UNICODE LICENSE V3' "$copyright"
  grep -F 'Runtime Library Exception' "$copyright"
  # Debian has this one.
  grep -F '/usr/share/common-licenses/Apache-2.0.' "$copyright"
  [[ $(grep -c 'END OF TERMS AND CONDITIONS' "$copyright") == 0 ]]
  # Each licence that is named is there.
  for licence in $(sed -n 's/^License: //p' "$copyright" | sort -u); do
    [[ $(grep -c -F -x "License: $licence" "$copyright") -ge 2 ]]
  done
}

@test "lintian finds no error and nothing to warn about" {
  command -v lintian > /dev/null || skip "it takes lintian"
  # The package of a debug build isn't compressed. Whose address it has depends on who builds it.
  run lintian --no-cfg --allow-root --tag-display-limit 0 --fail-on error,warning \
    --suppress-tags uses-no-compression-for-control-tarball,uses-no-compression-for-data-tarball,bogus-mail-host,mail-address-loops-or-bounces \
    "$package"
  echo "$output"
  [[ $status == 0 ]]
}

@test "it depends on Debian's libraries, and contains Swift's for itself alone" {
  depends=$(dpkg-deb --field "$package" Depends)
  [[ $depends == *libc6* && $depends == *libsqlite3-0* && $depends == *libarchive13* ]]
  [[ $depends != *swift* ]]
  folder=$BATS_TEST_TMPDIR/package
  dpkg-deb --extract "$package" "$folder"
  for program in laded ladectl; do
    run ldd "$folder/usr/bin/$program"
    [[ $output != *"not found"* ]]
    # Swift's libraries come from the package.
    elsewhere=$(grep -E 'swift|Foundation|dispatch|BlocksRuntime' <<< "$output" | grep -v -F "=> $folder/usr/" || true)
    [[ -z $elsewhere ]]
  done
}

@test "make install installs it without a package" {
  inside << 'END'
    # Installs what was packaged, without building it again.
    make --directory "$LADE_REPOSITORY" --old-file=man install CONFIGURATION="$configuration" > /tmp/said 2>&1 || die "$(cat /tmp/said)"
    contains "what to type next" "systemctl enable --now laded" "$(cat /tmp/said)"
    systemd-sysusers
    systemd-tmpfiles --create lade.conf
    journalctl --update-catalog
    systemctl daemon-reload
    systemctl enable --now --quiet laded
    people 10 /tmp/people.csv
    drop /tmp/people.csv people
    eventually ended 1
    equal "the rows" 10 "$(ladectl count Person)"
    equal "where it is" /usr/local/bin/laded "$(readlink "/proc/$(main_pid)/exe")"
    contains "what explains a line" "Defined-By: lade" "$(journalctl --unit laded --catalog LADE_EVENT=job-completed)"
    man --where ladectl > /dev/null || [[ -f /usr/local/share/man/man1/ladectl.1.gz ]]
END
}
