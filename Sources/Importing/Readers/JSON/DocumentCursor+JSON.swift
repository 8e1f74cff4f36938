extension DocumentCursor {
  /// The next byte that isn't white space, where the document can't end.
  func next() throws(ReaderError) -> UInt8 {
    guard let byte = try peek() else { throw fault(.unexpectedEnd, after: 0) }
    return byte
  }

  /// Consumes a key and its colon, which should begin at the next byte.
  func key() throws(ReaderError) -> String {
    guard try next() == JSONToken.quote else { throw fault(.expectedKey, after: 0) }
    while true {
      let (start, end) = waiting
      var escaped = false
      switch JSONToken.string(start + 1, end, escaped: &escaped) {
      case .end(let next):
        let text = UnsafeBufferPointer(start: start + 1, count: next - start - 2)
        let key = String(unsafeUninitializedCapacity: text.count) { buffer in
          buffer.baseAddress.map { JSONString.unescape(text, to: $0) } ?? 0
        }
        advance(next - start)
        guard try self.next() == UInt8(ascii: ":") else { throw fault(.expectedColon, after: 0) }
        advance(1)
        return key
      case .more(let place): try more(after: place - start)
      case .mistake(let mistake, let place): throw fault(mistake, after: place - start)
      }
    }
  }

  /// Skips the walker's value, whatever its length.
  func skip(_ walker: JSONWalker) throws(ReaderError) {
    var walker = walker
    while true {
      let (start, end) = waiting
      switch walker.walk(from: start, to: end, final: window.atEnd) {
      case .end(let place):
        advance(place - start)
        return
      case .more(let place):
        advance(place - start)
        try more(after: 0)
      case .mistake(let mistake, let place): throw fault(mistake, after: place - start)
      }
    }
  }

  /// Reads more of the file, where it can't end.
  func more(after distance: Int) throws(ReaderError) {
    guard window.unread <= maximumTokenBytes else { throw fault(.tooLong, after: 0) }
    let final = window.atEnd
    if try !window.fill(), final { throw fault(.unexpectedEnd, after: window.unread) }
  }

  /// The error for a mistake at a distance in bytes.
  func fault(_ mistake: JSONMistake, after distance: Int) -> ReaderError {
    if mistake == .tooManyKeys { return .tooManyColumns(limit: ReaderOptions.maximumColumns) }
    return fault(mistake.description, after: distance)
  }
}

extension DocumentCursor {
  private static let open = UInt8(ascii: "[")
  private static let brace = UInt8(ascii: "{")

  /// From the beginning of a document, enters what stands under a key path: moves past the opening bracket of an array, or
  /// of an object whose members are the records, and before an object that is one.
  /// - Parameter areMembers: whether the records of an object are its members.
  func enterRecords(at path: [String], areMembers: Bool) throws(ReaderError) -> JSONRecordPlace.Shape {
    for (depth, wanted) in path.enumerated() {
      let before = path[..<depth].joined(separator: ".")
      let byte = try next()
      guard byte == Self.brace else {
        throw .notAnArray(path: before, found: JSONToken.kind(of: byte))
      }
      advance(1)
      try enterValue(of: wanted, path: path, depth: depth)
    }
    let byte = try next()
    switch byte {
    case Self.open where areMembers:
      throw .invalidOption(
        name: JSONFormat.keyColumnKey, reason: "the records are elements of an array, which have no keys: leave it out")
    case Self.open:
      advance(1)
      return .elements
    case Self.brace where areMembers:
      advance(1)
      return .members
    case Self.brace: return .document
    default:
      if let mistake = mistakeInValue(byte) { throw mistake }
      throw .notAnArray(path: path.joined(separator: "."), found: JSONToken.kind(of: byte))
    }
  }

  /// Where the records of a document are, if no `root` is given: the document itself if it is an array, otherwise its only
  /// top-level value that is an array of objects. Without one, they are the members of the document if those look alike,
  /// and otherwise the document is one record. If another object follows, each is one.
  ///
  /// Reads the whole document to make sure that there is no other place; a mistake after such a place is left for the
  /// reading to report.
  func findRecords() throws(ReaderError) -> JSONRecordPlace {
    let byte = try next()
    if byte == Self.open { return JSONRecordPlace(path: [], shape: .elements) }
    guard byte == Self.brace else {
      if let mistake = mistakeInValue(byte) { throw mistake }
      throw .notAnArray(path: "", found: JSONToken.kind(of: byte))
    }
    advance(1)
    var survey = JSONSurvey()
    do throws(ReaderError) {
      try eachKey { key throws(ReaderError) in
        survey.add(key)
        switch try next() {
        case Self.open:
          advance(1)
          switch try next() {
          case Self.brace: survey.noteArray(key, isEmpty: false)
          case UInt8(ascii: "]"): survey.noteArray(key, isEmpty: true)
          default: break
          }
          try skip(JSONWalker(restOfArrayAt: 1))
        case Self.brace where survey.mayBeMembers:
          advance(1)
          var keys = JSONSurvey.Keys()
          try eachKey { inner throws(ReaderError) in
            survey.note(inner, in: &keys)
            try skip(JSONWalker(depth: 2))
            return true
          }
          survey.noteObject(keys)
        default: try skip(JSONWalker(depth: 1))
        }
        return true
      }
    } catch {
      guard case .malformed = error, survey.isSettledBeforeMistake() else { throw error }
      return try survey.place()
    }
    guard try peek() == Self.brace else { return try survey.place() }
    return JSONRecordPlace(
      path: [], shape: .documents,
      note: "the file has several JSON objects, one after the other, and each is read as one record")
  }

  /// From behind a brace, moves to the value of a key.
  private func enterValue(of wanted: String, path: [String], depth: Int) throws(ReaderError) {
    var found: [String] = []
    var isThere = false
    try eachKey { key throws(ReaderError) in
      if key == wanted {
        isThere = true
        return false
      }
      if found.count < 20 { found.append(key) }
      try skip(JSONWalker(depth: depth + 1))
      return true
    }
    guard isThere else {
      throw .rootNotFound(path: path[...depth].joined(separator: "."), found: found)
    }
  }

  /// From behind a brace: calls `body` at the value of each key, until it returns false or the object ends.
  /// When it returns true, it has consumed the value.
  private func eachKey(_ body: (String) throws(ReaderError) -> Bool) throws(ReaderError) {
    if try next() == UInt8(ascii: "}") {
      advance(1)
      return
    }
    while true {
      guard try body(try key()) else { return }
      switch try next() {
      case UInt8(ascii: "}"):
        advance(1)
        return
      case UInt8(ascii: ","):
        advance(1)
        if try next() == UInt8(ascii: "}") { throw fault(.trailingComma, after: 0) }
      default: throw fault(.expectedComma, after: 0)
      }
    }
  }

  /// The error for a byte with which no value begins.
  private func mistakeInValue(_ byte: UInt8) -> ReaderError? {
    switch byte {
    case Self.open, Self.brace, JSONToken.quote, UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"),
      UInt8(ascii: "t"), UInt8(ascii: "f"), UInt8(ascii: "n"):
      nil
    default: fault(.expectedValue, after: 0)
    }
  }
}
