/// What the bytes of a CSV file mean.
struct CSVDialect {
  var delimiter: UInt8
  /// 0x100, which no byte equals, if quotes are ordinary text.
  var quote: UInt16
  /// Line feed; carriage return in a file that has no other.
  var newline: UInt8

  static let noQuote: UInt16 = 0x100
  static let lineFeed = UInt8(ascii: "\n")
  static let carriageReturn = UInt8(ascii: "\r")
  static let candidates: [UInt8] = [",", ";", "\t", "|"].map { UInt8(ascii: $0) }

  /// The dialect of a file that begins with these bytes.
  ///
  /// The delimiter, if none is given, is the candidate that the first line with anything in it has most of, outside
  /// quotes; a comma if it has none.
  init(sample: UnsafeBufferPointer<UInt8>, delimiter given: UInt8?, quote: UInt8?) {
    self.quote = quote.map(UInt16.init) ?? Self.noQuote
    newline =
      sample.contains(Self.carriageReturn) && !sample.contains(Self.lineFeed) ? Self.carriageReturn : Self.lineFeed
    delimiter = given ?? Self.candidates[0]
    if given == nil { delimiter = mostFrequent(in: sample) }
  }

  private func mostFrequent(in sample: UnsafeBufferPointer<UInt8>) -> UInt8 {
    var counts = [Int](repeating: 0, count: Self.candidates.count)
    var quoted = false
    var begun = false
    for byte in sample {
      if UInt16(byte) == quote {
        quoted.toggle()
        begun = true
      } else if !quoted {
        if byte == newline {
          if begun { break }
        } else if byte != Self.carriageReturn {
          begun = true
          if let index = Self.candidates.firstIndex(of: byte) { counts[index] += 1 }
        }
      }
    }
    var best = 0
    for index in counts.indices where counts[index] > counts[best] { best = index }
    return Self.candidates[best]
  }
}
