// A table whose rows all stay, with their numbers, is changed where it is: ALTER TABLE keeps grants, triggers and indexes of other
// programs, and most of its forms read no row. Values that need more than their own column, or that differ between entities,
// need a new table.

import ManagedObjects
import PostgreSQL
import SQLSchema

/// What makes an old table a new one.
///
///     Person(id, name text, age bigint)  ─▶  People(id, title text, age numeric NOT NULL, code bigint)
///
///     ALTER TABLE "Person" ALTER COLUMN "age" TYPE numeric USING coalesce(…), ALTER COLUMN "age" SET NOT NULL
///     ALTER TABLE "Person" RENAME COLUMN "name" TO …
///     ALTER TABLE "Person" ADD COLUMN "code" bigint
struct PostgresAlteration {
  typealias Plan = PostgresMigration.Plan
  typealias Term = PostgresMigration.Term

  let way: TableWay

  /// A column that is new, and the value that all rows have there; nil for none.
  private typealias Added = (column: ColumnDefinition, value: PostgresValue?)

  /// A column that stays.
  private struct Kept {
    let former: ColumnDefinition
    let new: ColumnDefinition
    let term: Term
  }

  /// nil when a new table is needed.
  init?(of table: TableMap, _ plans: [Plan], in migration: TableMigration<PostgresMigration>) {
    guard let root = plans.first?.origin.rootEntity, let old = Self.table(of: root, plans, table, in: migration),
      let present = migration.columns[old.name]
    else { return nil }
    let former = Dictionary(uniqueKeysWithValues: old.columns.map { ($0.name, $0) })
    var kept: [Kept] = []
    var added: [Added] = []
    var marks: String?
    for column in table.columns {
      let terms = plans.compactMap { plan in plan.columns.first { $0.name == column.name }?.term }
      if column.name == table.primaryKeyColumn {
        guard let key = former[old.primaryKeyColumn] else { return nil }
        kept.append(Kept(former: key, new: column, term: .column(key.name)))
      } else if column.name == table.discriminatorColumn {
        guard let mark = old.discriminatorColumn, let definition = former[mark] else {
          guard plans.count == 1 else { return nil }
          added.append((column, .text(plans[0].entity.name)))
          continue
        }
        kept.append(Kept(former: definition, new: column, term: .column(mark)))
        marks = Self.marks(plans, mark)
      } else if let term = terms.first, let source = term.source {
        guard terms.allSatisfy({ $0 == term }), let definition = former[source], present.contains(source.lowercased()),
          !kept.contains(where: { $0.former.name == source })
        else { return nil }
        // Rows of other entities have nothing in the old column, either.
        let others = plans.filter { plan in !plan.columns.contains { $0.name == column.name } }
        guard others.allSatisfy({ !Self.columns(of: $0.origin, in: old).contains(source) }) else { return nil }
        kept.append(Kept(former: definition, new: column, term: term))
      } else if let term = terms.first {
        guard term.isConstant, terms.allSatisfy({ $0 == term }) else { return nil }
        guard term != .null else {
          if column.isRequired { return nil }
          added.append((column, nil))
          continue
        }
        guard terms.count == plans.count else { return nil }
        added.append((column, term.arguments.first))
      } else {
        if column.isRequired { return nil }
        added.append((column, nil))
      }
    }
    way = Self.way(from: old, to: table, kept, added, marks, present, migration.old.indexes)
  }

  /// The old table, if all of its rows and no others are the new one's, with their numbers.
  private static func table(
    of root: EntityDescription, _ plans: [Plan], _ table: TableMap, in migration: TableMigration<PostgresMigration>
  ) -> TableMap? {
    let old = migration.old.map(of: root)
    guard plans.allSatisfy({ $0.origin.rootEntity === root && migration.images[$0.origin] === $0.entity }),
      plans.allSatisfy({ $0.columns.first?.term == .column(old.primaryKeyColumn) })
    else { return nil }
    let stay = root.selfAndDescendants.allSatisfy { entity in
      entity.isAbstract || migration.images[entity]?.rootEntity === table.rootEntity
    }
    return stay ? old : nil
  }

