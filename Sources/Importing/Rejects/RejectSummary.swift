package import Foundation

/// The content of a reject file: the number of records per reason, with a few examples of each.
package struct RejectSummary: Codable, Sendable, Hashable {
  /// One rejected record.
  package struct Example: Codable, Sendable, Hashable {
    /// The reject's number in its job.
    package var number: Int64
    /// The line in the source, from 1; in a source without lines, the record's number.
    package var line: Int64
    /// The reason in words.
    package var message: String
    /// The beginning of the record as it stands in the reject file.
    package var record: String
  }

  /// The records that were rejected for one reason in one column.
  package struct Group: Codable, Sendable, Hashable {
    /// The reason's short name, such as `not_an_integer`.
    package var code: String
    /// The column or attribute at fault; empty when it is the whole record.
    package var column: String
    package var count: Int64
    /// The first of them.
    package var examples: [Example]
  }

  /// The rejected records.
  package private(set) var count: Int64 = 0
  /// The most frequent first; no more than a thousand.
  package private(set) var groups: [Group] = []
  /// Records of further reasons, when there are too many to list.
  package private(set) var others: Int64 = 0
  private var places: [String: Int] = [:]

  private enum CodingKeys: String, CodingKey { case count, groups, others }

  private static let maximumGroups = 1_000
  /// Bytes of a record that an example shows.
  private static let shownBytes = 200

  /// Reads a reject file, of a running or a finished job, or the folder of a feed's. Memory is that of a batch, whatever
  /// the file's length. In a folder, an example's message begins with its file.
  ///
  /// - Parameters:
  ///   - options: those that the source was read with.
  ///   - examples: how many of each reason are shown.
  /// - Throws: `ReaderError`, or `MappingError.fileFailed`.
  package static func read(_ file: URL, options: ReaderOptions, examples: Int = 3) throws -> RejectSummary {
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: file.path, isDirectory: &isFolder), isFolder.boolValue else {
      return try readFile(file, options, examples)
    }
    let names: [String]
    do {
      names = try FileManager.default.contentsOfDirectory(atPath: file.path).sorted()
    } catch {
      throw MappingError.fileFailed(path: file.path, operation: "list", reason: error.localizedDescription)
    }
    var whole = RejectSummary()
    for name in names {
      let inner = file.appendingPathComponent(name)
      // An empty file is left by a run that was rolled back.
      if ImportSource.length(of: inner) == 0 { continue }
      whole.add(try readFile(inner, options, examples), of: name, examples)
    }
    whole.order()
    return whole
  }

  private static func readFile(_ file: URL, _ options: ReaderOptions, _ examples: Int) throws -> RejectSummary {
    let source = try ImportSource(file)
    var summary = RejectSummary()
    let window = try SourceWindow(descriptor: source.descriptor, blockSize: 64 << 10)
    _ = try window.fill(until: SourceSample.size)
    if MarkedRejects.isXML(window), MarkedRejects.isForm(of: window) {
      // What looks like a reason may be a part of a record. Only the reader knows.
      let reader = try RejectFileReader(file, options.ofRejects, findsCells: false)
      while let entries = try reader.next(1_000) {
        for entry in entries {
          let line = entry.record.prefix { $0 != CSVDialect.lineFeed }
          line.withUnsafeBytes { summary.add(entry.reason, $0, examples) }
        }
      }
    } else if MarkedRejects.isForm(of: window) {
      try MarkedRejects.forEach(in: window) { summary.add($0, $1, examples) }
    } else {
      let opened = try openSource(
        fileDescriptor: source.descriptor, name: file.lastPathComponent, options: options, from: nil)
      try summary.addRecords(of: opened.reader, examples)
    }
    summary.order()
    return summary
  }

  private mutating func order() {
    groups.sort { ($1.count, $0.code, $0.column) < ($0.count, $1.code, $1.column) }
    places = [:]
  }

  /// Adds the summary of one file of several.
  private mutating func add(_ part: RejectSummary, of name: String, _ examples: Int) {
    let before = count
    count += part.count
    others += part.others
    for group in part.groups {
      guard let place = place(of: group.code, group.column) else {
        others += group.count
        continue
      }
      groups[place].count += group.count
      for var example in group.examples.prefix(examples - groups[place].examples.count) {
        example.message = "\(name): \(example.message)"
        example.number += before
        groups[place].examples.append(example)
      }
    }
  }

  /// The index of a reason's group, which is added the first time; nil when there are too many.
  private mutating func place(of code: String, _ column: String) -> Int? {
    let key = "\(code) \(column)"
    if let known = places[key] { return known }
    guard groups.count < Self.maximumGroups else { return nil }
    places[key] = groups.count
    groups.append(Group(code: code, column: column, count: 0, examples: []))
    return groups.count - 1
  }

  /// Why a record was rejected.
  struct Reason: Decodable {
    var line: Int64
    var column: String
    var code: String
    var message: String
    /// The record's text, where that couldn't be a record of the file.
    var record: String?
  }

  private mutating func addRecords(of reader: any RecordReader, _ examples: Int) throws {
    let batch = RecordBatch()
    while try reader.read(into: batch, limit: 1_000) {
      let columns = ReasonColumns(batch)
      for record in 0..<batch.count {
        // A record added to the file by hand has no reason, and isn't counted.
        if let reason = columns.reason(record, in: batch) {
          batch.withRawBytes(of: record) { add(reason, $0, examples) }
        }
      }
    }
  }

  /// Where the records of a batch have their reasons.
  struct ReasonColumns {
    private let columns: [Int]
    private let member: Int?

    init(_ batch: RecordBatch) {
      columns = RejectReason.columns.compactMap { batch.columns.firstIndex(of: $0) }
      member = batch.columns.firstIndex(of: RejectReason.member)
    }

    /// Why a record was rejected; nil if it doesn't say.
    func reason(_ record: Int, in batch: RecordBatch) -> Reason? {
      if columns.count == RejectReason.columns.count {
        let cells = columns.map { batch.string(batch.cell(record, $0)) }
        return Reason(line: Int64(cells[0]) ?? 0, column: cells[1], code: cells[2], message: cells[3])
      }
      guard let member else { return nil }
      let cell = batch.cell(record, member)
      if cell.kind == .missing { return nil }
      if let json = batch.withRawBytes(of: record, { JSONRejects.reason(in: $0) }) { return RejectSummary.reason(json) }
      return cell.kind == .nested ? RejectSummary.reason(batch.string(cell)) : nil
    }
  }

  fileprivate static func reason(_ json: String) -> Reason? {
    do {
      return try JSONDecoder().decode(Reason.self, from: Data(json.utf8))
    } catch {
      // A member of the record's own that has the same name as ours.
      return nil
    }
  }

  private mutating func add(_ reason: Reason, _ record: UnsafeRawBufferPointer, _ examples: Int) {
    count += 1
    guard let place = place(of: reason.code, reason.column) else {
      others += 1
      return
    }
    groups[place].count += 1
    guard groups[place].examples.count < examples else { return }
    let shown = String(decoding: record.prefix(Self.shownBytes), as: UTF8.self)
    groups[place].examples.append(
      Example(
        number: count, line: reason.line, message: reason.message,
        record: shown + (record.count > Self.shownBytes ? "…" : "")))
  }
}

