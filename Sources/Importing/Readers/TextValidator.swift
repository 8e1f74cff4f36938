// Every record's text is valid UTF-8 without zero bytes, or the record has a problem. Most files have long stretches of
// ASCII: the validator finds the next other byte once, and until then a record costs one comparison.

/// Checks records for their encoding as they come, in order.
struct TextValidator {
  /// Offset in the file before which all bytes, from the last record checked, are plain ASCII.
  private var plainUntil: Int64 = 0
  /// The original encoding of the source.
  private let encoding: TextEncoding

  init(encoding: TextEncoding) { self.encoding = encoding }

  /// The fault in the text of a record; nil if there is none.
  ///
  /// - Parameters:
  ///   - offset: where `start` is in the file.
  ///   - horizon: how far the validator may look ahead: at least to the record's end.
  @inline(__always)
  mutating func check(
    from start: BytePointer, to end: BytePointer, horizon: BytePointer, offset: Int64
  ) -> RecordProblem? {
    if offset &+ Int64(end - start) <= plainUntil { return nil }
    return look(from: start, to: end, horizon: horizon, offset: offset)
  }

  @inline(never)
  private mutating func look(
    from start: BytePointer, to end: BytePointer, horizon: BytePointer, offset: Int64
  ) -> RecordProblem? {
    let known = Int(max(0, plainUntil - offset))
    let special = Bytes.firstSpecial(from: start + min(known, horizon - start), to: horizon)
    plainUntil = offset + Int64(special - start)
    guard special < end, let problem = Self.validate(from: special, to: end) else { return nil }
    return problem == .invalidUTF8 && encoding != .utf8 ? .invalidText(encoding) : problem
  }

  /// The same for any text. Well-formed as in table 3-7 of the Unicode Standard.
  static func validate(from start: BytePointer, to end: BytePointer) -> RecordProblem? {
    var place = Bytes.firstSpecial(from: start, to: end)
    while place < end {
      let lead = place.pointee
      if lead < 0x80 {
        if lead == 0 { return .nulByte }
        place = Bytes.firstSpecial(from: place + 1, to: end)
        continue
      }
      let length: Int
      var second: ClosedRange<UInt8> = 0x80...0xBF
      switch lead {
      case 0xC2...0xDF: length = 2
      case 0xE0: (length, second) = (3, 0xA0...0xBF)
      case 0xE1...0xEC, 0xEE, 0xEF: length = 3
      case 0xED: (length, second) = (3, 0x80...0x9F)
      case 0xF0: (length, second) = (4, 0x90...0xBF)
      case 0xF1...0xF3: length = 4
      case 0xF4: (length, second) = (4, 0x80...0x8F)
      default: return .invalidUTF8
      }
      guard end - place >= length, second.contains(place[1]) else { return .invalidUTF8 }
      for index in 2..<max(2, length) where place[index] & 0xC0 != 0x80 { return .invalidUTF8 }
      place += length
    }
    return nil
  }
}
