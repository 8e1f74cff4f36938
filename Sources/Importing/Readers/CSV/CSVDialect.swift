/// The meaning of bytes in a CSV file.
struct CSVDialect {
  var delimiter: UInt8
  /// 0x100, which no byte equals, if quotes are ordinary text.
  var quote: UInt16
  /// Line feed; carriage return in a file that has no other.
  var newline: UInt8
  /// The byte that makes the byte after it text.
  var escape: UInt8?
  /// Whether a letter after the escape is a control character or null, and nothing is quoted.
  var hasLetterEscapes = false
  /// The beginning of a comment line. Empty: there are none.
  var comment: [UInt8] = []

  /// Whether only delimiters, quotes and line ends have a meaning.
  var isPlain: Bool { escape == nil && comment.isEmpty }

  static let noQuote: UInt16 = 0x100
  static let lineFeed = UInt8(ascii: "\n")
  static let carriageReturn = UInt8(ascii: "\r")
  static let candidates: [UInt8] = [",", ";", "\t", "|"].map { UInt8(ascii: $0) }

  /// The dialect of a file that begins with these bytes.
  ///
  /// The delimiter, if none is given, is the most frequent candidate in the first line that isn't empty, outside of
  /// quotes; a comma if there is none.
  init(
    sample: UnsafeBufferPointer<UInt8>, newline: UInt8, delimiter given: UInt8?, options: ReaderOptions
  ) throws(ReaderError) {
    let quote = try ReaderOptions.byte(options.quote, of: "quote")
    self.quote = options.tsvEscapes ? Self.noQuote : quote.map(UInt16.init) ?? Self.noQuote
    self.newline = newline
    hasLetterEscapes = options.tsvEscapes
    escape = options.tsvEscapes ? UInt8(ascii: "\\") : try ReaderOptions.byte(options.escape, of: "escape")
    if let escape, UInt16(escape) == self.quote { self.escape = nil }
    comment = options.comment.map { Array($0.utf8) } ?? []
    delimiter = given ?? Self.candidates[0]
    if given == nil { delimiter = mostFrequent(in: sample) }
  }

  /// The line end of a file that begins with these bytes.
  static func newline(of sample: UnsafeBufferPointer<UInt8>) -> UInt8 {
    sample.contains(carriageReturn) && !sample.contains(lineFeed) ? carriageReturn : lineFeed
  }

  /// The delimiter that a first line `sep=;` names, as Excel writes and reads it; nil if the first line is another.
  static func separatorLine(_ sample: UnsafeBufferPointer<UInt8>, newline: UInt8) -> UInt8? {
    let word = "sep=".utf8
    guard sample.count > word.count + 1, zip(sample, word).allSatisfy({ $0 | 0x20 == $1 | 0x20 }) else { return nil }
    let separator = sample[word.count]
    guard separator == UInt8(ascii: "\t") || isPunctuation(separator) else { return nil }
    let end = sample[word.count + 1]
    if end == newline { return separator }
    guard end == carriageReturn, sample.count > word.count + 2, sample[word.count + 2] == newline else { return nil }
    return separator
  }

  /// Whether a byte is printable and neither a letter, a digit nor a quote.
  private static func isPunctuation(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "a")...UInt8(ascii: "z"):
      return false
    case UInt8(ascii: "\""), UInt8(ascii: "'"): return false
    default: return (0x20...0x7E).contains(byte)
    }
  }

  private func mostFrequent(in sample: UnsafeBufferPointer<UInt8>) -> UInt8 {
    var counts = [Int](repeating: 0, count: Self.candidates.count)
    var quoted = false
    var begun = false
    var isEscaped = false
    var isComment = false
    for (index, byte) in sample.enumerated() {
      if index == 0 || sample[index - 1] == newline, !quoted, !begun, !comment.isEmpty {
        isComment = sample.dropFirst(index).starts(with: comment)
      }
      if isComment || isEscaped {
        isEscaped = false
      } else if byte == escape {
        isEscaped = true
        begun = true
      } else if UInt16(byte) == quote {
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
