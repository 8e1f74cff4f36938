import Foundation
import Glibc
import Importing
import ManagedObjects

/// The rows that an undo leaves as they are: the first few in words, all of them in a file with one JSON object per line. For the
/// job's thread.
final class UndoReport {
  /// How many are shown in words.
  static let shown = 20
  /// How many are remembered, so that none stands there twice: the job may have changed a row in several saves.
  private static let remembered = 100_000

  /// A line of the file.
  private struct Line: Codable {
    let entity: String
    let number: Int64
    let key: String
    let reason: String
    let message: String

    var words: String { "\(entity) \(key) \(message)" }
    var row: String { "\(entity) \(number)" }
  }

  private let url: URL?
  /// The first lines, where there is no file.
  private var lines: [(place: Int64, text: String)] = []
  /// The rows in it, by entity and number, with where the part of the file begins that they stand in.
  private var known: [String: Int64] = [:]

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

  /// Reads which rows stand in the file.
  private func readKnown(_ url: URL) throws {
    for line in try Data(contentsOf: url).split(separator: UInt8(ascii: "\n")).prefix(Self.remembered) {
      known[try JSONDecoder().decode(Line.self, from: Data(line)).row] = -1
    }
  }

  /// Writes rows durably after a length of the file, each row once in the report.
  /// - Parameter length: the length of the file afterwards.
  /// - Returns: how many of them weren't there.
  func write(_ kept: [JobReversal.Kept], after length: inout Int64) throws -> Int64 {
    let start = length
    lines.removeAll { $0.place >= start }
    known = known.filter { $0.value < start }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    var data = Data()
    var count: Int64 = 0
    for row in kept {
      let line = Line(
        entity: row.id.entity.name, number: row.id.number, key: row.key, reason: row.reason.rawValue, message: row.words
      )
      if known[line.row] != nil { continue }
      if known.count < Self.remembered { known[line.row] = start }
      if lines.count < Self.shown { lines.append((start, line.words)) }
      data += try encoder.encode(line)
      data.append(UInt8(ascii: "\n"))
      count += 1
    }
    if count == 0 { return 0 }
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
    defer { try? handle.close() }
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
      }
    return detail.isEmpty ? words : "\(words) (\(detail))"
  }
}
