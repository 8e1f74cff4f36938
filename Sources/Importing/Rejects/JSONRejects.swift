/// Rejects as a JSON document: an array, under the keys that lead to the source's own.
struct JSONRejects: RejectForm {
  let path: [String]

  var opening: [UInt8] {
    var text: [UInt8] = []
    for key in path {
      text.append(UInt8(ascii: "{"))
      XMLTree.quote(Array(key.utf8), to: &text)
      text.append(UInt8(ascii: ":"))
    }
    return text + Array("[\n".utf8)
  }

  var separator: [UInt8] { Array(",\n".utf8) }
  var closing: [UInt8] { Array("\n]".utf8) + path.map { _ in UInt8(ascii: "}") } + Array("\n".utf8) }

  func record(_ rejection: Rejection) -> [UInt8] { Self.object(rejection) }

  /// The record with the reason as its first member, `{"lade":{"line":7,…},"id":3}`. Of one that isn't an object, or
  /// isn't JSON, the text is in the reason, so that the file stays JSON; it is rejected again as it is.
  static func object(_ rejection: Rejection) -> [UInt8] {
    if rejection.code == RejectReason.notMended { return rejection.raw }
    let rest = rejection.isSelfContained ? members(of: rejection.raw) : nil
    var json = Array("{\"lade\":".utf8)
    json += RejectReason.json(rejection, record: rest == nil ? rejection.raw : nil)
    guard let rest, rest.first != UInt8(ascii: "}") else { return json + [UInt8(ascii: "}")] }
    return json + [UInt8(ascii: ",")] + rest
  }

  /// What stands after an object's brace, without the reason that an earlier import gave; nil if it isn't an object.
  private static func members(of raw: [UInt8]) -> ArraySlice<UInt8>? {
    raw.withUnsafeBufferPointer { bytes in
      guard let base = bytes.baseAddress, base.pointee == UInt8(ascii: "{") else { return nil }
      let end = base + bytes.count
      guard TextAudit.validate(from: base, to: end) == nil else { return nil }
      let first = JSONToken.skipSpace(base + 1, end)
      var place = first
      let key = Array("\"\(RejectReason.member)\"".utf8)
      if UnsafeBufferPointer(start: place, count: end - place).starts(with: key) {
        place = JSONToken.skipSpace(place + key.count, end)
        if place < end { place = JSONToken.skipSpace(place + 1, end) }
        var walker = JSONWalker(depth: 0)
        if UnsafeBufferPointer(start: place, count: end - place).starts(with: Array("{\"line\":".utf8)),
          case .end(let after) = walker.walk(from: place, to: end, final: true)
        {
          place = JSONToken.skipSpace(after, end)
          if place < end, place.pointee == UInt8(ascii: ",") { place = JSONToken.skipSpace(place + 1, end) }
        } else {
          place = first
        }
      }
      return raw[(place - base)...]
    }
  }
}

/// Rejects as a JSON object a line: of NDJSON, and of sources that aren't text.
struct JSONLineRejects: RejectForm {
  func record(_ rejection: Rejection) -> [UInt8] {
    JSONRejects.object(rejection) + [UInt8(ascii: "\n")]
  }
}
