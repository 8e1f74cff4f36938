/// The texts of a workbook that cells refer to by number. The part is read as far as cells need it, and its texts are kept for
/// later cells: a few MiB in memory, the rest in a temporary file. Of a text, phonetic guides and the looks of its parts are
/// left out.
final class SharedStrings {
  private let part: PartReader?
  private let maximumBytes: Int
  /// All texts, one after the other.
  private let texts = SpilledBytes(slots: 128)
  /// Where each of them ends.
  private let ends = SpilledBytes(slots: 32)
  private var hasBegun = false
  private var hasEnded = false
  private var scratch: [UInt8] = []

  /// - Parameters:
  ///   - part: the part; nil if the workbook has none.
  ///   - maximumBytes: the length of the longest text.
  init(_ part: PartReader?, maximumBytes: Int) {
    self.part = part
    self.maximumBytes = maximumBytes
  }

  /// The texts read so far.
  var count: Int64 { ends.count / 8 }

  /// Appends a text; false if there is none of this number.
  func append(_ index: Int64, to output: inout [UInt8]) throws(ReaderError) -> Bool {
    guard index >= 0 else { return false }
    while count <= index {
      guard try readNext() else { return false }
    }
    let start = index == 0 ? 0 : try ends.number(at: (index - 1) * 8)
    let end = try ends.number(at: index * 8)
    try texts.copy(from: start, count: Int(end - start), to: &output)
    return true
  }

  /// Reads the rest of a part that was begun, whose checksum is at its end.
  func finish() throws(ReaderError) {
    if hasBegun { try part?.finish() }
    hasEnded = true
  }

  private func readNext() throws(ReaderError) -> Bool {
    guard let part, !hasEnded else { return false }
    if !hasBegun {
      hasBegun = true
      guard case .start = try part.next(), part.isNamed("sst") else { throw part.fault("it has no texts") }
    }
    while try part.nextChild(at: 1) {
      guard part.isNamed("si") else {
        try part.skip()
        continue
      }
      scratch.removeAll(keepingCapacity: true)
      try part.readRichText(into: &scratch, limit: maximumBytes)
      try scratch.withUnsafeBufferPointer { (bytes) throws(ReaderError) in
        try texts.append(UnsafeRawBufferPointer(bytes))
      }
      try ends.append(number: texts.count)
      return true
    }
    hasEnded = true
    return false
  }
}

extension PartReader {
  /// Appends the text of the element that has begun, a `si` or `is`, to its end: that in its `t` elements, and in those of its
  /// runs, but not in phonetic guides.
  func readRichText(into output: inout [UInt8], limit: Int) throws(ReaderError) {
    let depth = self.depth
    let start = output.count
    while true {
      switch try next() {
      case .end: if self.depth < depth { return XString.decode(&output, from: start) }
      case .start:
        if isNamed("t") {
          try readText(into: &output, limit: limit)
        } else if !isNamed("r") {
          try skip()
        }
      case .text: break
      case .finished: return
      }
    }
  }

  /// Appends the text of the element that has begun, to its end.
  func readText(into output: inout [UInt8], limit: Int) throws(ReaderError) {
    let depth = self.depth
    let start = output.count
    while true {
      switch try next() {
      case .text:
        appendText(to: &output)
        guard output.count - start <= limit else { throw fault("a text is longer than \(limit) bytes") }
      case .start: try skip()
      case .end: if self.depth < depth { return }
      case .finished: return
      }
    }
  }
}

/// Texts of workbooks write characters that XML can't have, and underscores before what looks like one, as `_x000D_`.
/// Source: ECMA-376, part 1, 22.9.2.19 (ST_Xstring).
enum XString {
  /// Decodes the text from a place on.
  static func decode(_ bytes: inout [UInt8], from start: Int) {
    guard var place = escape(in: bytes, from: start) else { return }
    var decoded = Array(bytes[start..<place])
    var units: [UInt16] = []
    func flush() {
      decoded += Array(String(decoding: units, as: UTF16.self).utf8)
      units.removeAll()
    }
    while place < bytes.count {
      if let unit = unit(in: bytes, at: place) {
        units.append(unit)
        place += 7
        continue
      }
      if !units.isEmpty { flush() }
      decoded.append(bytes[place])
      place += 1
    }
    flush()
    bytes.replaceSubrange(start..., with: decoded)
  }

  /// The place of the first escape.
  private static func escape(in bytes: [UInt8], from start: Int) -> Int? {
    var place = start
    while place + 7 <= bytes.count {
      guard let found = bytes[place...].firstIndex(of: UInt8(ascii: "_")) else { return nil }
      if unit(in: bytes, at: found) != nil { return found }
      place = found + 1
    }
    return nil
  }

  private static func unit(in bytes: [UInt8], at place: Int) -> UInt16? {
    guard place + 7 <= bytes.count, bytes[place] == UInt8(ascii: "_"), bytes[place + 1] == UInt8(ascii: "x"),
      bytes[place + 6] == UInt8(ascii: "_")
    else { return nil }
    var unit: UInt16 = 0
    for byte in bytes[(place + 2)..<(place + 6)] {
      guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue else { return nil }
      unit = unit << 4 | UInt16(digit)
    }
    return unit
  }
}
