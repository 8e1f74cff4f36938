#!/usr/bin/env bats
# What happens to a pooler that works by transactions, which daemons go through.
load outside.bash

@test "a pooler of transactions that is gone, and comes back, and sessions that the server ends" {
  cluster << 'END'
    start_servers
    start_pooler
    lease=30s
    gather
    work 3
    meanwhile=revive
    for round in 1 2 3; do
      more_batches
      crash_pooler
      sleep 0.5
      launch_pooler
      more_batches
      sql "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE usename = 'lade'" > /dev/null
    done
    eventually holds_no_session_state
    finish
END
}
