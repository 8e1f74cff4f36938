/// One JSON document, RFC 8259: an array of objects somewhere in it, an object whose members are the records, or an object
/// that is one record. Or several such objects, one after the other.
struct JSONFormat: FileFormat {
  let name = FileFormatName.json
  let title = "JSON"
  let endings = ["json"]
  /// Many a `.json` file has one object per line.
  let isSettledByEnding = false
  let isTabular = false
  let options: [FormatOption] = FormatOption.ofText + [.columns, RootOption.option, JSONFormat.keyColumnOption]

  /// The column of the keys under which the records stand.
  static let keyColumn = FormatField<String?>(optional: "keyColumn")

  static let keyColumnKey = "key_column"

  private static let keyColumnOption = FormatOption(
    keyColumnKey, optional: keyColumn,
    help: "the records are the members of an object: the column in which their keys are"
  ) { value throws(ReaderError) in try value.text() }

  var access: FormatAccess {
    .text { (window, options, position) throws(ReaderError) in
      try JSONReader(window: window, options: options, from: position)
    }
  }

  func recognises(_ sample: SourceSample, named: FileFormatName?) -> Bool {
    switch sample.firstByte {
    case UInt8(ascii: "["): true
    case UInt8(ascii: "{"): !NDJSONFormat.hasLines(sample)
    default: false
    }
  }

  func validate(_ options: ReaderOptions) throws(ReaderError) { try RootOption.validate(options) }
}

/// One JSON object per line.
struct NDJSONFormat: FileFormat {
  let name = FileFormatName.ndjson
  let title = "NDJSON"
  let endings = ["ndjson", "jsonl"]
  let isTabular = false
  let options: [FormatOption] = FormatOption.ofText + [.columns]

  var access: FormatAccess {
    .text { (window, options, position) throws(ReaderError) in
      try NDJSONReader(window: window, options: options, from: position)
    }
  }

  func recognises(_ sample: SourceSample, named: FileFormatName?) -> Bool { Self.hasLines(sample) }

  /// Two objects on lines of their own aren't a JSON document, but they are NDJSON. So is a reject file, even of one record.
  static func hasLines(_ sample: SourceSample) -> Bool {
    guard sample.firstByte == UInt8(ascii: "{") else { return false }
    let text = UnsafeBufferPointer(rebasing: sample.text.drop(while: JSONToken.isSpace))
    if text.starts(with: Array("{\"lade\":{\"line\":".utf8)) { return true }
    let first = firstObject(in: text)
    return !first.isAcrossLines && first.isFollowedOnNextLine
  }

  /// How the first object stands in a text that begins with it: whether it goes over several lines, and whether another
  /// begins on a line after it. Neither of an object that isn't whole.
  static func firstObject(in text: UnsafeBufferPointer<UInt8>) -> (isAcrossLines: Bool, isFollowedOnNextLine: Bool) {
    guard let base = text.baseAddress else { return (false, false) }
    var walker = JSONWalker(depth: 0)
    let end = base + text.count
    guard case .end(let place) = walker.walk(from: base, to: end, final: true) else { return (false, false) }
    let next = JSONToken.skipSpace(place, end)
    let newline = UInt8(ascii: "\n")
    return (
      text[..<(place - base)].contains(newline),
      next < end && next.pointee == UInt8(ascii: "{") && text[(place - base)..<(next - base)].contains(newline)
    )
  }
}

extension FileFormatName {
  package static let json = FileFormatName("json")
  package static let ndjson = FileFormatName("ndjson")
}

/// The option of formats whose records are in an array somewhere in a document.
enum RootOption {
  static let root = FormatField<String?>(optional: "root")

  static let option = FormatOption(
    "root", optional: root, help: "keys that lead to the records, with dots between them; . is the document itself"
  ) { value throws(ReaderError) in try value.keyPath() }

  static func validate(_ options: ReaderOptions) throws(ReaderError) {
    guard let path = options.rootPath else { return }
    if path.contains("") { throw .invalidOption(name: "root", reason: "“\(options.root ?? "")” has an empty key") }
    if path.count > 100 { throw .invalidOption(name: "root", reason: "it has more than 100 keys") }
  }
}

extension ReaderOptions {
  /// JSON and property lists: keys that lead to the records, with dots between them, or one dot for the document itself;
  /// nil: the document is their array, or as ``DocumentCursor/findRecords()`` finds out.
  package var root: String? {
    get { self[RootOption.root] }
    set { self[RootOption.root] = newValue }
  }

  /// The keys that lead to the records.
  var rootPath: [String]? {
    root.map { $0 == "." ? [] : $0.split(separator: ".", omittingEmptySubsequences: false).map(String.init) }
  }

