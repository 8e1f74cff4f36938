#!/usr/bin/env bats
# What happens to the server. The store, and the queue if it is shared, are in it.
load outside.bash

@test "connections that are ended every second" {
  cluster << 'END'
    start_servers
    gather
    work 3
    ended=0
    pass() { # Ends all connections of daemons, unless all is done.
      if all_done a; then return; fi
      ended=$((ended + $(sql "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE usename = 'lade'")))
      sleep 1
      return 1
    }
    eventually pass
    ((ended >= 5)) || die "only $ended connections were ended"
    finish
END
}

@test "a server that is restarted, and one that crashes" {
  cluster << 'END'
    start_servers
    gather
    work 2
    more_batches
    meanwhile=revive
    server db1 restart -m immediate
    more_batches
    server db1 restart -m fast
    more_batches
    finish
END
}

@test "a standby takes over while the former primary lives, with a commit that only that one has" {
  cluster << 'END'
    start_servers
    batch=20 lease=30s
    gather
    work 3 15000
    take_over_amid_commit
    server db1 stop -m immediate
    meanwhile=revive
    finish
END
}

@test "the same, and the new primary has given the number of that transaction to another" {
  cluster << 'END'
    start_servers
    batch=20 lease=30s
    gather
    work 3 15000
    take_over_amid_commit
    sql "DO 'BEGIN FOR i IN 1..500 LOOP PERFORM pg_current_xact_id(); COMMIT; END LOOP; END'"
    is "pg_xact_status('$number'::xid8) = 'committed'" || die "the number $number isn't given again"
    server db1 stop -m immediate
    meanwhile=revive
    finish
END
}

@test "a primary that dies, and the standby takes over" {
  cluster << 'END'
    start_servers
    gather
    work 2
    more_batches
    server db1 stop -m immediate
    server db2 promote
    primary=db2
    meanwhile=revive
    more_batches
    finish
END
}

@test "connections that are cut between COMMIT and its answer" {
  cluster << 'END'
    start_servers
    add_hosts proxy
    nsenter --net=/run/netns/proxy "$repository/Tests/Cluster/cutting-proxy" "${address[proxy]}:5432" "${address[db1]}:5432" 7 > cuts 2> proxy/log &
    servers="host=${address[proxy]}"
    gather
    work 2
    eventually all_done a
    (($(grep -c after cuts) >= 5 && $(grep -c before cuts) >= 5)) || die "cut: $(sort cuts | uniq -c)"
    finish
END
}

@test "no connection to be had" {
  cluster << 'END'
    start_servers
    gather
    work 2
    more_batches
    sql "CREATE ROLE greedy LOGIN"
    # More than there is room for; each that is refused tries again.
    for _ in {1..70}; do
      while ! psql -h "$root/db1" -U greedy -d lade -Xq -c 'SELECT pg_sleep(600)' > /dev/null 2>&1; do sleep 0.05; done &
    done
    full() {
      sql "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE usename = 'lade'" > /dev/null
      [[ $(sql "SELECT count(*) FROM pg_stat_activity WHERE usename = 'lade'") == 0 ]]
    }
    eventually full
    refused() { (($(grep -c ' lade .*FATAL: .*\(remaining connection slots\|too many clients\)' db1/log) >= 10)); }
    eventually refused
    kill $(jobs -p | grep -vxF "$(printf '%s\n' "${pid[@]}")")
    emptied() { [[ $(sql "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE usename = 'greedy'") == 0 ]]; }
    eventually emptied
    meanwhile=revive
    more_batches
    finish
END
}

@test "a long idle transaction, and one that has locked what daemons write" {
  cluster << 'END'
    start_servers
    gather
    psql -h "$root/db1" -U postgres -d lade -XqAt > /dev/null << 'IDLE' &
      BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM rows."Row"; \! sleep 600
IDLE
    idle() { is "count(*) > 0 FROM pg_stat_activity WHERE state = 'idle in transaction' AND usename = 'postgres' AND backend_xmin IS NOT NULL"; }
    eventually idle
    work 2
    more_batches
    lock="SELECT count(*) FROM (SELECT FROM rows._lade_fence FOR UPDATE) AS fence"
    psql -h "$root/db1" -U postgres -d lade -XqAt > /dev/null <<< "BEGIN; $lock; SELECT pg_sleep(600)" &
    blocked() { is "count(*) > 0 FROM pg_stat_activity WHERE usename = 'lade' AND wait_event_type = 'Lock'"; }
    eventually blocked
    sql "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(600)' AND pid <> pg_backend_pid()"
    eventually all_done a
    idle || die "the idle transaction has ended"
    finish
END
}
