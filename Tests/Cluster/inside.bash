# Sourced among the hosts of each test: servers db1 and db2, hosts a, b and c for daemons, and one for a proxy.
#
# All hosts see the same files. What they don't share is the network, and each has its own folder in /run/cluster.
# shellcheck disable=SC2034,SC2317 # variables for the tests; functions that are called by name
export LC_ALL=C.UTF-8 NO_COLOR=1
repository=$LADE_REPOSITORY laded_folder=$LADE_PROGRAMS root=/run/cluster
# laded reads LADE_ variables as configuration, and psql and libpq theirs.
# shellcheck disable=SC2086
unset ${!LADE_*} ${!PG*}
cd "$root" || exit

# told: prints the ends of all logs after a failure.
told() {
  local status=$? log
  if [[ $status != 0 && $status != 77 ]]; then
    echo "failed with status $status"
    for log in "$root"/*/log; do
      echo "--- $log"
      tail -n 40 "$log"
    done
    if [[ -n $primary ]]; then
      echo "--- jobs and the latest events"
      sql "SELECT * FROM witness.transition ORDER BY job, number; SELECT * FROM witness.event ORDER BY number DESC LIMIT 40" || :
    fi
  fi
}
trap told EXIT

die() { echo "$*"; exit 1; }
skip() { echo "$*"; exit 77; }

# eventually COMMAND...: repeats it until it succeeds, for two minutes at most, and between does what $meanwhile says.
meanwhile=
eventually() {
  local end=$((SECONDS + 120))
  until "$@"; do
    ((SECONDS < end)) || die "not within two minutes: $*"
    sleep 0.1
    $meanwhile
  done
}
# equal WHAT WANTED FOUND
equal() { [[ $2 == "$3" ]] || die "$1: wanted “$2”, found “$3”"; }
not() { ! "$@"; }

# --- the network -----------------------------------------------------------
declare -A address=([db1]=10.0.0.1 [db2]=10.0.0.2 [a]=10.0.0.11 [b]=10.0.0.12 [c]=10.0.0.13 [proxy]=10.0.0.20)

add_hosts() {
  local host
  for host in "$@"; do
    mkdir -p "$root/$host"
    ip netns add "$host"
    ip link add "lan-$host" type veth peer name eth0 netns "$host"
    ip link set dev "lan-$host" master lan up
    ip -n "$host" link set dev lo up
    ip -n "$host" address add "${address[$host]}/24" dev eth0
    ip -n "$host" link set dev eth0 up
  done
}

# on HOST COMMAND...: runs it with the host's network.
on() { nsenter --net="/run/netns/$1" -- "${@:2}"; }

# lose FROM TO: what FROM sends to TO gets lost without a word: it is addressed to a card that nobody has.
lose() { ip -n "$1" neighbour replace "${address[$2]}" lladdr 02:00:00:00:00:ff dev eth0 nud permanent; }
# heal FROM TO
heal() { ip -n "$1" neighbour del "${address[$2]}" dev eth0; }
# cut ONE OTHER, mend ONE OTHER: in both directions.
cut() { lose "$1" "$2"; lose "$2" "$1"; }
mend() { heal "$1" "$2"; heal "$2" "$1"; }

# --- PostgreSQL ------------------------------------------------------------
primary=
# Debian's programs, of the newest version.
postgres=$(find /usr/lib/postgresql -path '*/bin/initdb' 2> /dev/null | sort -V | tail -n 1)
postgres=${postgres%/initdb}
[[ -n $postgres ]] || skip "PostgreSQL isn't installed: run make deps"

# pg PROGRAM [ARG]...: runs one of its programs as another user than root, which a server refuses to be.
pg() { setpriv --reuid=postgres --regid=postgres --clear-groups "$postgres/$1" "${@:2}"; }

# server HOST VERB [OPTION]...: start, stop, restart, promote.
server() { on "$1" setpriv --reuid=postgres --regid=postgres --clear-groups \
  "$postgres/pg_ctl" -D "$root/$1/data" -s -w -l "$root/$1/log" "${@:2}" < /dev/null; }

# A primary on db1, and on db2 its synchronous standby.
start_servers() {
  local host
  add_hosts db1 db2
  chown postgres: db1 db2
  pg initdb -D db1/data -U postgres -A trust -E UTF8 --locale=C --no-sync > db1/initdb || die "$(cat db1/initdb)"
  printf '%s\n' 'local all,replication all trust' 'host all,replication all 10.0.0.0/24 trust' > db1/data/pg_hba.conf
  cat >> db1/data/postgresql.conf << END
listen_addresses = '*'
max_connections = 60
shared_buffers = 32MB
wal_keep_size = 512MB
log_line_prefix = '%m %u %a %p '
# A client or a standby that has gone without a word is given up after some seconds.
tcp_user_timeout = 4s
tcp_keepalives_idle = 2
tcp_keepalives_interval = 1
tcp_keepalives_count = 3
wal_sender_timeout = 5s
wal_receiver_timeout = 5s
include = '$root/db1/own.conf'
END
  echo "unix_socket_directories = '$root/db1'" > db1/own.conf
  server db1 start
  primary=db1
  sql "CREATE ROLE lade LOGIN" postgres
  sql "CREATE DATABASE lade OWNER lade" postgres
  pg pg_basebackup -h "$root/db1" -U postgres -D db2/data -X stream -c fast
  sed -i "s/db1/db2/" db2/data/postgresql.conf
  cat > db2/own.conf << END
unix_socket_directories = '$root/db2'
primary_conninfo = 'host=${address[db1]} user=postgres application_name=standby'
END
  touch db2/data/standby.signal
  server db2 start
  echo "synchronous_standby_names = 'standby'" >> db1/own.conf
  sql "SELECT pg_reload_conf()" > /dev/null
  eventually is_synchronous
}
is_synchronous() { [[ $(sql "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'") == 1 ]]; }

# sql STATEMENTS [DATABASE]: as the superuser of the primary, by its socket: no cut of the network is in the way.
sql() { psql -h "$root/$primary" -U postgres -d "${2:-lade}" -XqAt -v ON_ERROR_STOP=1 -c "$1"; }
# is STATEMENT: whether it answers with true. A server that is away says no.
is() { [[ $(sql "SELECT $1" 2> /dev/null) == t ]]; }

# --- PgBouncer -------------------------------------------------------------

# start_pooler: in transaction mode, with fewer sessions of the primary than daemons have connections. Those started later go through it.
start_pooler() {
  [[ -x /usr/sbin/pgbouncer ]] || skip "PgBouncer isn't installed: run make deps"
  add_hosts proxy
  chown postgres: proxy
  cat > proxy/settings << END
[databases]
lade = host=${address[$primary]} dbname=lade
[pgbouncer]
listen_addr = *
listen_port = 5432
unix_socket_dir =
auth_type = trust
auth_file = $root/proxy/users
pool_mode = transaction
default_pool_size = 8
max_client_conn = 200
server_login_retry = 1
query_wait_timeout = 15
logfile = $root/proxy/log
END
  echo '"lade" ""' > proxy/users
  servers="host=${address[proxy]}"
  launch_pooler
}
launch_pooler() {
  nsenter --net=/run/netns/proxy -- setpriv --reuid=postgres --regid=postgres --clear-groups \
    /usr/sbin/pgbouncer -q proxy/settings < /dev/null &
  pooler=$!
}
# crash_pooler: with all connections.
crash_pooler() {
  kill -KILL "$pooler"
  wait "$pooler" || :
}
# holds_no_session_state: nothing of the daemons outlasts a transaction.
holds_no_session_state() {
  is "NOT EXISTS (SELECT FROM pg_locks JOIN pg_stat_activity USING (pid)
    WHERE usename = 'lade' AND locktype = 'advisory' AND state = 'idle')"
}

