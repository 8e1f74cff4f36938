import Testing

@testable import Importing

@Suite("A text with a trailer")
struct TrailerSourceTests {
  /// Bytes in memory.
  private final class Memory: ByteSource {
    private let bytes: [UInt8]
    private(set) var offset: Int64 = 0
    init(_ text: String) { bytes = Array(text.utf8) }
    var progress: (done: Int64, total: Int64) { (offset, Int64(bytes.count)) }
    func rewind() { offset = 0 }
    func read(into target: UnsafeMutablePointer<UInt8>, count: Int) -> Int {
      let some = bytes[Int(offset)...].prefix(count)
      for (index, byte) in some.enumerated() { target[index] = byte }
      offset += Int64(some.count)
      return some.count
    }
  }

  private func read(_ text: String, block: Int) throws -> (text: String, line: String) {
    let source = TrailerSource(Memory(text), blockSize: block)
    let rest = String(decoding: try source.readSample(text.utf8.count + 1), as: UTF8.self)
    let line = try #require(source.line)
    return (rest, String(decoding: line, as: UTF8.self))
  }

  @Test("is read without its last line, whatever the blocks", arguments: [1, 7, 64, 1 << 17])
  func lines(block: Int) throws {
    let long = String(repeating: "0123456789,some text\n", count: 10_000)
    for (text, rest, line) in [
      ("a,b\n1,2\nT,1\n", "a,b\n1,2\n", "T,1"), ("a\r\n1\r\nT 1\r\n\r\n\n", "a\r\n1\r\n", "T 1"), ("a\nT", "a\n", "T"),
      ("T", "", "T"), ("", "", ""), (long + "10000", long, "10000"), (long + "10000\n", long, "10000"),
    ] {
      let found = try read(text, block: block)
      #expect(found.text == rest)
      #expect(found.line == line)
    }
  }

  @Test("is refused if that line is longer than is held back")
  func tooLong() {
    let text = "a\n" + String(repeating: "x", count: 3 * TrailerSource.longest)
    #expect(throws: ReaderError.self) { try read(text, block: 1 << 10) }
  }

  @Test("can be read again from any place")
  func seeking() throws {
    let source = TrailerSource(Memory("abc\ndef\nT\n"), blockSize: 4)
    _ = try source.readSample(100)
    #expect(try source.seek(to: 4))
    #expect(String(decoding: try source.readSample(100), as: UTF8.self) == "def\n")
    // Where the last record ends, only the last line is left.
    #expect(try source.seek(to: 8))
    #expect(try source.readSample(100).isEmpty && source.line == Array("T".utf8))
    try source.rewind()
    #expect(String(decoding: try source.readSample(3), as: UTF8.self) == "abc")
  }
}
