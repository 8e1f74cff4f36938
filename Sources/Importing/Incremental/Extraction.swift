// What is read of an incremental source is first copied into a file of the job's own, the extract, and then imported like any other
// file:
//
//   database ──one read transaction──▶ extract, durable ──batches──▶ rows + checkpoint
//                                                                    └─ last save: + cursor
//
// The source is read once, in one snapshot, and isn't kept open while rows become objects. A killed job finds its extract and goes on
// with the same rows. The cursor moves in the save that ends the job, and not before: then all rows are objects or rejects.

package import Foundation
import LadeTypes

/// Reads an incremental source into an extract. Blocks its thread.
package struct Extraction {
  private let source: IncrementalSource
  private let since: CursorValue?
  /// Whether a job has brought the cursor where it is, and not an operator, who may have written its value otherwise.
  private let isMovedByJob: Bool
  /// The extract's file.
  private let target: URL
  /// The most rows that are read; nil for all.
  package var rowLimit: Int64?
  /// How long the database may take from one row to the next.
  package var pause: Duration?
  /// Asked often, on the same thread: whether to stop for good.
  package var shouldStop: @Sendable () -> Bool = { false }
  /// What connects to PostgreSQL; nil where nothing does.
  package var openPostgres: OpenPostgres?
  /// Where passwords are.
  package var credentials = MaskCredentials.ofProcess
  /// The present time: the cursor doesn't go beyond it.
  package var now: @Sendable () -> Date = { Date() }

  /// - Parameter cursor: how far the recipe has read.
  /// - Throws: ``ExtractionError/otherCursor(recipe:was:is:)``, ``ExtractionError/otherSource(recipe:)``.
  package init(
    _ source: IncrementalSource, of recipe: String, since cursor: RecipeCursor?, to target: URL
  ) throws(ExtractionError) {
    if let cursor, cursor.column != source.cursor {
      throw .otherCursor(recipe: recipe, was: cursor.column, is: source.cursor)
    }
    if let cursor, cursor.source != source.identity { throw .otherSource(recipe: recipe) }
    self.source = source
    self.target = target
    since = cursor?.value
    isMovedByJob = cursor.map { $0.job != 0 } ?? false
  }

  /// Reads the rows.
  /// - Returns: nil if `shouldStop` returned true: then there is no extract.
  /// - Throws: ``ExtractionError``, or ``WriterError`` of the extract.
  package func run() throws -> Extract? {
    let watch = ExtractionWatch(pause: pause, shouldStop: shouldStop)
    do {
      let bound = try since.map { value throws(ExtractionError) in
        let bound = try value.less(source.lag, source.timeUnit, cursor: source.cursor)
        return isMovedByJob ? bound : bound.day
      }
      let started = now()
      let snapshot = try open(watch)
      let cursor = try Self.place(of: source.cursor, in: snapshot.columns)
      let file = try AtomicFile(
        folder: target.deletingLastPathComponent().path, name: target.lastPathComponent,
        hiddenName: ".\(target.lastPathComponent).partial")
      let writer = try ExtractWriter(file, columns: snapshot.columns)
      var tally = CursorTally(since: since, isFixed: isMovedByJob, isTime: isLagTime)
      for (range, counts) in [(CursorRange.unordered(bound), false), (.from(bound), true)]
      where writer.rows < rowLimit ?? .max {
        try snapshot.select(range, by: cursor)
        while writer.rows < rowLimit ?? .max, try snapshot.next() {
          watch.beginRow()
          try snapshot.copy(into: writer)
          if counts, let value = snapshot.value(cursor) { tally.note(value) }
        }
      }
      try snapshot.finish()
      // What decides the cursor has to fit the lag. Where no value does, the first says why.
      if let deciding = tally.last ?? tally.misfit {
        _ = try deciding.less(source.lag, source.timeUnit, cursor: source.cursor)
      }
      let window = ExtractWindow(
        column: source.cursor, since: since, bound: bound,
        until: tally.last?.notAfter(started, source.timeUnit) ?? since, rows: writer.rows, kind: tally.kind)
      try writer.finish(window)
      return Extract(target, window)
    } catch is ExtractionWatch.Stopped {
      return nil
    }
  }

  private func open(_ watch: ExtractionWatch) throws -> any SourceSnapshot {
    switch source.database {
    case .sqlite(let path): return try SQLiteSourceSnapshot(path: path, source.selection, watch)
    case .postgres(let string, let credential):
      guard let openPostgres else { throw ExtractionError.noServer(reason: "this program can't connect to one") }
      let password = try credential.map { String(decoding: try credentials.secret($0), as: UTF8.self) }
      return try openPostgres(string, password, source.selection, watch)
    }
  }

  private var isLagTime: Bool { if case .seconds? = source.lag { true } else { false } }

  private static func place(of cursor: String, in columns: [String]) throws(ExtractionError) -> Int {
    var seen = Set<String>()
    for (index, name) in columns.enumerated() {
      if name.isEmpty { throw .badColumns(reason: "column \(index + 1) of the rows has no name") }
      if !seen.insert(SQLToken.folded(name.utf8)).inserted {
        throw .badColumns(reason: "two columns of the rows are called “\(SourceError.shown(name))”")
      }
    }
    guard let place = columns.firstIndex(where: { $0 == cursor }) else {
      throw .noCursor(column: cursor, found: columns.prefix(20).map(SourceError.shown))
    }
    return place
  }
}

/// Connects to PostgreSQL, with a connection string and a password.
package typealias OpenPostgres =
  @Sendable (String, String?, IncrementalSource.Selection, ExtractionWatch) throws -> any SourceSnapshot

/// Which rows are selected.
package enum CursorRange {
  /// Those without a cursor; and with one that stands before this in the order of the source, but has no place in the order of
  /// such values: they would never be read otherwise.
  case unordered(CursorValue?)
  /// Those whose cursor is at least this, in its order; nil: all that have one.
  case from(CursorValue?)
}

/// What a source holds at one moment. Belongs to one thread.
package protocol SourceSnapshot: AnyObject {
  /// The columns of its rows.
  var columns: [String] { get }
  /// Begins to read rows.
  /// - Parameter cursor: the place of the column.
  func select(_ range: CursorRange, by cursor: Int) throws
  /// Moves to the next row; false if there is none.
  func next() throws -> Bool
  /// A value of the row; nil for what can't be a cursor's.
  func value(_ column: Int) -> CursorValue?
  /// Writes the row.
  func copy(into writer: ExtractWriter) throws
  /// Checks that what was read was there at one moment.
  func finish() throws
}

/// Ends a reading that isn't wanted any more, or takes too long. Belongs to one thread.
package final class ExtractionWatch {
  struct Stopped: Error {}

  private let pause: Duration?
  private let shouldStop: @Sendable () -> Bool
  private var rowBegan = ContinuousClock.now

  init(pause: Duration?, shouldStop: @escaping @Sendable () -> Bool) {
    self.pause = pause
    self.shouldStop = shouldStop
  }

  /// A row has arrived.
  func beginRow() { rowBegan = .now }

  /// Whether the reading is to end.
  var isOver: Bool { shouldStop() || isLate }

  /// Why.
  package func check() throws {
    if shouldStop() { throw Stopped() }
    if let pause, isLate { throw ExtractionError.timeLimit(pause) }
  }

  private var isLate: Bool { pause.map { ContinuousClock.now - rowBegan > $0 } ?? false }
}
