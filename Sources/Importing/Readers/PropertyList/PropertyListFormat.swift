/// A property list, in XML or binary, with an array of dictionaries in it, or of one dictionary.
struct PropertyListFormat: FileFormat {
  let name = FileFormatName.plist
  let title = "property lists"
  let endings = ["plist"]
  let isTabular = false
  let options: [FormatOption] = FormatOption.ofText + [.columns, RootOption.option]

  var access: FormatAccess {
    .text { (window, options, position) throws(ReaderError) in
      try PropertyListReader(window: window, options: options, from: position)
    }
  }

  func recognises(_ sample: SourceSample, named: FileFormatName?) -> Bool {
    XMLFormat.isDocument(sample, named: named) && Self.hasElement(sample)
  }

  /// Whether the element of property lists is among the first bytes.
  static func hasElement(_ sample: SourceSample) -> Bool {
    sample.text.drop(while: JSONToken.isSpace).prefix(1_024).contains(Array("<plist".utf8))
  }

  func validate(_ options: ReaderOptions) throws(ReaderError) { try RootOption.validate(options) }

  /// The XML that a binary property list stands for.
  func text(
    of source: any ByteSource, beginning: [UInt8], limit: ExpansionLimit
  ) throws(ReaderError) -> (any ByteSource)? {
    guard beginning.starts(with: BinaryPropertyListFile.signature) else { return nil }
    return try BinaryPropertyListSource(source, limit: limit)
  }
}

extension FileFormatName {
  package static let plist = FileFormatName("plist")
}

/// Rejects as a property list in XML: an array of the original dictionaries, with the reason under the key `lade`
/// first; under the same keys as in the source.
struct PropertyListRejects: RejectForm {
  let path: [String]

  var opening: [UInt8] {
    let keys = path.map { "<dict><key>\(XMLText.escaped($0))</key>" }.joined()
    return Array("\(Self.head)\n<plist version=\"1.0\">\n\(keys)<array>\n".utf8)
  }

  var closing: [UInt8] { Array("</array>\(path.map { _ in "</dict>" }.joined())\n</plist>\n".utf8) }

  static let head =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" "
    + "\"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">"

  func record(_ rejection: Rejection) -> [UInt8] {
    if rejection.code == RejectReason.notCorrected { return rejection.raw + [UInt8(ascii: "\n")] }
    let rest = rejection.isSelfContained ? Self.members(of: rejection.raw) : nil
    var members = [("column", rejection.column), ("code", rejection.code), ("message", rejection.message)]
    if rest == nil { members.append(("record", String(decoding: rejection.raw, as: UTF8.self))) }
    let strings = members.map { "<key>\($0)</key><string>\(XMLText.escaped($1))</string>" }.joined()
    let reason = "<key>line</key><integer>\(rejection.line)</integer>\(strings)"
    return Array("<dict><key>\(RejectReason.member)</key><dict>\(reason)</dict>".utf8)
      + (rest ?? Array("</dict>".utf8)[...]) + [UInt8(ascii: "\n")]
  }

  /// A record of a reject file as it was in the source: without the reason.
  static func own(_ raw: [UInt8]) -> [UInt8] {
    members(of: raw).map { Array("<dict>".utf8) + $0 } ?? raw
  }

  /// The text after a dictionary's opening tag, without the reason of an earlier import; nil if it isn't one.
  private static func members(of raw: [UInt8]) -> ArraySlice<UInt8>? {
    raw.withUnsafeBufferPointer { bytes in
      guard let base = bytes.baseAddress else { return nil }
      let end = base + bytes.count
      guard TextValidator.validate(from: base, to: end) == nil else { return nil }
      var scanner = XMLScanner()
      guard case .token(.start(let name, let isEmpty), let inside) = scanner.next(base, end),
        name.elementsEqual("dict".utf8)
      else { return nil }
      if isEmpty { return Array("</dict>".utf8)[...] }
      let key = Array("<key>\(RejectReason.member)</key><dict><key>line</key>".utf8)
      let place = JSONToken.skipSpace(inside, end)
      if UnsafeBufferPointer(start: place, count: end - place).starts(with: key) {
        var tree = XMLTree()
        let reason = place + "<key>\(RejectReason.member)</key>".utf8.count
        if case .token(_, let after) = tree.parse(reason, end, depth: 0) { return raw[(after - base)...] }
      }
      return raw[(inside - base)...]
    }
  }
}