# --- daemons ---------------------------------------------------------------
declare -A pid=() starts=() preload=()
# Where daemons look for the server, and under which queue they work: `own`, in SQLite, or `shared`.
servers="host=${address[db1]},${address[db2]}" queue=own
# How soon others take over from a daemon. Shorter than a restart of the server takes, so that leases run out in tests of that.
lease=6s
# More keys of a shared queue.
sharing=
# Rows of a batch, and jobs that a daemon runs at the same time.
batch=200 slots=1

# configure NAME LABEL: each start has a name of its own, by which the witness knows it.
configure() {
  local connection="$servers user=lade dbname=lade application_name=$2 connect_timeout=3 tcp_user_timeout=4000"
  connection+=" keepalives_idle=2 keepalives_interval=1 keepalives_count=3"
  cat > "$1/lade.yaml" << END
spool: spool
state: state
socket: socket
log_level: debug
allowed_folders: [$root/files]
intake: { settle: 100ms }
lanes: { import: { concurrency: $slots }, maintenance: { concurrency: $slots } }
retry: { first: 1s, longest: 3s }
stores:
  main: { postgres: "$connection", schema: rows, model: $repository/Tests/Cluster/Rows.xcdatamodel }
recipes:
  rows: { store: main, entity: Row, batch_size: $batch, max_attempts: 100 }
END
  if [[ $queue == shared ]]; then
    echo "queue: { postgres: \"$connection\", schema: lade_queue, host: $1, lease: $lease$sharing }" >> "$1/lade.yaml"
  fi
}

