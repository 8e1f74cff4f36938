import Testing

@testable import Importing

@Suite("Scanning bytes")
struct ByteScanningTests {
  /// Bytes close to the searched ones, for which arithmetic on whole words could go wrong.
  static let alphabet: [UInt8] = [0, 1, 9, 10, 11, 0x2B, 0x2C, 0x2D, 0x7F, 0x80, 0x81, 0x8A, 0xAC, 0xFF]

  @Test("scanning eight bytes at a time finds the same as one byte at a time", arguments: 0..<20)
  func scanning(seed: UInt64) {
    var dice = Dice(seed: seed + 7)
    for _ in 0..<200 {
      let bytes = (0..<dice.roll(40)).map { _ in dice.pick(Self.alphabet) } + [UInt8](repeating: 0x41, count: 16)
      let count = bytes.count - 16
      bytes.withUnsafeBufferPointer { buffer in
        guard let start = buffer.baseAddress else { return }
        let end = start + count
        let found = Bytes.count(10, from: start, to: end)
        #expect(found.count == bytes.prefix(count).count { $0 == 10 })
        #expect(found.last.map { $0 - start } == bytes.prefix(count).lastIndex(of: 10))
        let special = bytes.prefix(count).firstIndex { $0 == 0 || $0 >= 0x80 } ?? count
        #expect(Bytes.firstSpecial(from: start, to: end) - start == special)
        let mask = Bytes.mask(Bytes.load(start), of: Bytes.repeated(10), or: Bytes.repeated(0x2C))
        for index in 0..<8 {
          let isMatch = bytes[index] == 10 || bytes[index] == 0x2C
          #expect(mask >> UInt64(index * 8) & 0xFF == (isMatch ? 0x80 : 0))
        }
      }
    }
  }

  @Test("UTF-8 is validated like the standard library does", arguments: 0..<20)
  func utf8(seed: UInt64) {
    var dice = Dice(seed: seed + 70)
    let pieces: [[UInt8]] = [
      [0x41], Array("é".utf8), Array("日".utf8), Array("😀".utf8), [0x80], [0xC3], [0xE2, 0x82], [0xED, 0xA0, 0x80],
      [0xF4, 0x90, 0x80, 0x80], [0xC1, 0xBF], [0xE0, 0x9F, 0xBF], [0xF0, 0x8F, 0xBF, 0xBF], [0xFE],
    ]
    for _ in 0..<500 {
      let bytes = (0..<dice.roll(8)).flatMap { _ in dice.roll(3) > 0 ? pieces[dice.roll(4)] : dice.pick(pieces) }
      let problem = (bytes + [0]).withUnsafeBufferPointer { buffer in
        buffer.baseAddress.flatMap { TextValidator.validate(from: $0, to: $0 + bytes.count) }
      }
      #expect((problem == nil) == (String(validating: bytes, as: UTF8.self) != nil), "\(bytes)")
    }
  }
}
