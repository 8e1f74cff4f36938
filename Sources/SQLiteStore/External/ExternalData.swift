// Large values of attributes that allow external storage are files beside the store; the row has a reference: decision 0199.
//   1. Within the transaction that writes the row, the file's name is noted in this writer's journal, and the file is written and
//      synced. Before the commit its folder is synced.
//   2. A trigger of the writing connection notes the name of each reference that an update or a deletion takes out of a row,
//      whichever statement does it.
//   3. After the transaction, committed or not, each noted file is removed unless its row refers to it now: one that was written
//      by what was rolled back, and one that a committed row had before. While a reader has a former state, that waits for a
//      later transaction. Then the journal is emptied.
//   4. A killed writer leaves its journal. Who opens the store next does step 3 for it. The journal of a writer that lives is
//      locked, so nobody removes a file that its open transaction is about to refer to.
// A file is never shared by two rows, nor changed.

import CSQLite
import CoreDataStores
import Foundation
import GRDB
import GRDBSQLite
import Glibc
import ManagedObjects
import SQLSchema
import Synchronization

/// The large values of a store. Safe from any thread.
package final class ExternalData: Sendable {
  /// A column with references.
  struct Place: Hashable, Sendable {
    let table: String
    let key: String
    let column: String
  }

  /// A file that a transaction has created, or whose reference it has taken out of a row.
  private struct Change {
    let place: Place
    let row: Int64
    let name: String
  }

  private struct State {
    var isFolderMade = false
    var isFolderChanged = false
    var journal: ExternalJournal?
    /// To be looked at after the transaction.
    var changes: [Change] = []
    /// To be removed when no reader has a former state.
    var removable: [String] = []
    var readers = 0
    var readLock: Int32?
  }

  let folder: ExternalFolder
  let form: StoredForms
  let places: [Place]
  private let path: String
  /// Whether this is a file that is to replace the content of another one, which has references to the same files.
  private let isSide: Bool
  private let state = Mutex(State())

  /// nil when no attribute allows external storage.
  init?(of schema: SchemaMap, at url: URL) {
    places = Self.places(of: schema)
    if places.isEmpty { return nil }
    form = schema.forms
    path = url.path
    folder = form.folder(ofDatabase: path)
    isSide = form == .own && StoredForms.sideEnding(of: path) != nil
  }

  /// The columns that may have references.
  static func places(of schema: SchemaMap) -> [Place] {
    var places: [Place] = []
    for table in schema.tables {
      for entity in table.rootEntity.selfAndDescendants {
        for attribute in entity.attributes where attribute.allowsFiles {
          guard let column = table.columnsByProperty[attribute] else { continue }
          let place = Place(table: table.name, key: table.primaryKeyColumn, column: column)
          if !places.contains(place) { places.append(place) }
        }
      }
    }
    return places
  }

  deinit {
    state.withLock { state in
      if let lock = state.readLock { Glibc.close(lock) }
    }
  }

  // MARK: Reading

  /// Runs `body`, which begins to read one state of the store. Its files stay until `body` ends.
  func whileReading<T>(_ body: () throws -> T) throws -> T {
    try beginReading()
    defer { endReading() }
    return try body()
  }

  /// Before a state of the store is read; balanced by ``endReading()``.
  func beginReading() throws {
    try failing {
      try state.withLock { state throws(ExternalDataError) in
        if state.readLock == nil { state.readLock = try folder.lockForReading() }
        state.readers += 1
      }
    }
  }

  func endReading() {
    state.withLock { state in
      state.readers -= 1
      guard state.readers == 0, let lock = state.readLock else { return }
      Glibc.close(lock)
      state.readLock = nil
    }
  }

  /// The value in a column of a statement's current row, whose first column is the row's number. What can't be read is noted as the
  /// ``ReadingFailure``.
  func value(_ statement: OpaquePointer, _ index: Int32, of attribute: String) -> Value {
    let isText = sqlite3_column_type(statement, index) == SQLITE_TEXT
    let start = sqlite3_column_blob(statement, index)
    let bytes = UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, index)))
    do throws(ExternalDataError) {
      switch try form.externalValue(bytes, isText: isText) {
      case .inline(from: let offset): return .data(Data(bytes.dropFirst(offset)))
      case .file(let name): return .data(try folder.mapped(name))
      }
    } catch {
      let row = sqlite3_column_int64(statement, 0)
      ReadingFailure.note(error.failure(ofStoreAt: path, "\(attribute) of the row \(row)"))
      return .null
    }
  }

  // MARK: Writing

  /// What is to stand in a column for a value: a reference to a new file if the value is large. Called within the transaction that
  /// writes the row.
  func stored(_ data: Data, of attribute: AttributeDescription, in place: Place, row: Int64) throws -> DatabaseValue {
    guard attribute.storesFiles, data.count > ExternalFolder.threshold else { return form.inlineValue(data) }
    let name = ExternalFolder.newName()
    try failing("\(attribute.entity.name).\(attribute.name)") {
      try note(Change(place: place, row: row, name: name))
      MigrationProbe.onStep?("write an external value")
      try folder.write(data, to: name, like: path)
    }
    state.withLock { $0.isFolderChanged = true }
    return form.reference(to: name)
  }

  private func note(_ change: Change) throws(ExternalDataError) {
    try state.withLock { state throws(ExternalDataError) in
      if !state.isFolderMade {
        MigrationProbe.onStep?("make the folder of external values")
        try folder.make(like: path)
        state.isFolderMade = true
      }
      MigrationProbe.onStep?("note an external value")
      let journal = if let journal = state.journal { journal } else { try folder.newJournal() }
      state.journal = journal
      try journal.note(change.name)
      state.changes.append(change)
    }
  }

  /// Makes the files of a transaction survive a loss of power. Called before it commits.
  func willCommit() throws {
    let isChanged = state.withLock { state in
      defer { state.isFolderChanged = false }
      return state.isFolderChanged
    }
    guard isChanged else { return }
    MigrationProbe.onStep?("synchronize the folder of external values")
    try failing { try folder.synchronize() }
  }

  /// Removes the files that no row refers to any more. Called after each transaction of the writing connection, committed or not.
  /// - Parameter log: the write-ahead log, if a commit may not be on the disk yet: what it refers to no more is removed after it
  ///   is.
  func settle(_ db: Database, synchronizing log: String?) throws {
    let (changes, removable) = state.withLock { ($0.changes, $0.removable) }
    if changes.isEmpty, removable.isEmpty || state.withLock({ $0.readers > 0 }) { return }
    guard !db.isInsideTransaction else { return }
    var unreferred: [String] = []
    for change in changes where try !isReferred(change, db) { unreferred.append(change.name) }
    state.withLock { state in
      state.changes.removeFirst(changes.count)
      state.removable += unreferred
    }
    try removeUnreferred(synchronizing: log)
  }

  private func removeUnreferred(synchronizing log: String?) throws {
    let removable = state.withLock { $0.removable }
    if !removable.isEmpty {
      if let log, FileManager.default.fileExists(atPath: log) {
        try StoreFile.synchronize(URL(fileURLWithPath: log))
      }
      let isDone = try whileUnread {
        for name in removable {
          MigrationProbe.onStep?("unlink an external value")
          try failing { try folder.remove(name) }
        }
      }
      guard isDone else { return }
    }
    try failing {
      try state.withLock { state throws(ExternalDataError) in
        state.removable.removeFirst(removable.count)
        MigrationProbe.onStep?("clear the journal of external values")
        if state.changes.isEmpty, state.removable.isEmpty { try state.journal?.clear() }
      }
    }
  }

  private func isReferred(_ change: Change, _ db: Database) throws -> Bool {
    let place = change.place
    let value = try DatabaseValue.fetchOne(
      db,
      sql: "SELECT \(place.column.quotedName) FROM \(place.table.quotedName) WHERE \(place.key.quotedName) = ?",
      arguments: [change.row])
    return value.flatMap(name) == change.name
  }

  /// The name of the file that a column's value refers to; nil for none.
  private func name(_ stored: DatabaseValue) -> String? {
    let value: ExternalValue? =
      switch stored.storage {
      case .string(var text):
        text.withUTF8 { try? form.externalValue(UnsafeRawBufferPointer($0), isText: true) }
      case .blob(let data): data.withUnsafeBytes { try? form.externalValue($0, isText: false) }
      case .int64, .double, .null: nil
      }
    if case .file(let name)? = value { return name }
    return nil
  }

  // MARK: Opening and closing

  /// Prepares the connection that writes, and removes what killed writers have left.
  func open(_ db: Database) throws {
    guard !isSide else { return }
    db.add(
      function: DatabaseFunction("lade_release", argumentCount: 3) { [self] arguments in
        guard let number = Int64.fromDatabaseValue(arguments[0]), places.indices.contains(Int(number)),
          let row = Int64.fromDatabaseValue(arguments[1]), let name = name(arguments[2])
        else { return nil }
        do throws(ExternalDataError) {
          try note(Change(place: places[Int(number)], row: row, name: name))
        } catch {
          throw DatabaseError(resultCode: error.resultCode, message: error.description)
        }
        return nil
      })
    for (number, place) in places.enumerated() {
      let (table, column) = (place.table.quotedName, place.column.quotedName)
      let release = "SELECT lade_release(\(number), OLD.\(place.key.quotedName), OLD.\(column))"
      let condition = form.isReference("OLD.\(column)")
      try db.execute(
        sql: """
          CREATE TEMP TRIGGER lade_release_update_\(number) AFTER UPDATE OF \(column) ON main.\(table)
          WHEN \(condition) BEGIN \(release); END;
          CREATE TEMP TRIGGER lade_release_delete_\(number) AFTER DELETE ON main.\(table)
          WHEN \(condition) BEGIN \(release); END
          """)
    }
    try recover(db)
  }

  /// Does what killed writers would have done after their transactions.
  private func recover(_ db: Database) throws {
    var journals: [ExternalJournal] = []
    try failing { journals = try folder.abandonedJournals() }
    var known: Set<String>?
    for journal in journals {
      var names: [String] = []
      try failing { names = try journal.names() }
      if !names.isEmpty {
        let kept = try known ?? referredNames(db)
        known = kept
        let isDone = try whileUnread {
          for name in names where !kept.contains(name) { try failing { try folder.remove(name) } }
        }
        guard isDone else { continue }
      }
      try failing { try journal.remove() }
    }
  }

  /// The names of all files that rows refer to.
  func referredNames(_ db: Database) throws -> Set<String> {
    var names: Set<String> = []
    try eachReference(db) { _, _, value in
      if let name = name(value) { names.insert(name) }
    }
    return names
  }

  /// Calls `take` with the place, row number and value of each reference.
  private func eachReference(_ db: Database, _ take: (Place, Int64, DatabaseValue) throws -> Void) throws {
    for place in places {
      let (column, table) = (place.column.quotedName, place.table.quotedName)
      let rows = try Row.fetchCursor(
        db, sql: "SELECT \(place.key.quotedName), \(column) FROM \(table) WHERE \(form.isReference(column))")
      while let row = try rows.next() { try take(place, row[0], row[1]) }
    }
  }

  /// Removes what is left, and then the journal, if no reader has a former state.
  func close(_ db: Database, synchronizing log: String?) throws {
    try settle(db, synchronizing: log)
    try failing {
      try state.withLock { state throws(ExternalDataError) in
        guard state.changes.isEmpty, state.removable.isEmpty, let journal = state.journal else { return }
        try journal.remove()
        state.journal = nil
      }
    }
  }

  // MARK: Maintenance

  /// Removes every file in the folder of a store of this library that no row refers to. Waits for other writers.
  static func collect(_ db: Database, of schema: SchemaMap, at url: URL) throws {
    let folder = schema.forms.folder(ofDatabase: url.path)
    guard folder.exists, schema.forms == .own, StoredForms.sideEnding(of: url.path) == nil else { return }
    try db.inTransaction(.immediate) {
      // No other writer has a transaction open now, whose files have no references yet.
      let kept = try ExternalData(of: schema, at: url)?.referredNames(db) ?? []
      do {
        let names = try folder.names().filter { !kept.contains($0) }
        if !names.isEmpty { _ = try folder.whileUnread { for name in names { try folder.remove(name) } } }
      } catch let error as ExternalDataError {
        throw ManagedObjectError.store(error.failure(ofStoreAt: url.path))
      }
      return .rollback
    }
  }

  /// Reports the rows whose files can't be read.
  func check(_ db: Database, _ found: (StoreProblem) throws -> Void) throws {
    try eachReference(db) { place, row, value in
      do throws(ExternalDataError) {
        guard let name = name(value) else { throw .badReference("\(value)") }
        try folder.check(name)
      } catch {
        try found(
          StoreProblem(.damage, entity: place.table, number: row, property: place.column, message: error.description))
      }
    }
  }

  /// Puts the values of all files into the rows of a copy, so that the copy is complete in itself.
  func inline(_ copy: Database, _ watch: MaintenanceWatch) throws {
    form.registerContent(on: copy, folder: folder)
    // Other programs' triggers aren't about the values' places.
    lade_set_triggers(copy.sqliteConnection, 0)
    defer { lade_set_triggers(copy.sqliteConnection, 1) }
    for place in places {
      try watch.check()
      let column = place.column.quotedName
      try copy.execute(
        sql: "UPDATE \(place.table.quotedName) SET \(column) = \(form.contentTerm(column)) "
          + "WHERE \(form.isReference(column))")
    }
  }

  /// Removes the folder of a copy.
  func removeAll() throws { try failing { try folder.remove() } }

  private func whileUnread(_ body: () throws -> Void) throws -> Bool {
    do {
      return try folder.whileUnread(body)
    } catch let error as ExternalDataError {
      throw ManagedObjectError.store(error.failure(ofStoreAt: path))
    }
  }

  private func failing(_ place: String = "", _ body: () throws -> Void) throws {
    do {
      try body()
    } catch let error as ExternalDataError {
      throw ManagedObjectError.store(error.failure(ofStoreAt: path, place))
    }
  }
}

/// A column whose values may be in files.
package final class ExternalColumn: Sendable {
  let data: ExternalData
  let attribute: AttributeDescription
  let place: ExternalData.Place
  private let name: String

  init(_ data: ExternalData, _ attribute: AttributeDescription, _ place: ExternalData.Place) {
    self.data = data
    self.attribute = attribute
    self.place = place
    name = "\(attribute.entity.name).\(attribute.name)"
  }

  /// The value in a column of a statement's current row, whose first column is the row's number.
  func value(_ statement: OpaquePointer, _ index: Int32) -> Value { data.value(statement, index, of: name) }

  /// What is to stand in the column for a value of a row.
  func stored(_ value: Data, row: Int64) throws -> DatabaseValue {
    try data.stored(value, of: attribute, in: place, row: row)
  }
}