# can_share: whether laded knows queues that are shared.
can_share() {
  mkdir -p "$root/a"
  queue=shared
  configure a check
  "$laded_folder/laded" --check-config --config a/lade.yaml > a/check 2>&1 || {
    if ! grep -q 'no key `queue' a/check; then die "$(cat a/check)"; fi
    queue=own
    return 1
  }
}

# launch NAME: starts a daemon, and returns at once.
launch() {
  starts[$1]=$((${starts[$1]:-0} + 1))
  configure "$1" "$1-${starts[$1]}"
  # Not by `on`: a function would run in a shell, and that would have the number.
  nsenter --net="/run/netns/$1" -- env ${preload[$1]:-} "$laded_folder/laded" --config "$root/$1/lade.yaml" 2>> "$1/log" < /dev/null &
  pid[$1]=$!
}
# start NAME...: starts daemons, and waits until they are ready.
start() {
  local name
  for name in "$@"; do launch "$name"; done
  for name in "$@"; do ctl "$name" status --wait --timeout 60 > /dev/null || die "$name isn't ready"; done
}
# signal SIGNAL NAME
signal() { kill "-$1" "${pid[$2]}"; }
# gone NAME: waits for a daemon's end. Its status is in $gone.
gone() {
  gone=0
  timeout 120 tail --pid="${pid[$1]}" -f /dev/null || die "$1 doesn't end"
  wait "${pid[$1]}" || gone=$?
}
# stop NAME...: in order, with status 0.
stop() {
  local name
  for name in "$@"; do
    signal TERM "$name"
    gone "$name"
    equal "the status of $name" 0 "$gone"
  done
}
# crash NAME...
crash() {
  local name
  for name in "$@"; do
    signal KILL "$name"
    gone "$name"
  done
}
# revive: starts daemons that have ended because they couldn't renew their leases, as systemd would.
revive() {
  local name
  for name in "${fleet[@]}"; do
    if kill -0 "${pid[$name]}" 2> /dev/null; then continue; fi
    lost_lease "$name"
    start "$name"
  done
}

# set_clock NAME SECONDS: how far a daemon's clock is ahead, from its next start on and at once if it was set before that.
set_clock() {
  [[ -e clockshim.so ]] || cc -shared -fPIC -O1 -o clockshim.so "$repository/Tests/ClockShim/clockshim.c" -ldl -lpthread
  mkdir -p "$1"
  # In place: the daemon has the file in its memory.
  perl -e 'open my $f, -e $ARGV[0] ? "+<" : "+>", $ARGV[0] or die; print $f pack "q<", $ARGV[1] * 1e9' "$1/clock" "$2"
  preload[$1]="LD_PRELOAD=$root/clockshim.so CLOCK_SHIM=$root/$1/clock"
}
ctl() { LADE_SOCKET="$root/$1/socket" "$laded_folder/ladectl" "${@:2}"; }

# --- faults that several tests have -----------------------------------------

# until_given_up NAME: the server gives up the connections of a daemon that it can't reach, and others go on with its job.
until_given_up() {
  gone_from_server() { is "count(*) = 0 FROM pg_stat_activity WHERE client_addr = '${address[$1]}'"; }
  eventually gone_from_server "$1"
  if [[ $queue == shared ]]; then
    eventually taken_from "$1"
    lost_lease "$1"
  fi
}

