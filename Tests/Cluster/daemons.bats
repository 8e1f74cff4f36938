#!/usr/bin/env bats
# What happens to daemons and their hosts.
load outside.bash

@test "all daemons are killed at once, and start again" {
  cluster << 'END'
    start_servers
    gather
    common_work 2
    more_batches
    crash "${fleet[@]}"
    start "${fleet[@]}"
    more_batches
    finish
END
}

@test "a daemon is killed: others go on with its job" {
  cluster << 'END'
    start_servers
    gather_sharing
    common_work 2
    eventually runs_on a
    crash a
    eventually taken_from a
    finish b
    start a
END
}

@test "a daemon is stopped for longer than its lease, and goes on while others do its job" {
  cluster << 'END'
    start_servers
    gather_sharing
    common_work 2
    eventually runs_on a
    signal STOP a
    eventually taken_from a
    signal CONT a
    lost_lease a
    start a
    finish
END
}

@test "a daemon is stopped for longer than its lease, and goes on when others have done its job" {
  cluster << 'END'
    start_servers
    gather_sharing
    common_work 2
    eventually runs_on a
    signal STOP a
    pace 0
    eventually all_done b
    signal CONT a
    lost_lease a
    holds b
    start a
    holds a
END
}

@test "all daemons are stopped for longer than their leases: none goes on with what it did" {
  cluster << 'END'
    start_servers
    gather_sharing
    common_work 2
    more_batches
    for name in a b c; do signal STOP "$name"; done
    over() { is 'max(until) < now() FROM lade_queue."QueueLease"'; }
    eventually over
    for name in a b c; do signal CONT "$name"; done
    # One of them may find that its own lease is over before anybody else has; all of them end.
    lost_lease a b c
    start a b c
    finish
END
}

@test "a daemon that is stopped amid a transaction doesn't keep its locks" {
  cluster << 'END'
    start_servers
    gather
    work 2
    amid_transaction() {
      signal STOP a
      if is "count(*) > 0 FROM pg_stat_activity WHERE application_name = 'a-1' AND state = 'idle in transaction' AND backend_xid IS NOT NULL"
      then return; fi
      signal CONT a
      return 1
    }
    eventually amid_transaction
    # It has locked rows, and may have changed some.
    locks="FROM pg_locks JOIN pg_stat_activity USING (pid) WHERE application_name = 'a-1' AND mode IN ('RowShareLock', 'RowExclusiveLock')"
    is "count(*) > 0 $locks"
    let_go() { is "count(*) = 0 $locks"; }
    eventually let_go
    signal CONT a
    meanwhile=revive
    finish
END
}

@test "clocks that are ten minutes fast, ten minutes slow, and set while jobs run" {
  cluster << 'END'
    start_servers
    set_clock b 600
    set_clock c -600
    gather_sharing
    work 2
    more_batches
    set_clock b -600
    set_clock c 600
    more_batches b
    more_batches c
    finish
    equal "claims" "$(sql 'SELECT count(*) FROM witness.expected')" "$(sql "SELECT count(*) FROM witness.event WHERE what = 'raise'")"
END
}

@test "daemons are restarted in order, one after the other" {
  cluster << 'END'
    start_servers
    gather
    work 3
    for name in "${fleet[@]}"; do
      eventually runs_on "$name"
      stop "$name"
      start "$name"
    done
    finish
END
}

@test "many small files in a folder that all hosts see" {
  cluster << 'END'
    start_servers
    slots=2
    gather_sharing
    for round in {1..20}; do
      for name in a b c; do import "$name" "$name$round" 300 & done
      wait $(jobs -p | grep -vxF "$(printf '%s\n' "${pid[@]}")")
    done
    finish
    equal "daemons at work" 3 "$(sql 'SELECT count(DISTINCT daemon) FROM witness.event')"
END
}

@test "a daemon's own files wait for it while it is away, and others do theirs" {
  cluster << 'END'
    start_servers
    gather_sharing
    pace 20
    for name in a b c; do drop "$name" "of-$name" 10000; done
    eventually runs_on a
    crash a
    done_of() { [[ $(sql "SELECT count(*) FROM lade_queue.\"Job\" WHERE source LIKE '%of-$1.csv' AND state = 'completed'") == 1 ]]; }
    eventually done_of b
    eventually done_of c
    # It is put back, and nobody takes it.
    waits() { [[ $(sql "SELECT state, owner FROM lade_queue.\"Job\" WHERE source LIKE '%of-a.csv'") == "available|" ]]; }
    eventually waits
    not done_of a
    start a
    finish
    equal "those who did a job of a's file" "a-1 a-2" "$(sql "SELECT string_agg(DISTINCT daemon, ' ' ORDER BY daemon) FROM witness.event
      JOIN witness.job USING (job) WHERE source LIKE '%of-a.csv'")"
END
}

@test "a daemon is killed with short files: others go on with them from the database" {
  cluster << 'END'
    start_servers
    sharing=', file_limit: 16MB'
    gather_sharing
    pace 20
    for name in a b c; do drop "$name" "of-$name" 10000; done
    eventually runs_on a
    crash a
    eventually taken_from a
    finish b
END
}

@test "files in a folder that daemons share, some of whom are killed, one after the other" {
  cluster << 'END'
    start_servers
    mkdir -p incoming/rows
    sharing=", file_limit: 16MB, incoming: $root/incoming"
    gather_sharing
    for round in {1..40}; do drop_shared "many$round" 300; done
    eventually is_empty incoming/rows
    finish
    pace 20
    for name in a b c; do
      for round in {1..4}; do drop_shared "slow-$name$round" 20000; done
      eventually runs_on "$name"
      crash "$name"
      for round in 1 2; do drop_shared "after-$name$round" 300; done
      eventually taken_from "$name"
      start "$name"
    done
    eventually is_empty incoming/rows
    finish
END
}

@test "two daemons can't have one spool" {
  cluster << 'END'
    start_servers
    gather_sharing
    stop b
    sed -i "s,^spool: .*,spool: $root/a/spool," b/lade.yaml
    status=0
    nsenter --net=/run/netns/b -- "$laded_folder/laded" --config "$root/b/lade.yaml" 2> b/refusal || status=$?
    equal "the status" 75 "$status"
END
}
