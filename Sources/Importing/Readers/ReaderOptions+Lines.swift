extension ReaderOptions {
  /// Refuses options of line-based formats that no reader could work with.
  func validateLines(delimiter: UInt8?, quote: UInt8?) throws(ReaderError) {
    let escape = try Self.byte(escape, of: "escape")
    if let escape, escape == delimiter {
      throw .invalidOption(name: "escape", reason: "it is the same as the delimiter")
    }
    if tsvEscapes, escape != nil, escape != UInt8(ascii: "\\") {
      throw .invalidOption(name: "escape", reason: "with tsvEscapes it is the backslash")
    }
    if tsvEscapes, delimiter == UInt8(ascii: "\\") {
      throw .invalidOption(name: "delimiter", reason: "with tsvEscapes the backslash begins an escape")
    }
    guard (0...1_000_000).contains(skipLines) else {
      throw .invalidOption(name: "skipLines", reason: "it must be between 0 and 1,000,000")
    }
    if let comment {
      guard (1...16).contains(comment.utf8.count), !comment.utf8.contains(where: { $0 == 10 || $0 == 13 || $0 == 0 })
      else {
        throw .invalidOption(name: "comment", reason: "“\(comment)” isn't 1 to 16 bytes, or it ends a line")
      }
      if let first = comment.utf8.first, first == delimiter || first == quote || first == escape {
        throw .invalidOption(name: "comment", reason: "it begins with the delimiter, the quote or the escape")
      }
    }
    try fixedWidth?.validate()
    if format == .fixedWidth, fixedWidth == nil {
      throw .invalidOption(name: "fixedWidth", reason: "the format needs the columns, with their names and widths")
    }
  }

  /// Refuses a table and a query at once, and what is neither.
  func validateQuery() throws(ReaderError) {
    if table != nil, query != nil {
      throw .invalidOption(name: "query", reason: "there is a table as well; give one of them")
    }
    for (name, text) in [("table", table), ("query", query)] {
      guard let text else { continue }
      guard (1...(64 << 10)).contains(text.utf8.count), !text.utf8.contains(0) else {
        throw .invalidOption(name: name, reason: "it is empty, longer than 64 KiB, or has a zero byte in it")
      }
    }
  }

  /// Refuses a name or path of elements that no element can have.
  func validateRecord() throws(ReaderError) {
    guard let record else { return }
    let names = record.unicodeScalars.split(separator: "/", omittingEmptySubsequences: false)
    guard !record.isEmpty, !record.contains(where: \.isWhitespace), !names.dropFirst().contains(where: \.isEmpty),
      names.count <= XMLMistake.maximumDepth
    else { throw .invalidOption(name: "record", reason: "“\(record)” isn't a name, or names with slashes between") }
  }
}

extension SourceWindow {
  /// Passes over lines, however long they are; returns how many there were, if the file has fewer.
  func skipLines(_ count: Int, endingWith newline: UInt8) throws(ReaderError) -> Int64 {
    var passed: Int64 = 0
    while passed < count {
      let start = BytePointer(base + head)
      if let found = Bytes.find(newline, from: start, to: start + unread) {
        consume(found - start + 1)
        passed += 1
        continue
      }
      consume(unread)
      if try !fill() { break }
    }
    return passed
  }

  /// Whether a comment begins here: nil if too little of the file is in memory to say.
  func begins(with comment: [UInt8], at start: BytePointer, tail: BytePointer, final: Bool) -> Bool? {
    guard !comment.isEmpty else { return false }
    for (index, byte) in comment.enumerated() {
      guard start + index < tail else { return final ? false : nil }
      if start[index] != byte { return false }
    }
    return true
  }
}
