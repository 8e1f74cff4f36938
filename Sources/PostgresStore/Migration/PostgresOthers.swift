// Other programs may have added indexes, triggers, constraints and grants to the store's tables, and views over them. A table that
// is made again loses them, and a view keeps its tables from being changed: so all are recorded, views are dropped, and what is
// gone at the end is made again.

import ManagedObjects
import PostgreSQL
import SQLSchema

/// What isn't the store's in its schema.
struct PostgresOthers {
  private struct Object {
    let kind: String
    let name: String
    let table: String
    /// The server's number of it; none of a view or a grant.
    var number: String?
    /// What makes it.
    let statement: String

    func loss(_ error: PostgresError) -> MigrationObstacle {
      MigrationObstacle(
        table, name, problem: "is a \(kind) of another program, and can't be kept (\(error.message))",
        remedy: "drop it first, or, if the loss is meant, name it in permittedMigrationLosses (laded: "
          + "migration.allow_loss of the store)")
    }
  }

  private let migration: PostgresMigration
  private let catalogue: PostgresCatalogue
  private let objects: [Object]
  /// The views over the tables, each before those that read it.
  private let views: [Object]
  private let grants: [(table: String, statement: String)]

  /// Records what depends on the tables of a schema.
  init(_ migration: PostgresMigration, besides schema: SchemaMap) throws {
    self.migration = migration
    catalogue = PostgresCatalogue(migration.connection)
    let tables = schema.columnsByTable.keys.sorted()
    let list = "(\(tables.map(SQLText.literal).joined(separator: ", ")))"
    let own = Set(schema.indexes.map(\.name))
    let isOurs =
      "c.relname IN \(list) AND c.relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = current_schema())"
    var objects: [Object] = []
    for row in try catalogue.texts(
      """
      SELECT i.relname, c.relname, pg_get_indexdef(i.oid), i.oid FROM pg_index AS x
      JOIN pg_class AS c ON c.oid = x.indrelid JOIN pg_class AS i ON i.oid = x.indexrelid
      WHERE \(isOurs) AND NOT EXISTS (SELECT 1 FROM pg_constraint AS k WHERE k.conindid = i.oid) ORDER BY 1
      """)
    {
      let texts = row.map { $0 ?? "" }
      guard !own.contains(texts[0]) else { continue }
      objects.append(Object(kind: "index", name: texts[0], table: texts[1], number: texts[3], statement: texts[2]))
    }
    for row in try catalogue.texts(
      """
      SELECT k.conname, r.relname, 'ALTER TABLE ' || k.conrelid::regclass || ' ADD CONSTRAINT '
        || quote_ident(k.conname) || ' ' || pg_get_constraintdef(k.oid), k.oid
      FROM pg_constraint AS k JOIN pg_class AS r ON r.oid = k.conrelid
      JOIN pg_class AS c ON c.oid = CASE k.contype WHEN 'f' THEN k.confrelid ELSE k.conrelid END
      WHERE \(isOurs) AND (k.contype IN ('c', 'u', 'x') OR (k.contype = 'f' AND NOT (r.relname IN \(list)
        AND r.relnamespace = c.relnamespace))) ORDER BY k.contype = 'f', 1
      """)
    {
      let texts = row.map { $0 ?? "" }
      objects.append(
        Object(kind: "constraint", name: texts[0], table: texts[1], number: texts[3], statement: texts[2]))
    }
    for row in try catalogue.texts(
      "SELECT t.tgname, c.relname, pg_get_triggerdef(t.oid), t.oid FROM pg_trigger AS t "
        + "JOIN pg_class AS c ON c.oid = t.tgrelid WHERE NOT t.tgisinternal AND \(isOurs) ORDER BY 1")
    {
      let texts = row.map { $0 ?? "" }
      objects.append(Object(kind: "trigger", name: texts[0], table: texts[1], number: texts[3], statement: texts[2]))
    }
    self.objects = objects
    views = try catalogue.texts(
      """
      WITH RECURSIVE found(oid, depth) AS (
        SELECT c.oid, 0 FROM pg_class AS c WHERE \(isOurs)
        UNION
        SELECT w.ev_class, f.depth + 1 FROM found AS f
        JOIN pg_depend AS d ON d.refobjid = f.oid AND d.refclassid = 'pg_class'::regclass
          AND d.classid = 'pg_rewrite'::regclass
        JOIN pg_rewrite AS w ON w.oid = d.objid AND w.ev_class <> f.oid
        WHERE f.depth < 50)
      SELECT v.oid::regclass, CASE v.relkind WHEN 'm' THEN 'MATERIALIZED VIEW' ELSE 'VIEW' END, pg_get_viewdef(v.oid)
      FROM (SELECT oid, max(depth) AS depth FROM found WHERE depth > 0 GROUP BY oid) AS f
      JOIN pg_class AS v ON v.oid = f.oid AND v.relkind IN ('v', 'm') ORDER BY f.depth, 1
      """
    ).map { row in
      let texts = row.map { $0 ?? "" }
      return Object(
        kind: texts[1].lowercased(), name: texts[0], table: texts[0],
        statement: "CREATE \(texts[1]) \(texts[0]) AS \(texts[2])")
    }
    let known = (["NULL"] + views.map { "\(SQLText.literal($0.name))::regclass" }).joined(separator: ", ")
    grants = try catalogue.texts(
      """
      SELECT c.oid::regclass, 'GRANT ' || g.privilege_type || ' ON ' || c.oid::regclass || ' TO '
        || CASE g.grantee WHEN 0 THEN 'PUBLIC' ELSE g.grantee::regrole::text END
        || CASE WHEN g.is_grantable THEN ' WITH GRANT OPTION' ELSE '' END
      FROM pg_class AS c, aclexplode(c.relacl) AS g
      WHERE ((\(isOurs)) OR c.oid IN (\(known))) AND g.grantee <> c.relowner ORDER BY 2
      """
    ).map { ($0[0] ?? "", $0[1] ?? "") }
  }