# take_over_amid_commit: makes db2 the primary, while db1 lives on and has a commit of a daemon's that db2 knows nothing of.
# Its transaction's number is in $number.
take_over_amid_commit() {
  local waiting="FROM pg_stat_activity WHERE usename = 'lade' AND wait_event = 'SyncRep'"
  number=
  # What a batch takes longer, it takes with a number.
  pace 0
  while [[ -z $number ]]; do
    stop_between_writes
    cut db1 db2
    send_all CONT
    # Commits wait for the standby. So do numbers for new rows, before the commit; they are taken for several small batches.
    eventually is "count(*) > 0 $waiting AND (query = 'COMMIT' OR query LIKE '%nextval%')"
    number=$(sql "SELECT backend_xid $waiting AND query = 'COMMIT' LIMIT 1")
    [[ -n $number ]] || mend db1 db2
  done
  server db2 promote
  primary=db2
  is "pg_snapshot_xmax(pg_current_snapshot()) <= '$number'::xid8" || die "the standby knows transaction $number"
}
send_all() {
  local name
  for name in "${fleet[@]}"; do signal "$1" "$name"; done
}
# stop_between_writes: stops all daemons, each when it hasn't begun to write.
stop_between_writes() {
  local name
  for name in "${fleet[@]}"; do eventually stopped_between_writes "$name"; done
}
stopped_between_writes() {
  local own="FROM pg_stat_activity WHERE usename = 'lade' AND client_addr = '${address[$1]}'"
  signal STOP "$1"
  # What it has sent is done.
  eventually is "count(*) = 0 $own AND state = 'active' AND wait_event_type <> 'Client'"
  if is "count(*) = 0 $own AND backend_xid IS NOT NULL"; then return; fi
  signal CONT "$1"
  return 1
}

# --- work ------------------------------------------------------------------
mkdir files

# gather: three daemons that share a queue; or one with a queue of its own, if that is all that laded can. Their names are in $fleet.
gather() {
  if can_share; then fleet=(a b c); else fleet=(a); echo "this laded has no queue in PostgreSQL: one daemon"; fi
  begin
}
# gather_sharing: three daemons that share a queue.
gather_sharing() {
  can_share || skip "this laded has no queue in PostgreSQL"
  fleet=(a b c)
  begin
}
# begin: starts the daemons, and the witness who watches their store.
begin() {
  add_hosts "${fleet[@]}"
  start "${fleet[@]}"
  psql -h "$root/$primary" -U postgres -d lade -Xq -v ON_ERROR_STOP=1 -f "$repository/Tests/Cluster/witness.sql" > /dev/null
}

# work ROUNDS [ROWS]: has each daemon import that many files, which take some seconds. They belong to its host.
work() {
  local round name
  pace 20
  for ((round = 1; round <= $1; round++)); do
    for name in "${fleet[@]}"; do import "$name" "$name$((++files))" "${2:-10000}"; done
  done
}
# common_work ROUNDS: has rows imported, and then as many times changed as there are daemons, by jobs that are anybody's.
common_work() {
  local file
  work "$1"
  pace 0
  eventually all_done a
  pace 20
  for file in $(sql "SELECT file FROM witness.expected"); do
    sql "UPDATE witness.expected SET mark = 'changed' WHERE file = '$file'"
    ctl a update Row --where "file == '$file'" --set mark=changed --option batch_size="$batch" --max-attempts 100 --yes > /dev/null
  done
}
files=0

# import NAME FILE [ROWS]: has a daemon import a file that all hosts see.
import() {
  local rows=${3:-20000}
  { echo file,number; seq -f "$2,%.0f" 1 "$rows"; } > "files/$2.csv"
  sql "INSERT INTO witness.expected (file, rows) VALUES ('$2', $rows)"
  ctl "$1" import "$root/files/$2.csv" --recipe rows > /dev/null
}

# drop NAME FILE [ROWS]: the same by the daemon's hot folder.
drop() {
  local rows=${3:-20000}
  { echo file,number; seq -f "$2,%.0f" 1 "$rows"; } > "$1/spool/tmp/$2.csv"
  sql "INSERT INTO witness.expected (file, rows) VALUES ('$2', $rows)"
  mv "$1/spool/tmp/$2.csv" "$1/spool/incoming/rows/"
}

