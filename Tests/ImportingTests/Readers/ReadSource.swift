import Foundation

@testable import Importing

/// A record in a form that tests compare.
struct ReadRecord: Equatable, CustomStringConvertible {
  var line: Int64
  var byteOffset: Int64
  var byteLength: Int64
  var raw: [UInt8]
  var problem: RecordProblem?
  /// By column; a record's own cells, in column order.
  var cells: [String]
  /// By column name, without missing cells.
  var named: [String: String]

  var description: String {
    "line \(line), byte \(byteOffset)+\(byteLength): \(cells)" + (problem.map { " — \($0.code)" } ?? "")
  }
}

/// The result of reading a source.
struct ReadResult: Equatable {
  var columns: [String] = []
  var records: [ReadRecord] = []
  var ends: [ReaderPosition] = []
  var error: ReaderError?

  var cells: [[String]] { records.map(\.cells) }
  var named: [[String: String]] { records.map(\.named) }
  var problems: [RecordProblem?] { records.map(\.problem) }
  var lines: [Int64] { records.map(\.line) }
  var raw: [String] { records.map { String(decoding: $0.raw, as: UTF8.self) } }
}

/// Shows a cell with its kind: text and numbers as they are, the others by a name in angle brackets.
func show(_ cell: Cell, of batch: RecordBatch) -> String {
  switch cell.kind {
  case .missing: "<missing>"
  case .null: "<null>"
  case .empty: "<empty>"
  case .yes: "<yes>"
  case .no: "<no>"
  case .nested: "<nested>" + batch.string(cell)
  case .text, .number: batch.string(cell)
  case .quantity: "<number>" + batch.string(cell)
  case .date: "<date>" + batch.string(cell)
  case .fault: "<fault>" + batch.string(cell)
  }
}

/// A file in a directory of its own, removed after its last use.
final class SourceFile {
  let descriptor: Int32
  let path: String
  private let directory: URL

  init(_ bytes: [UInt8], name: String) throws {
    directory = FileManager.default.temporaryDirectory.appendingPathComponent("lade-readers-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    let file = directory.appendingPathComponent(name)
    try Data(bytes).write(to: file)
    path = file.path
    descriptor = open(file.path, O_RDONLY)
    guard descriptor >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
  }

  deinit {
    close(descriptor)
    do { try FileManager.default.removeItem(at: directory) } catch { print("left behind: \(directory.path): \(error)") }
  }

  /// Reads everything from a position on; errors of opening and of reading end up in the result.
  func read(
    _ options: ReaderOptions = ReaderOptions(), from position: ReaderPosition? = nil, limit: Int = 1_000,
    blockSize: Int = 256 << 10
  ) throws -> ReadResult {
    var result = ReadResult()
    do {
      let reader = try openReader(
        fileDescriptor: descriptor, name: path, options: options, from: position, blockSize: blockSize)
      let batch = RecordBatch()
      result.columns = reader.columns
      while try reader.read(into: batch, limit: limit) {
        for record in 0..<batch.count { result.records.append(Self.record(record, of: batch)) }
        result.ends.append(batch.end)
        result.columns = reader.columns
      }
    } catch let error as ReaderError {
      result.error = error
    }
    return result
  }

  /// A record of a batch.
  static func record(_ record: Int, of batch: RecordBatch) -> ReadRecord {
    var named: [String: String] = [:]
    for (column, name) in batch.columns.enumerated() {
      let cell = batch.cell(record, column)
      if cell.kind != .missing { named[name] = show(cell, of: batch) }
    }
    return ReadRecord(
      line: batch.line(record), byteOffset: batch.byteOffset(record), byteLength: batch.byteLength(record),
      raw: batch.rawBytes(record), problem: batch.problem(record),
      cells: (0..<batch.cellCount(record)).map { show(batch.cell(record, $0), of: batch) }, named: named)
  }
}

/// Reads a text as a file of this name.
func read(
  _ text: String, as name: String = "a.csv", _ options: ReaderOptions = ReaderOptions(), limit: Int = 1_000,
  blockSize: Int = 256 << 10
) throws -> ReadResult {
  try SourceFile(Array(text.utf8), name: name).read(options, limit: limit, blockSize: blockSize)
}

/// Pseudorandom numbers that are the same in every run.
struct Dice {
  private var state: UInt64

  init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 | 1 }

  /// A number from 0 up to, but not including, the limit.
  mutating func roll(_ limit: Int) -> Int {
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    return Int(state >> 11) % limit
  }

  mutating func pick<T>(_ choices: [T]) -> T { choices[roll(choices.count)] }
}
