import Foundation
import GRDB
import GRDBSQLite
import ManagedObjects

// Rows that pass unique values on to each other, in a ring or a chain, clash on their way though the end is fine. When one
// does, the values of all of them are parked: each is replaced by random bytes, which clash with nothing, and then all
// are written again. What still clashes then does so with a row that keeps its values.

extension RowWrite {
  /// Writes changed columns.
  func update(_ updates: [StoreChanges.Update]) throws {
    guard try write(updates, isLastTry: false) else {
      let unique = try updates.filter { try !parked(by: $0).isEmpty }
      try park(unique)
      _ = try write(unique, isLastTry: true)
      return
    }
  }

  /// Writes rows. Returns false when one clashes with another, unless this is the last try: then notes it.
  private func write(_ updates: [StoreChanges.Update], isLastTry: Bool) throws -> Bool {
    var clashes = false
    var statements: [UpdateKey: OpaquePointer] = [:]
    var last: (key: UpdateKey, handle: OpaquePointer)?
    for update in updates {
      let layout = try store.layout(of: update.id.entity)
      let changed = layout.changedColumns(update.values, update.committed)
      if changed.isEmpty { continue }
      let key = UpdateKey(layout: layout, columns: changed)
      let handle: OpaquePointer
      if let last, last.key == key {
        handle = last.handle
      } else {
        handle = try statements[key] ?? db.cachedStatement(sql: layout.updateStatement(changed)).sqliteStatement
        statements[key] = handle
        last = (key, handle)
      }
      defer { sqlite3_reset(handle) }
      binder.begin()
      var index: Int32 = 1
      for place in changed {
        let column = layout.bindings[place]
        binder.bind(update.values[column.slot], isISODate: column.isISODate, to: handle, at: index)
        index += 1
      }
      sqlite3_bind_int64(handle, index, update.id.number)
      if sqlite3_step(handle) == SQLITE_DONE { continue }
      if isLastTry {
        let row = StoreRow(id: update.id, values: update.values)
        try noteConflict(row, update.id.number, layout, isNew: false)
      } else {
        try throwUnlessUniqueness()
        clashes = true
      }
    }
    return !clashes
  }

  /// The changed columns of unique values.
  private func parked(by update: StoreChanges.Update) throws -> [Int] {
    let layout = try store.layout(of: update.id.entity)
    return layout.uniqueColumns.filter { place in
      let slot = layout.bindings[place].slot
      return update.values[slot] != update.committed[slot]
    }
  }

  private func park(_ updates: [StoreChanges.Update]) throws {
    for update in updates {
      let layout = try store.layout(of: update.id.entity)
      let assignments = try parked(by: update).map { "\(layout.columns[$0].name.quotedName) = randomblob(16)" }
      try db.cachedStatement(
        sql: "UPDATE \(layout.table.quotedName) SET \(assignments.joined(separator: ", ")) "
          + "WHERE \(layout.keyColumn.quotedName) = ?"
      ).execute(arguments: [update.id.number])
    }
  }

  /// Deletes rows, with their pairs and what refers to them.
  func delete(_ rows: [StoreRow]) throws {
    for row in rows where !row.id.isTemporaryID {
      let layout = try store.layout(of: row.id.entity)
      for sql in layout.clearings { try db.cachedStatement(sql: sql).execute(arguments: [row.id.number]) }
      try db.cachedStatement(sql: layout.deletion).execute(arguments: [row.id.number])
    }
  }
}

/// Which statement changes a row.
private struct UpdateKey: Hashable {
  let layout: RowLayout
  let columns: ColumnSet

  static func == (a: UpdateKey, b: UpdateKey) -> Bool { a.layout === b.layout && a.columns == b.columns }

  func hash(into hasher: inout Hasher) {
    hasher.combine(ObjectIdentifier(layout))
    hasher.combine(columns)
  }
}
