// The rejects of a job are numbered from 1 in the order of its reject file; those of a feed go on from file to file, in the
// order of the files' names. The file of a job that has ended doesn't change, so neither do the numbers.

package import Foundation
import Glibc
package import ManagedObjects

/// A rejected record as its job's reject file has it.
package struct RejectedRecord: Sendable, Hashable {
  /// Its number in the job, from 1.
  package var number: Int64
  /// The name of its file in the folder of a feed's; nil for a single file.
  package var file: String?
  /// The line in the source, from 1; in a source without lines, the record's number; in a retry, the reject's number.
  package var line: Int64
  /// The column or attribute at fault, empty when it is the whole record.
  package var column: String
  package var code: String
  package var message: String
  /// The record as it was in the source, without the reason.
  package var record: [UInt8]
  /// Whether the reader takes the record back as it is. If not, only its text was kept, perhaps not all of it.
  package var isWhole: Bool
  /// Where the faulty cell is in ``record``, in bytes; nil where it isn't there as it is.
  package var cell: Range<Int>?
}

/// Why rejects can't be retried as asked.
package enum RejectRetryError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The reject file isn't as the job left it.
  case changed(path: String, found: Int64, expected: Int64)
  case noSuchReject(Int64, count: Int64)
  /// A retry has resolved it.
  case resolved(number: Int64, by: Int64)
  /// What is to take a reject's place isn't one record.
  case notOneRecord(number: Int64, reason: String)
  /// Among the others that are retried, it isn't read as a record of its own.
  case notApart(number: Int64)
  /// Only text was kept of it.
  case needsCorrection(number: Int64)
  /// None of the rejects that are open can be read as it is.
  case nothingToRead

  package var description: String {
    switch self {
    case .changed(let path, let found, let expected):
      "\(path) isn't as the job left it: it has \(found) records with reasons, and the job rejected \(expected). Put it back, "
        + "or import a corrected copy of it"
    case .noSuchReject(let number, let count): "there is no reject \(number): the job rejected \(count)"
    case .resolved(let number, let job): "reject \(number) was resolved by job \(job)"
    case .notOneRecord(let number, let reason): "what is to replace reject \(number) isn't one record: \(reason)"
    case .notApart(let number):
      "reject \(number) isn't read as one record among the others that would be retried; leave it out, or correct it"
    case .needsCorrection(let number):
      "reject \(number) can't be read as it is: the source's text broke the rules of its format. Correct it"
    case .nothingToRead:
      "none of the rejects that are open can be read as it is: the source's text broke the rules of its format. Correct them "
        + "with --edit"
    }
  }
}

/// The reject file of a job that has ended, or the folder of a feed's.
package struct RejectedRecords {
  private let url: URL
  /// Those that the source was read with, as its reject file is read.
  let options: ReaderOptions
  private let rules: [String: PropertyRule]
  private let entity: EntityDescription?

  /// - Parameters:
  ///   - options: those of the job.
  ///   - entity: the one that the records were to become; nil for a feed.
  package init(_ url: URL, options: ImportOptions, entity: EntityDescription?) {
    self.url = url
    self.options = options.reader.ofRejects
    self.entity = entity
    rules = options.mapping.properties
  }

  /// The names of the reject files: one, or those in the folder of a feed's.
  func files() throws -> [(name: String?, url: URL)] {
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder) else {
      throw MappingError.fileFailed(path: url.path, operation: "find", reason: "it isn't there any more")
    }
    guard isFolder.boolValue else { return [(nil, url)] }
    do {
      let names = try FileManager.default.contentsOfDirectory(atPath: url.path).sorted()
      return names.map { name -> (name: String?, url: URL) in (name, url.appendingPathComponent(name)) }
        .filter { ImportSource.length(of: $0.url) != 0 }
    } catch let error as CocoaError {
      throw MappingError.fileFailed(path: url.path, operation: "list", reason: error.localizedDescription)
    }
  }

  /// Calls `body` with records in their order, some together, until it returns false. Memory is that of a batch.
  ///
  /// - Parameter after: those up to this number are only counted.
  /// - Returns: how many records there are, as far as was read.
  @discardableResult
  package func forEach(after: Int64 = 0, _ body: ([RejectedRecord]) throws -> Bool) throws -> Int64 {
    let cursor = try RejectCursor(self, after: after)
    while let records = try cursor.next(), try body(records) {}
    return cursor.number
  }

  /// The record of a number.
  package func record(_ number: Int64, of count: Int64) throws -> RejectedRecord {
    var found: RejectedRecord?
    try forEach(after: number - 1) { records in
      found = records.first
      return false
    }
    guard number > 0, let found else { throw RejectRetryError.noSuchReject(number, count: count) }
    return found
  }

  /// The names of the columns in the source, where the records themselves don't have them.
  package func columns() throws -> [String] {
    guard let file = try files().first, try files().count == 1 else { return [] }
    return try RejectFileReader(file.url, options).ownColumns
  }

  /// Cuts off records that no commit counts, if the file has some.
  /// - Parameter options: those that the source was read with.
  package static func cut(_ url: URL, to length: Int64, _ options: ReaderOptions) throws {
    guard let size = ImportSource.length(of: url), size > length else { return }
    let options = options.ofRejects
    // What it ends with may be all that is after its records, and is written again then.
    var form: any RejectForm = JSONLineRejects()
    if length > 0 { form = try RejectFileReader(url, options).writingForm }
    try RejectFile(path: url.path, form: form, isMarked: options.mayReadUTF8AsAnother, length: length).removeIfEmpty()
  }

  fileprivate func record(
    _ entry: RejectFileReader.Entry, _ number: Int64, _ name: String?, _ file: RejectFileReader
  ) -> RejectedRecord {
    let cell = columns(of: entry.reason.column).lazy.compactMap(entry.cell).first
    return RejectedRecord(
      number: number, file: name, line: entry.reason.line, column: entry.reason.column, code: entry.reason.code,
      message: entry.reason.message, record: entry.record, isWhole: entry.isWhole, cell: cell)
  }

  /// The columns that a reason's column may be: it may name an attribute, or several.
  private func columns(of name: String) -> [String] {
    guard !name.isEmpty else { return [] }
    let names = [name] + name.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
    return names.flatMap { name in
      [rules[name]?.column, entity?.propertiesByName[name]?.userInfo["mappedKeyName"], name].compactMap { $0 }
    }
  }
}