# drop_shared FILE [ROWS]: the same by the folder that daemons share, where `sharing` names it.
drop_shared() {
  local rows=${2:-20000} folder=$root/incoming/rows
  { echo file,number; seq -f "$1,%.0f" 1 "$rows"; } > "$folder/.$1.csv"
  sql "INSERT INTO witness.expected (file, rows) VALUES ('$1', $rows)"
  mv "$folder/.$1.csv" "$folder/$1.csv"
}
# is_empty FOLDER
is_empty() { [[ -z $(ls -A "$1") ]]; }

# pace MILLISECONDS: how much longer each batch takes from here on.
pace() { sql "UPDATE witness.pace SET pause = $1 / 1000.0"; }

# batches NUMBER [NAME]: whether at least as many are committed, by all starts of a daemon, or by everybody.
batches() { is "count(*) >= $1 FROM witness.event WHERE what = 'batch' AND daemon LIKE '${2:+$2-}%'"; }
# more_batches [NAME]: waits for some more.
more_batches() {
  local count
  count=$(sql "SELECT count(*) FROM witness.event WHERE what = 'batch' AND daemon LIKE '${1:+$1-}%'")
  eventually batches $((count + 5)) "${1:-}"
}

# runs_on NAME: whether a daemon works on some job: it was the last to commit a batch of one that isn't finished.
runs_on() {
  is "count(*) > 0 FROM (SELECT DISTINCT ON (job) * FROM witness.event ORDER BY job, number DESC) AS last
    WHERE what = 'batch' AND finished = 0 AND daemon LIKE '$1-%'"
}
# taken_from NAME: whether another daemon has gone on with a job that this one had begun.
taken_from() {
  is "count(*) > 0 FROM witness.event AS mine JOIN witness.event AS theirs USING (job)
    WHERE mine.daemon LIKE '$1-%' AND theirs.daemon NOT LIKE '$1-%' AND mine.number < theirs.number
    AND mine.what = 'batch' AND theirs.what = 'batch'"
}
# lost_lease NAME...: waits for the end of daemons whose leases are over, which say so by their status.
lost_lease() {
  local name
  for name in "$@"; do
    gone "$name"
    equal "the status of $name" 75 "$gone"
  done
}

# of_queue NAME STATEMENT: asks the queue that a daemon works on.
of_queue() {
  if [[ $queue == shared ]]; then sql "SET search_path = lade_queue; $2"
  else sqlite3 -readonly "$1/state/queue.sqlite" "$2"
  fi
}

# all_done NAME: whether all jobs of the daemon's queue have ended.
all_done() {
  local open
  open=$(of_queue "$1" "SELECT count(*) FROM \"Job\" WHERE \"endedAt\" IS NULL" 2> /dev/null) && [[ $open == 0 ]]
}

# finish [NAME]: waits until all jobs have ended, and looks whether everything that is promised holds.
finish() {
  pace 0
  eventually all_done "${1:-a}"
  holds "${1:-a}"
}

# holds NAME: the invariants. Prints what happened, so that one sees whether a fault met anything.
holds() {
  local found
  collect "$1"
  found=$(sql "SELECT invariant || ': ' || detail FROM witness.violations() LIMIT 20")
  sql "SELECT witness.summary()"
  [[ -z $found ]] || die "$found"
}

# collect NAME: what the daemon's queue says of its jobs, for the witness.
collect() {
  local jobs='SELECT id, state, source FROM "Job"'
  local transitions='SELECT job_id, id, "fromState", "toState", reason FROM "JobTransition" WHERE job_id IS NOT NULL'
  sql "TRUNCATE witness.job, witness.transition"
  if [[ $queue == shared ]]; then
    sql "SET search_path = lade_queue; INSERT INTO witness.job $jobs; INSERT INTO witness.transition $transitions"
  else
    sqlite3 -readonly -csv "$1/state/queue.sqlite" "$jobs" > jobs.csv
    sqlite3 -readonly -csv "$1/state/queue.sqlite" "$transitions" > transitions.csv
    sql "\\copy witness.job FROM 'jobs.csv' CSV"
    sql "\\copy witness.transition FROM 'transitions.csv' CSV"
  fi
}
