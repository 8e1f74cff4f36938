import Foundation
import TestSupport
import Testing

@testable import Importing

/// pyarrow, where it is installed.
enum PyArrow {
  static let python = URL(fileURLWithPath: "/usr/bin/env")

  /// Whether a module of Python's is there.
  static func has(_ module: String) -> Bool {
    (try? ProgramOutput.now(python, ["python3", "-c", "import \(module)"]))?.status == 0
  }

  static let isThere = has("pyarrow")
}

@Suite(
  "What pyarrow writes", .enabled(if: PyArrow.isThere, "pyarrow isn't installed: pip install pyarrow"),
  .timeLimit(.minutes(60)))
struct PyArrowTests {
  @Test("is read with all values, in every encoding, compression and version of pages")
  func variants() throws {
    let folder = try ScratchDirectory()
    let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let script = tests.appendingPathComponent("Resources/variants.py")
    let run = try ProgramOutput.now(PyArrow.python, ["python3", script.path, folder.url.path])
    #expect(run.status == 0, "\(run.error)")
    let names = run.text.split(separator: "\n").map(String.init)
    #expect(names.count > 40)
    for name in names {
      let expected = try String(contentsOf: folder.file(name + ".json"), encoding: .utf8)
        .split(separator: "\n").map { try Self.json(Array($0.utf8)) }
      let descriptor = open(folder.file(name).path, O_RDONLY)
      defer { close(descriptor) }
      let reader = try openReader(fileDescriptor: descriptor, name: name, options: ReaderOptions(), from: nil)
      let batch = RecordBatch()
      var found: [[String: NSObject]] = []
      while try reader.read(into: batch, limit: 100) {
        for record in 0..<batch.count { found.append(try Self.json(batch.rawBytes(record))) }
      }
      #expect(found.count == expected.count, "\(name)")
      for (index, (one, other)) in zip(found, expected).enumerated() where one != other {
        let columns = other.keys.filter { one[$0] != other[$0] }.sorted()
        Issue.record(
          "\(name), row \(index): \(columns.map { "\($0) \(String(describing: one[$0])) \(String(describing: other[$0]))" })"
        )
        break
      }
    }
  }

  /// The columns of an object; numbers by their values.
  private static func json(_ bytes: [UInt8]) throws -> [String: NSObject] {
    let object = try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any]
    return try #require(object).compactMapValues { $0 as? NSObject }
  }
}