/// Goes through the rejects of a job once, from file to file. Memory is that of a batch.
package final class RejectCursor {
  private static let batch = 1_000

  private let records: RejectedRecords
  private let after: Int64
  private var files: ArraySlice<(name: String?, url: URL)>
  private var file: (name: String?, reader: RejectFileReader)?
  /// The number of the last record that was read or passed over.
  private(set) var number: Int64 = 0

  /// - Parameter after: those up to this number are only counted.
  package init(_ records: RejectedRecords, after: Int64 = 0) throws {
    self.records = records
    self.after = after
    files = try records.files()[...]
  }

  /// The next records; nil after the last.
  package func next() throws -> [RejectedRecord]? {
    while true {
      if let (name, reader) = file, let entries = try reader.next(Self.batch) {
        return entries.map { entry in
          number += 1
          return records.record(entry, number, name, reader)
        }
      }
      guard let next = files.popFirst() else { return nil }
      let reader = try RejectFileReader(next.url, records.options)
      number += try reader.skip(max(0, after - number))
      file = (next.name, reader)
    }
  }
}

extension ReaderOptions {
  /// The options to read a reject file with whose source was read with these.
  package var ofRejects: ReaderOptions {
    var options = self
    options.member = nil
    options.table = nil
    options.query = nil
    if let format = options.format.flatMap({ FileFormats.standard[$0] }) { options.format = format.rejectFormat }
    return options
  }
}

/// Reads one reject file: records with their reasons.
final class RejectFileReader {
  /// One of its records.
  struct Entry {
    var reason: RejectSummary.Reason
    /// The record as it was in the source.
    var record: [UInt8]
    var isWhole: Bool
    /// Where a column's cell is in it.
    var cells: [String: Range<Int>] = [:]

    func cell(_ column: String) -> Range<Int>? { cells[column] }
  }

  private let form: any RejectForm
  private let url: URL
  private let source: ImportSource
  private let reader: any RecordReader
  /// nil where reasons are in the records.
  private let marks: RejectMarks?
  private let batch = RecordBatch()
  private let findsCells: Bool
  /// The next record of the batch.
  private var place = 0
  private var hasEnded = false
  /// Entries are returned together up to about this size.
  private static let mostBytes = 4 << 20

  /// - Parameters:
  ///   - name: the file's name, which may tell the format; nil: that of `url`.
  ///   - findsCells: whether entries say where their cells are.
  init(_ url: URL, _ options: ReaderOptions, named name: String? = nil, findsCells: Bool = true) throws {
    self.url = url
    self.findsCells = findsCells
    source = try ImportSource(url)
    reader = try openSource(
      fileDescriptor: source.descriptor, name: name ?? url.lastPathComponent, options: options, from: nil
    ).reader
    form = reader.rejectForm
    marks = try RejectMarks(source.descriptor)
  }

