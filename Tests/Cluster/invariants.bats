#!/usr/bin/env bats
# The witness itself: it accepts what may be, and sees each thing that must not be.
load outside.bash

@test "the witness accepts a job that was taken over, and sees every violation" {
  cluster << 'END'
    start_servers
    # as DAEMON STATEMENTS: in one transaction.
    as() { sql "SET application_name = '$1'; $2" "$database"; }
    raise() { as "$1" "INSERT INTO rows._lade_fence VALUES ('q/1', $2) ON CONFLICT (job) DO UPDATE SET claim = excluded.claim"; }
    # save DAEMON RECORD: a batch of ten rows with its checkpoint.
    save() {
      as "$1" "INSERT INTO rows.\"Row\" SELECT 'one', i FROM generate_series($2 - 9, $2) AS i;
        INSERT INTO rows._lade_checkpoint VALUES ('q/1', $2, 0)
        ON CONFLICT (job) DO UPDATE SET record = excluded.record, finished = excluded.finished"
    }
    database=good
    sql "CREATE DATABASE good" postgres
    sql 'CREATE SCHEMA rows; CREATE TABLE rows."Row" (file text, number bigint, mark text);
      CREATE TABLE rows._lade_fence (job text PRIMARY KEY, claim bigint);
      CREATE TABLE rows._lade_checkpoint (job text PRIMARY KEY, record bigint, finished bigint)' good
    psql -h "$root/$primary" -U postgres -d good -Xq -v ON_ERROR_STOP=1 -f "$repository/Tests/Cluster/witness.sql"
    sql "INSERT INTO witness.expected VALUES ('one', 40, NULL)" good
    raise a-1 1; save a-1 10; save a-1 20
    raise b-1 3; save b-1 30
    sql "INSERT INTO witness.job VALUES (1, 'completed', 'one.csv'); INSERT INTO witness.transition VALUES
      (1, 1, NULL, 'available', ''), (1, 2, 'available', 'running', ''), (1, 3, 'running', 'available', 'rescued'),
      (1, 4, 'available', 'running', ''), (1, 5, 'running', 'completed', '')" good

    # ends STATEMENTS: what the witness says of the good history that goes on in this way.
    ends() {
      database=case
      sql "DROP DATABASE IF EXISTS \"case\"" postgres
      sql "CREATE DATABASE \"case\" TEMPLATE good" postgres
      eval "$1"
      sql "SELECT DISTINCT invariant FROM witness.violations() ORDER BY 1" case
    }
    end='save b-1 40; as b-1 "UPDATE rows._lade_checkpoint SET finished = 1"; as b-1 "DELETE FROM rows._lade_checkpoint"'
    equal "a good history" "" "$(ends "$end")"
    # sees INVARIANT STATEMENTS
    sees() {
      local found
      found=$(ends "$2")
      grep -qxF "$1" <<< "$found" || die "“$1” isn't seen in: $2; only: $found"
    }
    sees "every row once" "save b-1 40; sql \"INSERT INTO rows.\\\"Row\\\" VALUES ('one', 7)\" case; $end"
    sees "every row once" "$end; sql \"DELETE FROM rows.\\\"Row\\\" WHERE number = 7\" case"
    sees "every row once" "$end; sql \"INSERT INTO rows.\\\"Row\\\" VALUES ('two', 1)\" case"
    sees "every row once" "$end; sql \"UPDATE witness.expected SET mark = 'm'; UPDATE rows.\\\"Row\\\" SET mark = 'm' WHERE number > 1\" case"
    sees "no job lost or doubled" "$end; sql \"INSERT INTO witness.job VALUES (2, 'completed', 'one.csv')\" case"
    sees "exactly one completed" "$end; sql \"DELETE FROM witness.transition WHERE number = 5\" case"
    sees "exactly one completed" "$end; sql \"INSERT INTO witness.transition VALUES (1, 6, 'running', 'completed', '')\" case"
    sees "exactly one completed" "$end; sql \"INSERT INTO witness.transition VALUES (1, 6, 'completed', 'running', '')\" case"
    sees "claims never go back" "raise a-1 1; save a-1 40"
    sees "claims never go back" "sql \"DELETE FROM rows._lade_fence\" case; save b-1 40"
    sees "records rise" "raise c-1 5; save c-1 20"
    sees "one daemon for a claim" "save a-1 40"
    sees "claims don't interleave" "save a-1 31; save b-1 40"
    sees "nothing of a superseded claim" "raise c-1 5; save b-1 40"
    sees "nothing after the end" "$end; save b-1 50"
    sees "nothing after the end" "as b-1 \"UPDATE rows._lade_checkpoint SET finished = 1\"; raise c-1 5; save c-1 40"
END
}
