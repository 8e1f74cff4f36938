-- Watches the schema "rows" of a store from within: every raise of a job's fence and every batch leaves an event, in the
-- transaction of the rows. So the events of a job are numbered in the order of their commits: the checkpoint's row is locked until
-- then. Who wrote is known by the connection's name, which each start of a daemon has for itself, and not by what it claims to be.
CREATE SCHEMA witness;
GRANT USAGE ON SCHEMA witness TO PUBLIC;

CREATE TABLE witness.event (
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  job bigint NOT NULL,
  what text NOT NULL,               -- raise, batch, removal
  claim bigint,                     -- the fence, as this transaction has it
  record bigint,
  finished bigint,
  daemon text NOT NULL DEFAULT current_setting('application_name'),
  transaction xid8 NOT NULL DEFAULT pg_current_xact_id(),
  at timestamptz NOT NULL DEFAULT clock_timestamp());
CREATE INDEX ON witness.event (job, number);

-- What the tests have asked for, and what the queue says of it in the end.
-- A file has a job that imports it, and one that changes its rows if they are to have a mark.
CREATE TABLE witness.expected (file text PRIMARY KEY, rows bigint NOT NULL, mark text);
CREATE TABLE witness.job (job bigint PRIMARY KEY, state text NOT NULL, source text);
CREATE TABLE witness.transition (
  job bigint NOT NULL, number bigint NOT NULL, from_state text, to_state text NOT NULL, reason text NOT NULL);

-- The seconds that each batch takes longer.
CREATE TABLE witness.pace (pause double precision NOT NULL);
INSERT INTO witness.pace VALUES (0);
GRANT SELECT ON witness.pace TO PUBLIC;

CREATE FUNCTION witness.note(job text, what text, record bigint, finished bigint) RETURNS void
LANGUAGE sql AS $$
  INSERT INTO witness.event (job, what, claim, record, finished)
    SELECT split_part(job, '/', 2)::bigint, what,
      (SELECT fence.claim FROM rows._lade_fence AS fence WHERE fence.job = note.job), record, finished
$$;

CREATE FUNCTION witness.see_checkpoint() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
  IF TG_OP = 'DELETE' THEN
    PERFORM witness.note(OLD.job, 'removal', OLD.record, OLD.finished);
  ELSIF TG_OP = 'INSERT' OR (NEW.record, NEW.finished) IS DISTINCT FROM (OLD.record, OLD.finished) THEN
    PERFORM witness.note(NEW.job, 'batch', NEW.record, NEW.finished), pg_sleep(pause) FROM witness.pace;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER witness AFTER INSERT OR UPDATE OR DELETE ON rows._lade_checkpoint
  FOR EACH ROW EXECUTE FUNCTION witness.see_checkpoint();

CREATE FUNCTION witness.see_fence() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
  PERFORM witness.note(NEW.job, 'raise', NULL, NULL);
  RETURN NULL;
END $$;
CREATE TRIGGER witness AFTER INSERT OR UPDATE ON rows._lade_fence
  FOR EACH ROW EXECUTE FUNCTION witness.see_fence();