  /// JSON: the column for the keys of an object whose members are the records; nil: its members aren't, unless they look
  /// so.
  package var keyColumn: String? {
    get { self[JSONFormat.keyColumn] }
    set { self[JSONFormat.keyColumn] = newValue }
  }
}

/// Rejects as a JSON document: an array, or an object whose members they are, under the same keys as in the source.
struct JSONRejects: RejectForm {
  let path: [String]
  /// Whether a record is a member of an object, and begins with its key.
  var areMembers = false
  /// The column of these keys.
  var keyColumn: Int?

  var opening: [UInt8] {
    var text: [UInt8] = []
    for key in path {
      text.append(UInt8(ascii: "{"))
      JSONString.quote(key.utf8, to: &text)
      text.append(UInt8(ascii: ":"))
    }
    return text + Array(areMembers ? "{\n".utf8 : "[\n".utf8)
  }

  var separator: [UInt8] { Array(",\n".utf8) }
  var closing: [UInt8] {
    Array(areMembers ? "\n}".utf8 : "\n]".utf8) + path.map { _ in UInt8(ascii: "}") } + Array("\n".utf8)
  }

  func record(_ rejection: Rejection) -> [UInt8] { areMembers ? Self.member(rejection) : Self.object(rejection) }

  /// The record's key, and the record as an object. One whose key can't be read has its line in the key's place.
  private static func member(_ rejection: Rejection) -> [UInt8] {
    if rejection.code == RejectReason.notCorrected { return rejection.raw }
    guard let value = value(of: rejection.raw) else {
      return Array("\"line \(rejection.line)\":".utf8) + object(rejection)
    }
    let isObject = rejection.isSelfContained && rejection.raw[value] == UInt8(ascii: "{")
    let record = isObject ? rejection.with(raw: Array(rejection.raw[value...])) : rejection
    return Array(rejection.raw[..<value]) + object(record)
  }

  /// The record with the reason as its first member, `{"lade":{"line":7,…},"id":3}`. If it isn't an object, or
  /// isn't JSON, its text goes into the reason, so that the file stays valid JSON; unchanged, it is rejected again.
  static func object(_ rejection: Rejection) -> [UInt8] {
    if rejection.code == RejectReason.notCorrected { return rejection.raw }
    let rest = rejection.isSelfContained ? members(of: rejection.raw) : nil
    var json = Array("{\"lade\":".utf8)
    json += RejectReason.json(rejection, record: rest == nil ? rejection.raw : nil)
    guard let rest, rest.first != UInt8(ascii: "}") else { return json + [UInt8(ascii: "}")] }
    return json + [UInt8(ascii: ",")] + rest
  }

  /// A record of a reject file as it was in the source: without the reason.
  static func own(_ raw: [UInt8], isMember: Bool) -> [UInt8] {
    let value = isMember ? Self.value(of: raw) ?? 0 : 0
    guard let rest = members(of: Array(raw[value...])) else { return raw }
    return Array(raw[..<value]) + [UInt8(ascii: "{")] + rest
  }

  /// The first top-level member `lade` of a record, or of a member of an object that is one; nil if it isn't JSON or has none.
  /// A record may have another of its own after that.
  static func reason(in raw: UnsafeRawBufferPointer) -> String? {
    guard let first = raw.first(where: { !JSONToken.isSpace($0) }),
      [UInt8(ascii: "{"), UInt8(ascii: "\"")].contains(first)
    else { return nil }
    let text = Array(raw.drop { JSONToken.isSpace($0) })
    let start = first == UInt8(ascii: "{") ? 0 : value(of: text)
    return start.flatMap { valueRange(of: RejectReason.member, in: text, from: $0) }.map {
      String(decoding: text[$0], as: UTF8.self)
    }
  }

  /// Where the value of a member begins, after its key; nil if that isn't one.
  static func value(of raw: [UInt8]) -> Int? {
    raw.withUnsafeBufferPointer { bytes in
      guard let base = bytes.baseAddress, TextValidator.validate(from: base, to: base + bytes.count) == nil,
        case .end(let place) = JSONToken.key(base, base + bytes.count, passesSurrogates: false)
      else { return nil }
      return place - base
    }
  }

  /// The text after an object's brace, without the reason of an earlier import; nil if it isn't an object.
  private static func members(of raw: [UInt8]) -> ArraySlice<UInt8>? {
    raw.withUnsafeBufferPointer { bytes in
      guard let base = bytes.baseAddress, base.pointee == UInt8(ascii: "{") else { return nil }
      let end = base + bytes.count
      guard TextValidator.validate(from: base, to: end) == nil else { return nil }
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

/// Rejects as one JSON object per line: of NDJSON, and of sources that aren't text.
struct JSONLineRejects: RejectForm {
  func record(_ rejection: Rejection) -> [UInt8] {
    JSONRejects.object(rejection) + [UInt8(ascii: "\n")]
  }
}
