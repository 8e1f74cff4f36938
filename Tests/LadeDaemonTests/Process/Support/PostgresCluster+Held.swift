import Foundation
import TestSupport

extension PostgresCluster {
  private var hold: String { folder + "/hold" }

  /// Has imports into the schema `club` wait at their second batch until ``letImportsGo()``, so that a daemon is met in the middle
  /// of one, however busy the machine is.
  func holdImports() async throws {
    try Data().write(to: URL(fileURLWithPath: hold))
    // A file, because a transaction may not see what others commit.
    try await sql(
      """
      CREATE FUNCTION public.hold() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
        BEGIN
          WHILE (pg_stat_file('\(hold)', true)).size IS NOT NULL LOOP PERFORM pg_sleep(0.05); END LOOP;
          RETURN NULL;
        END $$;
      CREATE TRIGGER hold AFTER UPDATE ON club._lade_checkpoint FOR EACH ROW EXECUTE FUNCTION public.hold()
      """)
  }

  /// Waits until an import is held.
  func untilImportIsHeld() async throws {
    while try await sql("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'") != "1" {}
  }

  func letImportsGo() throws { try FileManager.default.removeItem(atPath: hold) }
}
