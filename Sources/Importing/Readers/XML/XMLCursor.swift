/// A position between the tokens of an XML document that is read through a window, outside of records. It keeps the names
/// of the open elements, and needs memory for one tag only.
final class XMLCursor {
  enum Event {
    /// An element begins here; it isn't consumed, `enter` does that.
    case element(name: String)
    /// An element has ended and was removed from the open ones.
    case end
    /// The document has ended.
    case finished
  }

  let document: DocumentCursor
  /// Names of the open elements, the document's first.
  private(set) var open: [String] = []
  /// Whether the document's element has begun.
  private(set) var hasBegun = false
  private var scanner = XMLScanner()
  private var hasDoctype = false
  private var tag: (length: Int, isEmpty: Bool) = (0, false)

  init(document: DocumentCursor) { self.document = document }

  /// Moves to a place where these elements are open.
  func seek(to offset: Int64, line: Int64, column: Int64, open: [String], hasBegun: Bool) throws(ReaderError) {
    try document.seek(to: offset, line: line, column: column)
    self.open = open
    self.hasBegun = hasBegun
    hasDoctype = false
  }

  /// Moves to the next element, or past the end of the open one. Skips texts and comments.
  func next() throws(ReaderError) -> Event {
    while true {
      guard let byte = try document.peek() else {
        guard open.isEmpty, hasBegun else { throw fault(.unexpectedEnd) }
        return .finished
      }
      guard byte == XMLScanner.open else {
        guard !open.isEmpty else { throw fault(.textOutside) }
        let (start, end) = document.waiting
        document.advance((Bytes.find(XMLScanner.open, from: start, to: end) ?? end) - start)
        continue
      }
      if let event = try markup() { return event }
    }
  }

  /// Enters the element that `next` found.
  func enter(_ name: String) {
    document.advance(tag.length)
    hasBegun = true
    if !tag.isEmpty { open.append(name) }
  }

  /// Whether the element that `next` found is an empty tag, which has no end.
  var isEmpty: Bool { tag.isEmpty }

  /// Records that the caller has consumed an element itself.
  func passed() { hasBegun = true }

  /// Skips the element that `next` found, whatever its length.
  func skip(_ name: String) throws(ReaderError) {
    let depth = open.count
    enter(name)
    while open.count > depth {
      if case .element(let inner) = try next() { enter(inner) }
    }
  }

  /// Reads more of the file, where it can't end. At most one token is held in memory.
  func more() throws(ReaderError) {
    guard document.window.unread <= document.maximumTokenBytes else { throw fault(.tooLong) }
    let final = document.window.atEnd
    if try !document.window.fill(), final {
      throw document.fault(XMLMistake.unexpectedEnd.description, after: document.window.unread)
    }
  }

  func fault(_ mistake: XMLMistake, after distance: Int = 0) -> ReaderError {
    if mistake == .tooManyColumns { return .tooManyColumns(limit: ReaderOptions.maximumColumns) }
    return document.fault(mistake.description, after: distance)
  }

  /// Handles the markup that begins here; nil if it was skipped.
  private func markup() throws(ReaderError) -> Event? {
    while true {
      let waiting = document.waiting
      if try passOver(waiting.0, waiting.1) { return nil }
      // Looking for a comment may have read more of the file, which moves the unread bytes.
      let (start, end) = document.waiting
      switch scanner.next(start, end) {
      case .more: try more()
      case .mistake(let mistake, let place): throw fault(mistake, after: place - start)
      case .token(.start(let name, let isEmpty), let stop):
        if open.isEmpty, hasBegun { throw fault(.secondRoot) }
        guard open.count < XMLMistake.maximumDepth else { throw fault(.tooDeep) }
        tag = (stop - start, isEmpty)
        return .element(name: String(decoding: name, as: UTF8.self))
      case .token(.end(let name), let stop):
        guard let last = open.last, name.elementsEqual(last.utf8) else { throw fault(.wrongEndTag) }
        open.removeLast()
        document.advance(stop - start)
        return .end
      case .token(.doctype, let stop):
        guard !hasBegun, !hasDoctype else { throw fault(.misplacedDoctype) }
        hasDoctype = true
        document.advance(stop - start)
        try passDoctype()
        return nil
      case .token(_, let stop):
        document.advance(stop - start)
        return nil
      }
    }
  }