  /// How entries are written again, with other reasons.
  var writingForm: any RejectForm {
    if let tabular = form as? TabularRejects { return tabular.ofOwnRecords }
    return form
  }

  /// The columns of the source.
  var ownColumns: [String] { form is TabularRejects ? reader.columns.filter { !RejectReason.isAdded($0) } : [] }

  /// The name or path of the records in an XML file, by which others aren't taken for records; nil elsewhere.
  var recordPath: String? {
    guard let form = form as? XMLRejects, !form.record.isEmpty else { return nil }
    return form.record
  }

  /// At most `limit` entries, and no more after some megabytes of records; nil after the last.
  func next(_ limit: Int) throws -> [Entry]? {
    var entries: [Entry] = []
    var bytes = 0
    while entries.count < limit, bytes < Self.mostBytes, let entry = try nextEntry() {
      bytes += entry.record.count
      entries.append(entry)
    }
    return entries.isEmpty ? nil : entries
  }

  /// Passes over entries without copying them.
  /// - Returns: how many there were.
  func skip(_ count: Int64) throws -> Int64 {
    var skipped: Int64 = 0
    while skipped < count {
      if let marks {
        guard let mark = try marks.next() else { break }
        if try takes(mark) {
          try marks.skip(to: batch.byteOffset(place) + batch.byteLength(place))
          place += 1
        }
      } else {
        guard try fill() else { break }
        place += 1
      }
      skipped += 1
    }
    return skipped
  }

  private func nextEntry() throws -> Entry? {
    guard let marks else { return try nextOfReader() }
    return try next(marks)
  }

  private func nextOfReader() throws -> Entry? {
    guard try fill() else { return nil }
    defer { place += 1 }
    guard let reason = RejectSummary.ReasonColumns(batch).reason(place, in: batch) else {
      throw MappingError.fileFailed(
        path: url.path, operation: "read the rejects in", reason: "a record in line \(batch.line(place)) has no reason")
    }
    let raw = batch.rawBytes(place)
    if let text = reason.record { return Entry(reason: reason, record: Array(text.utf8), isWhole: false) }
    var own = raw
    switch form {
    case let form as TabularRejects:
      if Self.isBroken(reason.code) {
        let text = batch.withBytes(of: batch.cell(place, RejectReason.columns.count)) { Array($0) }
        return Entry(reason: reason, record: text, isWhole: false)
      }
      own = Array(form.ownFields(of: raw))
    case let form as JSONRejects: own = JSONRejects.own(raw, isMember: form.areMembers)
    case is JSONLineRejects: own = JSONRejects.own(raw, isMember: false)
    case is PropertyListRejects: own = PropertyListRejects.own(raw)
    default: break
    }
    return Entry(reason: reason, record: own, isWhole: true, cells: cells(own, raw))
  }

  private func next(_ marks: RejectMarks) throws -> Entry? {
    guard let mark = try marks.next() else {
      guard try !fill() else {
        throw MappingError.fileFailed(
          path: url.path, operation: "read the rejects in", reason: "line \(batch.line(place)) has no reason")
      }
      return nil
    }
    guard try takes(mark) else { return Entry(reason: mark.reason, record: mark.text, isWhole: false) }
    // What looks like a reason inside the record is a part of it.
    try marks.skip(to: batch.byteOffset(place) + batch.byteLength(place))
    let raw = batch.rawBytes(place)
    defer { place += 1 }
    return Entry(reason: mark.reason, record: raw, isWhole: true, cells: cells(raw, raw))
  }

  /// Whether the next record is that of the mark: it begins in the line after it.
  private func takes(_ mark: RejectMarks.Mark) throws -> Bool {
    try fill() && batch.byteOffset(place) >= mark.offset && batch.byteOffset(place) < mark.end
  }

  /// Whether there is a next record in the batch, after reading more.
  private func fill() throws -> Bool {
    if place < batch.count { return true }
    if hasEnded { return false }
    place = 0
    if try !reader.read(into: batch, limit: 1_000) {
      hasEnded = true
      batch.removeAll()
    }
    return !hasEnded
  }

  /// The codes of records that can't be records of any other file.
  private static func isBroken(_ code: String) -> Bool {
    ["unterminated_quote", "text_after_quote", "record_too_long", "malformed_json", "dangling_escape"].contains(code)
  }

