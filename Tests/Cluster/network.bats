#!/usr/bin/env bats
# What happens to the network. What is lost is lost without a word: nobody is told that a connection is gone.
load outside.bash

@test "what the server sends to a daemon is lost" {
  cluster << 'END'
    start_servers
    gather
    common_work 3
    eventually runs_on a
    lose db1 a
    until_given_up a
    heal db1 a
    meanwhile=revive
    finish
END
}

@test "what a daemon sends to the server is lost" {
  cluster << 'END'
    start_servers
    gather
    common_work 3
    eventually runs_on a
    lose a db1
    until_given_up a
    heal a db1
    meanwhile=revive
    finish
END
}

@test "a daemon and the server are cut off from each other" {
  cluster << 'END'
    start_servers
    gather
    common_work 3
    eventually runs_on a
    cut a db1
    until_given_up a
    mend a db1
    meanwhile=revive
    finish
END
}

@test "a daemon is cut off for less than its lease" {
  cluster << 'END'
    start_servers
    gather_sharing
    work 3
    for _ in 1 2 3; do
      eventually runs_on a
      cut a db1
      sleep 1
      mend a db1
      more_batches a
    done
    finish
    equal "starts" "a-1 b-1 c-1" "$(sql "SELECT string_agg(DISTINCT daemon, ' ' ORDER BY daemon) FROM witness.event")"
END
}

@test "the primary and its standby are cut off from each other: nothing is committed, and it goes on afterwards" {
  cluster << 'END'
    start_servers
    gather
    work 2
    more_batches
    cut db1 db2
    eventually is "count(*) > 0 FROM pg_stat_activity WHERE usename = 'lade' AND wait_event = 'SyncRep'"
    mend db1 db2
    meanwhile=revive
    finish
END
}
