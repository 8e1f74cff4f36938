extension DocumentCursor {
  private static let open = UInt8(ascii: "[")
  private static let brace = UInt8(ascii: "{")

  /// From the beginning of a document, goes into the array under a key path: past its opening bracket.
  func enterArray(at path: [String]) throws(ReaderError) {
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
    guard byte == Self.open else {
      if let mistake = mistakeInValue(byte) { throw mistake }
      throw .notAnArray(path: path.joined(separator: "."), found: JSONToken.kind(of: byte))
    }
    advance(1)
  }

  /// The key of the one top-level value that is an array of objects. Reads the whole document, to be sure that there
  /// is no other; what is malformed after such an array is left for the reading to find. Empty if the document itself
  /// is an array.
  func findArray() throws(ReaderError) -> [String] {
    let byte = try next()
    if byte == Self.open { return [] }
    guard byte == Self.brace else {
      if let mistake = mistakeInValue(byte) { throw mistake }
      throw .notAnArray(path: "", found: JSONToken.kind(of: byte))
    }
    advance(1)
    var filled: [String] = []
    var empty: [String] = []
    var found: [String] = []
    do throws(ReaderError) {
      try eachKey { key throws(ReaderError) in
        if found.count < 20 { found.append(key) }
        guard try next() == Self.open else {
          try skip(JSONWalker(depth: 1))
          return true
        }
        advance(1)
        switch try next() {
        case Self.brace: if filled.count < 20 { filled.append(key) }
        case UInt8(ascii: "]"): if empty.count < 20 { empty.append(key) }
        default: break
        }
        try skip(JSONWalker(restOfArrayAt: 1))
        return true
      }
    } catch {
      guard case .malformed = error, filled.count == 1 else { throw error }
    }
    let candidates = filled.isEmpty ? empty : filled
    guard let only = candidates.first else { throw .rootNotFound(path: "", found: found) }
    guard candidates.count == 1 else { throw .severalRoots(found: candidates) }
    return [only]
  }

  /// From behind a brace, goes to the value of a key.
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

  /// The error for a byte that no value begins with.
  private func mistakeInValue(_ byte: UInt8) -> ReaderError? {
    switch byte {
    case Self.open, Self.brace, JSONToken.quote, UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"),
      UInt8(ascii: "t"), UInt8(ascii: "f"), UInt8(ascii: "n"):
      nil
    default: fault(.expectedValue, after: 0)
    }
  }
}
