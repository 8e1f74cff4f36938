import Glibc

/// What each byte of an eight-bit encoding is in UTF-8. A byte that means nothing is itself: alone, from 0x80 on, it is
/// no valid UTF-8, so that the record it stands in is found to be wrong.
final class SingleByteTable: Sendable {
  /// Up to three bytes, the first lowest, and how many in the top eight bits.
  let entries: [UInt32]

  /// Windows-1252 is Latin-1 but for these; zero where it has no character.
  private static let windows1252: [UInt32] = [
    0x20AC, 0, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0, 0x017D, 0,
    0, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0, 0x017E,
    0x0178,
  ]

  /// - Throws: `invalidOption` if the system lacks the encoding's table, for all but the two that are here.
  init(_ encoding: TextEncoding) throws(ReaderError) {
    var scalars = (0..<256).map { UInt32($0) }
    switch encoding {
    case .latin1: break
    case .windows1252: scalars.replaceSubrange(0x80..<0xA0, with: Self.windows1252)
    default: scalars = try Self.system(encoding)
    }
    entries = scalars.enumerated().map { byte, scalar in
      guard byte == 0 || scalar != 0, let known = Unicode.Scalar(scalar) else { return UInt32(byte) | 1 << 24 }
      let bytes = Array(UTF8.encode(known) ?? .init())
      return bytes.reversed().reduce(0) { $0 << 8 | UInt32($1) } | UInt32(bytes.count) << 24
    }
  }

  /// glibc's own table, byte by byte; zero where it has no character.
  private static func system(_ encoding: TextEncoding) throws(ReaderError) -> [UInt32] {
    let name =
      encoding.rawValue.hasPrefix("windows-") ? "CP" + encoding.rawValue.dropFirst(8) : encoding.rawValue.uppercased()
    let converter = iconv_open("UTF-32LE", name)
    guard let converter, Int(bitPattern: converter) != -1 else {
      throw .invalidOption(name: "encoding", reason: "this system has no table for \(encoding.rawValue)")
    }
    defer { iconv_close(converter) }
    return (0..<256).map { byte in
      var source = CChar(bitPattern: UInt8(byte))
      var scalar: UInt32 = 0
      let isKnown = withUnsafeMutablePointer(to: &source) { source in
        withUnsafeMutableBytes(of: &scalar) { target in
          var input: UnsafeMutablePointer<CChar>? = source
          var output = target.baseAddress?.assumingMemoryBound(to: CChar.self)
          var inputLeft = 1
          var outputLeft = 4
          iconv(converter, nil, nil, nil, nil)
          return iconv(converter, &input, &inputLeft, &output, &outputLeft) != Int(bitPattern: UInt.max)
            && outputLeft == 0
        }
      }
      return isKnown ? UInt32(littleEndian: scalar) : 0
    }
  }
}
