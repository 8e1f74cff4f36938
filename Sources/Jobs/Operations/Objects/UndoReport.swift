import Foundation
import Glibc
import Importing
import ManagedObjects

/// The rows that an undo leaves as they are: the first few in words, all of them in a file with one JSON object per line. For the
/// job's thread.
final class UndoReport {
  /// How many are shown in words.
  static let shown = 20
  /// What is read of the file at a time.
  private static let block = 1 << 20

  /// A line of the file.
  private struct Line: Codable {
    let entity: String
    let number: Int64
    let key: String
    let reason: String
    let message: String

    var words: String { "\(entity) \(key) \(message)" }
  }

  private let url: URL?
  /// The first lines, where there is no file.
  private var lines: [(place: Int64, text: String)] = []
  /// The rows in it, so that none stands there twice: the job may have changed a row in several saves.
  private var known = RowNumbers()
  /// Those that were written last, and where: the save that counts them may fail.
  private var latest: (start: Int64, rows: [(entity: String, number: Int64)]) = (0, [])

  /// The file; nil where reports don't go anywhere, or nothing stands in it.
  var file: URL? { url.flatMap { FileManager.default.fileExists(atPath: $0.path) ? $0 : nil } }

  /// - Parameter length: the valid part of the file; the rest is from a run that was killed.
  init(of job: Int64, in folder: URL?, length: Int64) throws {
    url = folder?.appendingPathComponent("\(job).undo.ndjson")
    guard let folder, let url else { return }
    if FileManager.default.fileExists(atPath: url.path) {
      guard truncate(url.path, off_t(length)) == 0 else { throw JobFailure(errno: errno, url.path) }
      if length == 0 { unlink(url.path) } else { try readKnown(url) }
    } else {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }
  }

  /// Reads which rows stand in the file, line by line.
  private func readKnown(_ url: URL) throws {
    let handle = try FileHandle(forReadingFrom: url)
    var rest = Data()
    let decoder = JSONDecoder()
    while let block = try handle.read(upToCount: Self.block), !block.isEmpty {
      rest += block
      guard let end = rest.lastIndex(of: UInt8(ascii: "\n")) else { continue }
      for text in rest[...end].split(separator: UInt8(ascii: "\n")) {
        let line = try decoder.decode(Line.self, from: Data(text))
        known.insert(line.number, of: line.entity)
      }
      rest = Data(rest[(end + 1)...])
    }
  }

  /// Writes rows durably after a length of the file, each row once in the report.
  /// - Parameter length: the length of the file afterwards.
  /// - Returns: how many of them weren't there and stay as they are.
  func write(_ kept: [JobReversal.Kept], after length: inout Int64) throws -> Int64 {
    let start = length
    lines.removeAll { $0.place >= start }
    if latest.start >= start { for row in latest.rows { known.remove(row.number, of: row.entity) } }
    latest = (start, [])
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    var data = Data()
    var count: Int64 = 0
    for row in kept where known.insert(row.number, of: row.entity) {
      latest.rows.append((row.entity, row.number))
      let line = Line(
        entity: row.entity, number: row.number, key: row.key, reason: row.reason.rawValue, message: row.words)
      if lines.count < Self.shown { lines.append((start, line.words)) }
      data += try encoder.encode(line)
      data.append(UInt8(ascii: "\n"))
      if row.reason != .incomplete { count += 1 }
    }
    if data.isEmpty { return 0 }
    if let url { try write(data, at: start, to: url) }
    length += Int64(data.count)
    return count
  }

  private func write(_ data: Data, at offset: Int64, to url: URL) throws {
    let descriptor = open(url.path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o640)
    guard descriptor >= 0 else { throw JobFailure(errno: errno, url.path) }
    defer { close(descriptor) }
    guard ftruncate(descriptor, off_t(offset)) == 0 else { throw JobFailure(errno: errno, url.path) }
    var written = 0
    while written < data.count {
      let count = data.withUnsafeBytes { bytes in
        pwrite(descriptor, bytes.baseAddress.map { $0 + written }, data.count - written, off_t(offset) + off_t(written))
      }
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw JobFailure(errno: errno, url.path) }
      written += count
    }
    guard fdatasync(descriptor) == 0 else { throw JobFailure(errno: errno, url.path) }
  }

  /// The first rows in words.
  func first() throws -> [String] {
    guard let file else { return lines.map(\.text) }
    let handle = try FileHandle(forReadingFrom: file)
    let text = String(decoding: try handle.read(upToCount: 64 << 10) ?? Data(), as: UTF8.self)
    return try text.split(separator: "\n").dropLast(text.hasSuffix("\n") ? 0 : 1).prefix(Self.shown).map { line in
      let line = try JSONDecoder().decode(Line.self, from: Data(line.utf8))
      return line.words
    }
  }
}

extension JobReversal.Kept {
  /// Why, as the end of a sentence about the row.
  fileprivate var words: String {
    let words =
      switch reason {
      case .changed: "was changed since"
      case .deleted: "was deleted since"
      case .exists: "is there again"
      case .expired: "has no former values any more"
      case .needed: "is needed by others"
      case .invalid: "can't be as it was"
      case .incomplete: "lacks what is gone"
      }
    return detail.isEmpty ? words : "\(words) (\(detail))"
  }
}

/// Numbers of rows, a bit for each.
private struct RowNumbers {
  private var words: [String: [Int64: UInt64]] = [:]

  /// Whether it wasn't there.
  @discardableResult
  mutating func insert(_ number: Int64, of entity: String) -> Bool {
    let bit: UInt64 = 1 << UInt64(number & 63)
    let word = words[entity]?[number >> 6] ?? 0
    words[entity, default: [:]][number >> 6] = word | bit
    return word & bit == 0
  }

  mutating func remove(_ number: Int64, of entity: String) {
    words[entity]?[number >> 6]? &= ~(1 << UInt64(number & 63))
  }
}