  /// The columns that an old entity's rows use.
  private static func columns(of entity: EntityDescription, in table: TableMap) -> Set<String> {
    var names: Set<String> = []
    for property in entity.properties {
      if let name = table.columnsByProperty[property] { names.insert(name) }
      if let name = table.positionsByProperty[property] { names.insert(name) }
    }
    return names
  }

  /// The assignment that gives rows the new names of their entities; nil if none has another.
  private static func marks(_ plans: [Plan], _ column: String) -> String? {
    let renamed = plans.filter { $0.origin.name != $0.entity.name }
    guard !renamed.isEmpty else { return nil }
    let cases = renamed.map { "WHEN \(SQLText.literal($0.origin.name)) THEN \(SQLText.literal($0.entity.name))" }
    let name = SQLText.name(column)
    return "\(name) = CASE \(name) \(cases.joined(separator: " ")) ELSE \(name) END"
  }

  private static func way(
    from old: TableMap, to table: TableMap, _ kept: [Kept], _ added: [Added], _ marks: String?, _ present: Set<String>,
    _ indexes: [IndexMap]
  ) -> TableWay {
    let name = SQLText.name(old.name)
    var statements: [String] = []
    // Together, so that the rows are written once at most.
    var actions: [String] = []
    let names = Set(kept.map(\.former.name))
    for column in old.columns where !names.contains(column.name) && present.contains(column.name.lowercased()) {
      actions.append("DROP COLUMN \(SQLText.name(column.name))")
    }
    for column in kept where column.former.name != old.primaryKeyColumn {
      let quoted = SQLText.name(column.former.name)
      if column.term != .column(column.former.name) || column.former.type != column.new.type {
        // Its values may become equal, which is told when the index is made again.
        for index in indexes where index.isUnique && index.table == old.name {
          guard index.columns.contains(where: { $0.name == column.former.name }) else { continue }
          statements.append("DROP INDEX IF EXISTS \(SQLText.name(index.name))")
        }
        actions.append("ALTER COLUMN \(quoted) TYPE \(column.new.type) USING \(column.term.literal)")
      }
      if column.former.isRequired != column.new.isRequired {
        actions.append("ALTER COLUMN \(quoted) \(column.new.isRequired ? "SET" : "DROP") NOT NULL")
      }
    }
    if !actions.isEmpty { statements.append("ALTER TABLE \(name) \(actions.joined(separator: ", "))") }
    if let marks { statements.append("UPDATE \(name) SET \(marks)") }
    let renamed = kept.filter { $0.former.name != $0.new.name }
    // Their new names may be others' old ones.
    for (place, column) in renamed.enumerated() {
      statements.append("ALTER TABLE \(name) RENAME COLUMN \(SQLText.name(column.former.name)) TO lade_column_\(place)")
    }
    for (place, column) in renamed.enumerated() {
      statements.append("ALTER TABLE \(name) RENAME COLUMN lade_column_\(place) TO \(SQLText.name(column.new.name))")
    }
    for (column, value) in added {
      let quoted = SQLText.name(column.name)
      let value = value.map { " DEFAULT \(PostgresDialect.literal($0))" } ?? ""
      statements.append("ALTER TABLE \(name) ADD COLUMN \(quoted) \(column.declaration)\(value)")
      if !value.isEmpty { statements.append("ALTER TABLE \(name) ALTER COLUMN \(quoted) DROP DEFAULT") }
    }
    if statements.isEmpty, old.name == table.name { return .stays }
    return .altered(from: old.name, statements: statements)
  }
}

extension ColumnDefinition {
  private static let notNull = " NOT NULL"

  /// The column's type, as it is declared.
  fileprivate var type: String {
    isRequired ? String(declaration.dropLast(Self.notNull.count)) : declaration
  }

  /// Whether every row has a value.
  fileprivate var isRequired: Bool { declaration.hasSuffix(Self.notNull) }
}

extension SQLTerm where Parameter == PostgresValue {
  /// The term with its values in the text.
  fileprivate var literal: String {
    var rest = arguments[...]
    var text = ""
    var quote: Character?
    for character in sql {
      if let open = quote {
        if character == open { quote = nil }
      } else if character == "'" || character == "\"" {
        quote = character
      } else if character == "?", let value = rest.popFirst() {
        text += PostgresDialect.literal(value)
        continue
      }
      text.append(character)
    }
    return text
  }
}