-- What must never be. Empty when all is well.
CREATE FUNCTION witness.violations() RETURNS TABLE (invariant text, detail text) LANGUAGE sql AS $$
  WITH batch AS (
    SELECT *, lag(claim) OVER w AS last_claim, lag(record) OVER w AS last_record, lag(finished) OVER w AS last_finished
    FROM witness.event WHERE what = 'batch' WINDOW w AS (PARTITION BY job ORDER BY number)
  ), run AS (
    SELECT job, claim, daemon, number,
      (claim, daemon) IS DISTINCT FROM (lag(claim) OVER w, lag(daemon) OVER w) AS begins
    FROM witness.event WHERE what = 'batch' WINDOW w AS (PARTITION BY job ORDER BY number)
  )
  SELECT 'every row once', format('row %s of %s is there %s times', "number", "file", count(*))
    FROM rows."Row" GROUP BY "file", "number" HAVING count(*) > 1
  UNION ALL
  SELECT 'every row once', format('of the %s rows of %s there are %s', e.rows, e.file, count(DISTINCT r."number"))
    FROM witness.expected AS e LEFT JOIN rows."Row" AS r ON r."file" = e.file
    GROUP BY e.file, e.rows HAVING count(DISTINCT r."number") <> e.rows
  UNION ALL
  SELECT 'every row once', format('nobody has asked for the rows of %s', "file")
    FROM rows."Row" WHERE "file" NOT IN (SELECT file FROM witness.expected) GROUP BY "file"
  UNION ALL
  SELECT 'every row once', format('of the %s rows of %s, %s are changed', e.rows, e.file, count(r."mark"))
    FROM witness.expected AS e JOIN rows."Row" AS r ON r."file" = e.file AND r."mark" = e.mark
    GROUP BY e.file, e.rows HAVING count(*) <> e.rows
  UNION ALL
  SELECT 'no job lost or doubled', format('there are %s jobs, and %s were handed in', count(*), wanted)
    FROM witness.job, (SELECT count(*) + count(mark) AS wanted FROM witness.expected) AS expected
    GROUP BY wanted HAVING count(*) <> wanted
  UNION ALL
  SELECT 'exactly one completed', format('job %s was completed %s times', job, count(t.job))
    FROM witness.job LEFT JOIN witness.transition AS t USING (job)
    WHERE t.to_state = 'completed' OR t.job IS NULL GROUP BY job HAVING count(t.job) <> 1
  UNION ALL
  SELECT 'exactly one completed', format('job %s was never completed: it is %s', job, state)
    FROM witness.job AS j
    WHERE NOT EXISTS (SELECT FROM witness.transition AS t WHERE t.job = j.job AND t.to_state = 'completed')
  UNION ALL
  SELECT 'exactly one completed', format('job %s went from completed to %s', job, to_state)
    FROM witness.transition WHERE from_state = 'completed'
  UNION ALL
  SELECT 'claims never go back', format('job %s: claim %s committed a batch after claim %s (event %s)',
      job, claim, last_claim, number)
    FROM batch WHERE claim < last_claim OR claim IS NULL
  UNION ALL
  SELECT 'records rise', format('job %s: record %s came after record %s (event %s)', job, record, last_record, number)
    FROM batch WHERE (record, finished) <= (last_record, last_finished)
  UNION ALL
  SELECT 'one daemon for a claim', format('job %s: claim %s is that of %s', job, claim, string_agg(DISTINCT daemon, ', '))
    FROM witness.event WHERE what IN ('batch', 'raise') GROUP BY job, claim HAVING count(DISTINCT daemon) > 1
  UNION ALL
  SELECT 'claims don''t interleave', format('job %s: the batches of claim %s by %s lie apart', job, claim, daemon)
    FROM run GROUP BY job, claim, daemon HAVING count(*) FILTER (WHERE begins) > 1
  UNION ALL
  -- Whoever writes a batch has raised the fence last.
  SELECT 'nothing of a superseded claim', format('job %s: %s committed a batch after %s had raised the fence to %s (event %s)',
      b.job, b.daemon, r.daemon, r.claim, b.number)
    FROM batch AS b CROSS JOIN LATERAL (
      SELECT * FROM witness.event AS e WHERE e.job = b.job AND e.what = 'raise' AND e.number < b.number
      ORDER BY e.number DESC LIMIT 1) AS r
    WHERE r.daemon <> b.daemon
  UNION ALL
  SELECT 'nothing after the end', format('job %s: %s wrote after the last batch (event %s)', b.job, b.daemon, b.number)
    FROM batch AS b WHERE last_finished = 1
      OR EXISTS (SELECT FROM witness.event AS e WHERE e.job = b.job AND e.what = 'removal' AND e.number < b.number)
$$;

CREATE FUNCTION witness.summary() RETURNS text LANGUAGE sql AS $$
  SELECT format('%s jobs, %s batches, %s claims, %s of them of jobs that another daemon had begun', count(DISTINCT job),
    count(*) FILTER (WHERE what = 'batch'), count(DISTINCT (job, claim)) FILTER (WHERE what = 'raise'),
    count(DISTINCT (job, daemon)) FILTER (WHERE what = 'batch') - count(DISTINCT job) FILTER (WHERE what = 'batch'))
  FROM witness.event
$$;