  /// Drops the views, which would keep their tables from being changed.
  func dropViews() throws {
    for view in views.reversed() {
      try migration.execute("DROP \(view.kind.uppercased()) IF EXISTS \(view.name)", [])
    }
  }

  /// Makes what is gone again.
  /// - Returns: what couldn't be kept.
  func restore() throws -> [MigrationObstacle] {
    var losses: [MigrationObstacle] = []
    let left = try present()
    for object in views + objects where !left.contains(object) {
      if let error = try failure(of: object.statement) { losses.append(object.loss(error)) }
    }
    for grant in grants {
      // A view that couldn't be kept is noted already.
      let found = try catalogue.texts("SELECT to_regclass(\(SQLText.literal(grant.table)))").first
      guard found?[0] != nil else { continue }
      if let error = try failure(of: grant.statement) {
        losses.append(
          Object(kind: "grant", name: grant.statement, table: grant.table, statement: grant.statement).loss(error))
      }
    }
    return losses
  }

  /// The indexes, constraints and triggers of the schema's tables, and the foreign keys of other tables to them.
  private func present() throws -> Present {
    let schema = "(SELECT oid FROM pg_namespace WHERE nspname = current_schema())"
    var present = Present()
    for row in try catalogue.texts(
      """
      SELECT 'index', x.indexrelid, i.relname, c.relname FROM pg_index AS x JOIN pg_class AS i ON i.oid = x.indexrelid
      JOIN pg_class AS c ON c.oid = x.indrelid WHERE c.relnamespace = \(schema)
      UNION ALL SELECT 'constraint', k.oid, k.conname, c.relname FROM pg_constraint AS k
      JOIN pg_class AS c ON c.oid = k.conrelid
      WHERE k.connamespace = \(schema) OR k.confrelid IN (SELECT oid FROM pg_class WHERE relnamespace = \(schema))
      UNION ALL SELECT 'trigger', t.oid, t.tgname, c.relname FROM pg_trigger AS t
      JOIN pg_class AS c ON c.oid = t.tgrelid
      WHERE c.relnamespace = \(schema) AND NOT t.tgisinternal
      """)
    {
      present.note(kind: row[0] ?? "", number: row[1] ?? "", name: row[2] ?? "", table: row[3] ?? "")
    }
    return present
  }

  /// What is left. It has kept its number, also where its table has another name now; or the server has made it again, under its
  /// name, because the type of a column has changed.
  private struct Present {
    private struct Number: Hashable {
      let kind: String
      let number: String
    }

    private struct Place: Hashable {
      let kind: String
      let name: String
      let table: String
    }

    private var numbers: Set<Number> = []
    private var places: Set<Place> = []

    mutating func note(kind: String, number: String, name: String, table: String) {
      numbers.insert(Number(kind: kind, number: number))
      places.insert(Place(kind: kind, name: name, table: table))
    }

    func contains(_ object: Object) -> Bool {
      guard let number = object.number else { return false }
      return numbers.contains(Number(kind: object.kind, number: number))
        || places.contains(Place(kind: object.kind, name: object.name, table: object.table))
    }
  }

  /// Why a statement can't be run; nil if it was.
  private func failure(of statement: String) throws -> PostgresError? {
    do {
      try migration.attempting { try migration.execute(statement, []) }
      return nil
    } catch let error as PostgresError where !error.isLoss {
      return error
    }
  }
}