/// What is common to reject files in which a reason is a line of its own before the record: of XML and of fixed-width
/// sources.
enum MarkedRejects {
  /// The bytes of a line that are examined.
  private static let maximumLine = 128 << 10

  /// Whether the file in the window, at its beginning, is one of these.
  static func isForm(of window: SourceWindow) -> Bool {
    let start = window.bytes.drop { JSONToken.isSpace($0) || [0xEF, 0xBB, 0xBF].contains($0) }
    if start.starts(with: RejectReason.fixedWidthTitle.utf8) { return true }
    return start.starts(with: "<?xml".utf8)
      && !start.prefix(1_024).contains(Array("<plist".utf8))
  }

  /// Whether it is one of XML, or a property list.
  static func isXML(_ window: SourceWindow) -> Bool {
    window.bytes.drop { JSONToken.isSpace($0) || [0xEF, 0xBB, 0xBF].contains($0) }.starts(with: "<?xml".utf8)
  }

  /// Calls `body` with each reason and the line after it, in a file of fixed width.
  static func forEach(
    in window: SourceWindow, _ body: (RejectSummary.Reason, UnsafeRawBufferPointer) -> Void
  ) throws(ReaderError) {
    let mark = Array((RejectReason.fixedWidthMark + " ").utf8)
    var waiting: RejectSummary.Reason?
    while try eachLine(
      in: window,
      { line in
        if let reason = waiting {
          body(reason, UnsafeRawBufferPointer(line))
          waiting = nil
        } else if line.starts(with: mark) {
          waiting = reason(in: String(decoding: line, as: UTF8.self))
        }
      })
    {}
    if let reason = waiting { body(reason, UnsafeRawBufferPointer(start: nil, count: 0)) }
  }

  static func reason(in line: String) -> RejectSummary.Reason? {
    guard let space = line.firstIndex(of: " ") else { return nil }
    let values = RejectReason.attributes(of: String(line[space...]))
    guard let line = values["line"].flatMap({ Int64($0) }), let code = values["code"] else { return nil }
    return .init(line: line, column: values["column"] ?? "", code: code, message: values["message"] ?? "")
  }

  /// Lends the next line, or the beginning of a long one, and consumes it; false at the end.
  static func eachLine(
    in window: SourceWindow, _ body: (UnsafeBufferPointer<UInt8>) -> Void
  ) throws(ReaderError) -> Bool {
    var length = window.bytes.firstIndex(of: CSVDialect.lineFeed)
    while length == nil, window.unread < maximumLine, try window.fill() {
      length = window.bytes.firstIndex(of: CSVDialect.lineFeed)
    }
    guard window.unread > 0 else { return false }
    body(UnsafeBufferPointer(rebasing: window.bytes.prefix(length ?? window.unread)))
    if let length {
      window.consume(length + 1)
      return true
    }
    repeat {
      if let end = window.bytes.firstIndex(of: CSVDialect.lineFeed) {
        window.consume(end + 1)
        break
      }
      window.consume(window.unread)
    } while try window.fill()
    return true
  }
}
