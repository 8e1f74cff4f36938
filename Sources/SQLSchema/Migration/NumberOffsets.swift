// Rows keep their numbers, and objects their IDs, with one exception: when tables are merged, rows whose numbers are taken get
// numbers that are higher by a constant.

import ManagedObjects

/// The constants that are added to row numbers.
struct NumberOffsets {
  private struct Way: Hashable {
    let source: EntityDescription
    let destination: EntityDescription
  }

  private var offsets: [Way: Int64] = [:]
  /// The last number given in each new table.
  private(set) var lastNumbers: [String: Int64] = [:]

  init(
    _ database: some MigratingDatabase, _ old: SchemaMap, _ new: SchemaMap,
    _ origins: [EntityDescription: EntityDescription]
  ) throws {
    for table in new.tables {
      var used: [ClosedRange<Int64>] = []
      var last: Int64 = 0
      for root in Self.roots(of: table, origins) {
        let family = table.rootEntity.selfAndDescendants.compactMap { origins[$0] }.filter { $0.rootEntity === root }
        let range = try Self.range(of: family, old, database)
        let given = try database.lastNumber(of: old.table(of: root))
        var offset: Int64 = 0
        if let range, table.rootEntity.primaryKey == nil, used.contains(where: { $0.overlaps(range) }) { offset = last }
        offsets[Way(source: root, destination: table.rootEntity)] = offset
        func moved(_ number: Int64) throws -> Int64 {
          let (sum, overflows) = number.addingReportingOverflow(offset)
          guard !overflows else { throw Self.noRoom(for: root, in: table, after: offset) }
          return sum
        }
        if let range { used.append(try moved(range.lowerBound)...moved(range.upperBound)) }
        last = max(last, try moved(range?.upperBound ?? 0), try moved(given ?? 0))
      }
      lastNumbers[table.name] = last
    }
  }

  /// The constant that is added to a row's number when it moves from one hierarchy to another.
  func offset(from source: EntityDescription, to destination: EntityDescription) -> Int64 {
    offsets[Way(source: source.rootEntity, destination: destination.rootEntity)] ?? 0
  }

  private static func noRoom(for source: EntityDescription, in table: TableMap, after last: Int64) -> MigrationError {
    .cannotInfer(obstacles: [
      MigrationObstacle(
        table.rootEntity.name,
        problem:
          "takes the rows of \(source.name), and they can't be numbered after \(last), the greatest number there",
        remedy: "give the rows with the greatest numbers lower ones first, or delete them")
    ])
  }

  /// The hierarchies whose rows a table takes, that of the same name first.
  private static func roots(
    of table: TableMap, _ origins: [EntityDescription: EntityDescription]
  ) -> [EntityDescription] {
    var roots: [EntityDescription] = []
    for entity in table.rootEntity.selfAndDescendants {
      guard let root = origins[entity]?.rootEntity, !roots.contains(root) else { continue }
      if root.name == table.rootEntity.name { roots.insert(root, at: 0) } else { roots.append(root) }
    }
    return roots
  }

  /// The least and greatest number of the entities' rows.
  private static func range(
    of family: [EntityDescription], _ old: SchemaMap, _ database: some MigratingDatabase
  ) throws -> ClosedRange<Int64>? {
    guard let first = family.first, try !database.columns(of: old.table(of: first)).isEmpty else { return nil }
    let key = SQLText.name(old.primaryKeyColumn(of: first))
    var sql = "SELECT min(\(key)), max(\(key)) FROM \(SQLText.name(old.table(of: first)))"
    if let discriminator = old.discriminatorColumn(of: first) {
      let names = family.map { SQLText.literal($0.name) }.joined(separator: ", ")
      sql += " WHERE \(SQLText.name(discriminator)) IN (\(names))"
    }
    let ends = try database.texts(sql).first?.compactMap { $0.flatMap { Int64($0) } } ?? []
    guard ends.count == 2 else { return nil }
    return ends[0]...ends[1]
  }
}