  /// Skips a comment, an instruction or a CDATA section of any length. False if none begins here.
  private func passOver(_ start: BytePointer, _ end: BytePointer) throws(ReaderError) -> Bool {
    guard document.window.unread >= XMLScanner.literal.count || document.window.atEnd else {
      try more()
      let (start, end) = document.waiting
      return try passOver(start, end)
    }
    let kinds: [([UInt8], StaticString)] = [
      (XMLScanner.comment, "--"), (XMLScanner.literal, "]]"), ([XMLScanner.open, UInt8(ascii: "?")], "?"),
    ]
    for (opening, closing) in kinds where XMLScanner.begins(start, end, opening) == true {
      if opening == XMLScanner.literal, open.isEmpty { throw fault(.textOutside) }
      document.advance(opening.count)
      while true {
        let (start, end) = document.waiting
        if let stop = XMLScanner.find(closing, from: start, to: end) {
          document.advance(stop - start)
          return true
        }
        // Bytes that may begin the closing stay.
        document.advance(max(0, end - start - closing.utf8CodeUnitCount))
        try more()
      }
    }
    return false
  }

  /// Skips the rest of a document type, after `<!DOCTYPE`. The external part that it names is never read.
  private func passDoctype() throws(ReaderError) {
    var quote: UInt8?
    while true {
      let (start, end) = document.waiting
      var place = start
      while place < end {
        let byte = place.pointee
        if let open = quote {
          if byte == open { quote = nil }
        } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
          quote = byte
        } else if byte == UInt8(ascii: "[") {
          throw fault(.ownDeclarations, after: place - start)
        } else if byte == XMLScanner.close {
          return document.advance(place + 1 - start)
        }
        place += 1
      }
      document.advance(end - start)
      try more()
    }
  }
}

// An element as a record: held in memory as a whole up to a limit, skipped if it is longer.

extension XMLCursor {
  /// Reads the element that `next` found into the tree, consuming nothing; returns its length, or nil if that is more
  /// than the limit. It never looks further than a record may reach, so the result doesn't depend on block boundaries.
  func read(into tree: inout XMLTree, limit: Int) throws(ReaderError) -> Int? {
    while true {
      let (start, end) = document.waiting
      switch tree.parse(start, min(end, start + limit + 1), depth: open.count) {
      case .mistake(let mistake, let place): throw fault(mistake, after: place - start)
      case .token(_, let place) where place - start <= limit: return place - start
      case .more where end - start <= limit:
        let final = document.window.atEnd
        if try !document.window.fill(), final {
          throw document.fault(XMLMistake.unexpectedEnd.description, after: document.window.unread)
        }
      case .token, .more: return nil
      }
    }
  }

  /// Keeps the beginning of the element that `next` found as a record that is too long, and skips it.
  func skip(_ name: String, into batch: RecordBatch, limit: Int) throws(ReaderError) {
    _ = try document.window.fill(until: RecordBatch.keptBytes)
    let beginning = Array(document.window.bytes.prefix(RecordBatch.keptBytes))
    let (line, offset) = (document.line, document.window.offset)
    try skip(name)
    batch.finishTooLong(
      beginning: beginning, line: line, byteOffset: offset, byteLength: Int(document.window.offset - offset),
      limit: limit)
  }
}

extension String {
  /// The parts between an ASCII separator, without empty ones. By scalars: an element's name may begin with a combining accent,
  /// which Swift counts as part of the character before it.
  func parts(between separator: Unicode.Scalar) -> [String] {
    unicodeScalars.split(separator: separator).map { String($0) }
  }
}
