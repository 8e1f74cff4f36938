import CSQLite
package import Foundation
import Glibc
import ManagedObjects

/// What of a source an extract holds.
package struct ExtractWindow: Sendable, Hashable {
  /// The column that is the cursor.
  package let column: String
  /// Where the cursor was; nil if it had never been anywhere.
  package let since: CursorValue?
  /// Where reading began: ``since`` less the lag.
  package let bound: CursorValue?
  /// Where the cursor is when all rows are in the store; nil if there is none with a usable cursor.
  package let until: CursorValue?
  /// How many rows there are.
  package let rows: Int64
  /// The kind of the cursor's values, where there is any that is usable.
  let kind: CursorKind?

  /// For people: from where to where it reaches.
  package var note: String {
    let count = rows == 1 ? "1 row" : "\(rows) rows"
    let begin = bound.map { "from \(SourceError.shown($0.description))" } ?? "from the beginning"
    let lag = since == bound ? "" : since.map { " (the cursor was \(SourceError.shown($0.description)))" } ?? ""
    let end = until.map { " to \(SourceError.shown($0.description))" } ?? ", and no cursor to go on from"
    return "read \(count), \(SourceError.shown(column)) \(begin)\(lag)\(end)"
  }

  /// How the extract is read.
  package var reader: ReaderOptions {
    var options = ReaderOptions()
    options.format = .sqlite
    options.table = ExtractWriter.table
    options.cursorCheck = CursorCheck(column: column, kind: kind)
    return options
  }
}

/// What a reader checks of each row: its cursor must be one.
struct CursorCheck: Codable, Sendable, Hashable {
  let column: String
  private let kindText: String?

  init(column: String, kind: CursorKind?) {
    self.column = column
    kindText = kind?.stored
  }

  /// What is wrong with a row's cursor; nil if nothing is.
  func problem(of value: Value) -> RecordProblem? {
    if case .null = value { return .noCursor(column: column) }
    guard let kind = kindText.flatMap({ CursorKind(stored: $0) }), let value = CursorValue(value) else {
      return .unusableCursor(column: column)
    }
    // PostgreSQL's numeric is a text in the extract, so that no digit is lost.
    if case .number = kind, case .text(let text) = value, Double(text)?.isFinite == true { return nil }
    return kind.contains(value) ? nil : .unusableCursor(column: column)
  }
}

extension CursorValue {
  /// Nil for what can't be a cursor.
  init?(_ value: Value) {
    switch value {
    case .int(let number): self = .integer(number)
    case .double(let number) where number.isFinite: self = .real(number)
    case .string(let text): self = .text(text)
    default: return nil
    }
  }
}

/// The rows that were read of an incremental source, in a SQLite file that the job imports: durable before the first of them is in
/// the store. However often the job is killed, it goes on with the same rows.
package struct Extract: Sendable {
  /// The file.
  package let url: URL
  package let window: ExtractWindow

  package init(_ url: URL, _ window: ExtractWindow) {
    self.url = url
    self.window = window
  }

  /// An extract that was written before; nil if there is none.
  package init?(existing url: URL) throws {
    let descriptor = open(url.path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    if descriptor < 0, errno == ENOENT { return nil }
    guard descriptor >= 0 else { throw MappingError.file(url.path, "open", code: errno) }
    defer { close(descriptor) }
    let size = ImportSource.length(of: url) ?? 0
    let database = try SQLiteDatabase(
      descriptor: descriptor, fileSize: size, isQueried: false, maximumRecordBytes: ReaderOptions().maximumRecordBytes)
    let window = try database.prepare(ExtractWriter.windowQuery).mapError { ReaderError.database($0) }.get()
    guard try window.next() else { throw ExtractionError.extract(path: url.path) }
    func text(_ column: Int) -> String? {
      if case .string(let text) = window.value(column) { text } else { nil }
    }
    self.url = url
    self.window = ExtractWindow(
      column: text(0) ?? "", since: text(1).flatMap { CursorValue(stored: $0) },
      bound: text(2).flatMap { CursorValue(stored: $0) }, until: text(3).flatMap { CursorValue(stored: $0) },
      rows: window.integer(5), kind: text(4).flatMap { CursorKind(stored: $0) })
  }
}

extension Extract {
  /// The first rows as JSON objects, each as much of it as is readable in a line.
  package func firstRows(_ count: Int) throws -> [String] {
    let descriptor = open(url.path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else { throw MappingError.file(url.path, "open", code: errno) }
    defer { close(descriptor) }
    let reader = try openReader(fileDescriptor: descriptor, name: "", options: window.reader, from: nil)
    let batch = RecordBatch()
    guard try reader.read(into: batch, limit: count) else { return [] }
    return (0..<batch.count).map { SourceError.shown(String(decoding: batch.rawBytes($0), as: UTF8.self)) }
  }
}