  /// Where the cells of the record are in what it was in the source, which is the end of what it is in the reject file.
  private func cells(_ own: [UInt8], _ raw: [UInt8]) -> [String: Range<Int>] {
    var cells: [String: Range<Int>] = [:]
    guard findsCells else { return cells }
    let shift = own.count - raw.count
    let bounds = batch.entry(place)
    for (column, name) in batch.columns.enumerated() where !RejectReason.isAdded(name) {
      if let form = form as? TabularRejects {
        if let range = form.fieldRange(column, of: raw), range.lowerBound + shift >= 0 {
          cells[name] = range.lowerBound + shift..<range.upperBound + shift
        }
        continue
      }
      let cell = batch.cell(place, column)
      if cell.kind == .missing { continue }
      let start = Int(cell.offset) - Int(bounds.arenaOffset)
      let end = start + Int(cell.length)
      if start >= 0, end <= Int(bounds.arenaLength), cell.length > 0, start + shift >= 0 {
        cells[name] = start + shift..<end + shift
      } else if let member = JSONRejects.valueRange(of: name, in: own) {
        cells[name] = member
      }
    }
    return cells
  }
}

extension JSONRejects {
  /// Where the value of a top-level member of an object is; nil if that isn't one, or has no such member.
  /// - Parameter start: where the object begins.
  static func valueRange(of name: String, in record: [UInt8], from start: Int = 0) -> Range<Int>? {
    var key: [UInt8] = []
    JSONString.quote(name.utf8, to: &key)
    return record.withUnsafeBufferPointer { bytes in
      guard let base = bytes.baseAddress, start < bytes.count, bytes[start] == UInt8(ascii: "{"),
        TextValidator.validate(from: base, to: base + bytes.count) == nil
      else { return nil }
      let end = base + bytes.count
      var place = JSONToken.skipSpace(base + start + 1, end)
      while place < end, case .end(let value) = JSONToken.key(place, end, passesSurrogates: false) {
        var walker = JSONWalker(depth: 0)
        guard case .end(let after) = walker.walk(from: value, to: end, final: true) else { return nil }
        if UnsafeBufferPointer(start: place, count: end - place).starts(with: key) {
          return value - base..<after - base
        }
        place = JSONToken.skipSpace(after, end)
        guard place < end, place.pointee == UInt8(ascii: ",") else { return nil }
        place = JSONToken.skipSpace(place + 1, end)
      }
      return nil
    }
  }
}

/// The lines with reasons of a reject file in which they stand before the records.
final class RejectMarks {
  struct Mark {
    var reason: RejectSummary.Reason
    /// Where its line begins.
    var offset: Int64
    /// The beginning of the line after it, without what keeps it from being a record.
    var text: [UInt8]
    /// Where that line ends.
    var end: Int64
  }

  private let window: SourceWindow
  private let isXML: Bool

  /// nil if it is another kind of reject file.
  init?(_ descriptor: Int32) throws(ReaderError) {
    window = try SourceWindow(descriptor: descriptor, blockSize: 64 << 10)
    _ = try window.fill(until: SourceSample.size)
    guard MarkedRejects.isForm(of: window) else { return nil }
    window.skipByteOrderMark()
    isXML = MarkedRejects.isXML(window)
  }

  /// Passes over what is before a place: the rest of a record that has more lines than one.
  func skip(to offset: Int64) throws(ReaderError) {
    while window.offset < offset {
      if window.unread == 0, try !window.fill() { return }
      window.consume(Int(min(Int64(window.unread), offset - window.offset)))
    }
  }

  /// The next one, with the line after it.
  func next() throws(ReaderError) -> Mark? {
    let beginning = Array((isXML ? RejectReason.instruction : RejectReason.fixedWidthMark + " ").utf8)
    var found: RejectSummary.Reason?
    while true {
      let offset = window.offset
      let isLine = try MarkedRejects.eachLine(in: window) { line in
        guard line.starts(with: beginning) else { return }
        found = MarkedRejects.reason(in: String(decoding: line, as: UTF8.self))
      }
      guard isLine else { return nil }
      guard let reason = found else { continue }
      var text: [UInt8] = []
      // The line after a reason is its record, whatever it looks like.
      _ = try MarkedRejects.eachLine(in: window) { text = Array($0) }
      return Mark(reason: reason, offset: offset, text: plain(text), end: window.offset)
    }
  }

  private func plain(_ text: [UInt8]) -> [UInt8] {
    let (before, after) = isXML ? ("<!-- ", " -->") : (RejectReason.fixedWidthMark + " ", "")
    guard text.starts(with: before.utf8) else { return text }
    let rest = text.dropFirst(before.utf8.count)
    return Array(rest.reversed().starts(with: after.utf8.reversed()) ? rest.dropLast(after.utf8.count) : rest)
  }
}
