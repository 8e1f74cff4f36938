import Foundation
import GRDB
import GRDBSQLite
import ManagedObjects

extension RowWrite {
  /// Writes changed columns. A row that clashes with one whose turn comes later is tried again after it.
  func update(_ updates: [StoreChanges.Update]) throws {
    var waiting = updates
    while !waiting.isEmpty {
      let refused = try write(waiting)
      if refused.count == waiting.count {
        for update in refused {
          try note(
            clashes(of: update.id.number, update.values, store.layout(of: update.id.entity), isNew: false), update.id)
        }
        return
      }
      waiting = refused
    }
  }

  /// Returns those that clash with another row now.
  private func write(_ updates: [StoreChanges.Update]) throws -> [StoreChanges.Update] {
    var refused: [StoreChanges.Update] = []
    var last: (layout: RowLayout, changed: [RowLayout.Column], handle: OpaquePointer)?
    for update in updates {
      let layout = try store.layout(of: update.id.entity)
      let changed = layout.columns.filter { update.values[$0.slot] != update.committed[$0.slot] }
      if changed.isEmpty { continue }
      let handle: OpaquePointer
      if let last, last.layout === layout, last.changed.elementsEqual(changed, by: { $0.slot == $1.slot }) {
        handle = last.handle
      } else {
        handle = try db.cachedStatement(sql: updateStatement(layout, changed)).sqliteStatement
        last = (layout, changed, handle)
      }
      defer { sqlite3_reset(handle) }
      binder.begin()
      var index: Int32 = 1
      for column in changed {
        binder.bind(update.values[column.slot], isISODate: column.kind == .isoDate, to: handle, at: index)
        index += 1
      }
      sqlite3_bind_int64(handle, index, update.id.number)
      if sqlite3_step(handle) == SQLITE_DONE { continue }
      try throwUnlessUniqueness()
      refused.append(update)
    }
    return refused
  }

  /// Deletes rows, with their pairs and what refers to them.
  func delete(_ rows: [StoreRow]) throws {
    for row in rows where !row.id.isTemporaryID {
      let layout = try store.layout(of: row.id.entity)
      for sql in layout.clearings { try db.cachedStatement(sql: sql).execute(arguments: [row.id.number]) }
      try db.cachedStatement(
        sql: "DELETE FROM \(layout.table.quotedName) WHERE \(layout.keyColumn.quotedName) = ?"
      ).execute(arguments: [row.id.number])
    }
  }

  private func updateStatement(_ layout: RowLayout, _ columns: [RowLayout.Column]) -> String {
    let assignments = columns.map { $0.name.quotedName + " = ?" }.joined(separator: ", ")
    return "UPDATE \(layout.table.quotedName) SET \(assignments) WHERE \(layout.keyColumn.quotedName) = ?"
  }
}
