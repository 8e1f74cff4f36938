import Foundation
import Testing

@testable import Importing

/// The expected outcome for a hostile file.
enum HostileEnd: Sendable {
  /// The import fails with a message that contains all of these.
  case fails([String])
  /// The import ends with these people, besides those named p and a number; this many records are rejected, and
  /// the reject file contains all of these.
  case imports([String], rejected: Int64 = 0, [String] = [])
  /// Either of the two.
  indirect case either(HostileEnd, HostileEnd)
}

/// Imports a hostile file into a store of its own, in a process that does nothing else, and measures its memory.
enum HostileImport {
  /// MiB that an import may take beyond what the process had: a record of 16 MiB, twice in the window while that grows,
  /// and in the batch.
  static let allowance = 160

  /// - Parameter write: writes the file.
  static func run(
    _ name: String, _ end: HostileEnd, reader: ReaderOptions = ReaderOptions(), write: (URL) throws -> Void
  ) throws {
    let room = try ImportRoom(.memory)
    try write(room.file(name))
    room.isSourceKept = true
    try PeakMemory.forget()
    let before = PeakMemory.now
    var message: String?
    var rejected: Int64 = 0
    do {
      rejected = try room.run("", as: name, reader: reader).counts.rejected
    } catch let error as ReaderError {
      message = "\(error)"
    }
    let grown = PeakMemory.most - before
    #expect(grown < allowance, "\(name) took \(grown) MiB")
    let people = try room.rows("code").filter { !$0.hasPrefix("p") }
    let outcome = Outcome(message: message, people: people, rejected: rejected, refused: room.rejects() ?? "")
    #expect(outcome.is(end), "\(name) ended with \(outcome)")
  }

  private struct Outcome: CustomStringConvertible {
    let message: String?
    let people: [String]
    let rejected: Int64
    let refused: String

    var description: String { "\(message ?? "no error"), \(people.prefix(5)), \(rejected): \(refused.prefix(300))" }

    func `is`(_ end: HostileEnd) -> Bool {
      switch end {
      case .fails(let words): message.map { words.allSatisfy($0.contains) } ?? false
      case .imports(let people, let count, let words):
        message == nil && self.people == people && rejected == count && words.allSatisfy(refused.contains)
      case .either(let one, let other): self.is(one) || self.is(other)
      }
    }
  }
}

/// A file that is written piece by piece, with holes that read as zeros and take no disk space.
struct HoleyFile {
  private let handle: FileHandle

  init(_ url: URL) throws {
    guard FileManager.default.createFile(atPath: url.path, contents: nil) else {
      throw CocoaError(.fileWriteUnknown)
    }
    handle = try FileHandle(forWritingTo: url)
  }

  func write(_ text: String) throws { try handle.write(contentsOf: Data(text.utf8)) }
  func write(_ bytes: [UInt8], times: Int = 1) throws {
    for _ in 0..<times { try handle.write(contentsOf: Data(bytes)) }
  }

  /// A hole of this many bytes.
  func leave(_ count: UInt64) throws {
    let end = try handle.seekToEnd() + count
    try handle.truncate(atOffset: end)
    try handle.seekToEnd()
  }
}
