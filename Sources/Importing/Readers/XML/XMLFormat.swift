/// An XML 1.0 document, with elements that are records.
struct XMLFormat: FileFormat {
  let name = FileFormatName.xml
  let title = "XML"
  let endings = ["xml"]
  /// A property list may be called `.xml` too.
  let isSettledByEnding = false
  let isTabular = false

  let options: [FormatOption] = FormatOption.ofText + [.columns, Self.recordOption]

  static let record = FormatField<String?>(optional: "record")

  private static let recordOption = FormatOption(
    "record", optional: record, help: "the elements that are records, by name or by path such as feed/entry"
  ) { value throws(ReaderError) in try value.text() }

  var access: FormatAccess {
    .text { (window, options, position) throws(ReaderError) in
      try XMLReader(window: window, options: options, from: position)
    }
  }

  func recognises(_ sample: SourceSample, named: FileFormatName?) -> Bool {
    Self.isDocument(sample, named: named) && !PropertyListFormat.hasElement(sample)
  }

  /// Whether a text is an XML document, of whatever kind.
  static func isDocument(_ sample: SourceSample, named: FileFormatName?) -> Bool {
    guard sample.firstByte == UInt8(ascii: "<") else { return false }
    return named == .xml || sample.text.drop(while: JSONToken.isSpace).starts(with: Array("<?xml".utf8))
  }

  /// Refuses a name or path of elements that no element can have.
  func validate(_ options: ReaderOptions) throws(ReaderError) {
    guard let record = options.record else { return }
    let names = record.unicodeScalars.split(separator: "/", omittingEmptySubsequences: false)
    guard !record.isEmpty, !record.contains(where: \.isWhitespace), !names.dropFirst().contains(where: \.isEmpty),
      names.count <= XMLMistake.maximumDepth
    else { throw .invalidOption(name: "record", reason: "“\(record)” isn't a name, or names with slashes between") }
  }
}

extension FileFormatName {
  package static let xml = FileFormatName("xml")
}

extension ReaderOptions {
  /// XML: the elements that are records: by name, wherever they stand, or by path from the document's element down,
  /// such as `feed/entry`. Names are those in the file, with their prefix. Nil: the elements in the document's
  /// element, if they have one name or only one name comes more than once.
  package var record: String? {
    get { self[XMLFormat.record] }
    set { self[XMLFormat.record] = newValue }
  }
}

/// Rejects as an XML document: the original elements, inside the elements of their path, each after an
/// instruction with the reason: `<?lade line="7" column="age" code="not_an_integer" message="…"?>`.
struct XMLRejects: RejectForm {
  /// The name or path of the records, as `ReaderOptions.record` has it; empty where there are none.
  let record: String
  /// The elements around the records.
  private let path: [String]

  init(record: String) {
    self.record = record
    let names = record.split(separator: "/").map(String.init)
    path = record.contains("/") ? names.dropLast() : [names.first == "rejects" ? "records" : "rejects"]
  }

  var opening: [UInt8] {
    Array("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\(path.map { "<\($0)>" }.joined())\n".utf8)
  }

  var closing: [UInt8] { Array("\(path.reversed().map { "</\($0)>" }.joined())\n".utf8) }

  func record(_ rejection: Rejection) -> [UInt8] {
    let reason = Array("\(RejectReason.instruction)\(RejectReason.attributes(rejection))?>\n".utf8)
    if rejection.isSelfContained, Self.isText(rejection.raw) {
      return reason + rejection.raw + [UInt8(ascii: "\n")]
    }
    // Only a beginning, or bytes that aren't text: as a comment, it can't break the document.
    var text = XMLText.escaped(String(decoding: rejection.raw, as: UTF8.self))
    text.replace("--", with: "- - ")
    return reason + Array("<!-- \(text) -->\n".utf8)
  }

  private static func isText(_ raw: [UInt8]) -> Bool {
    raw.withUnsafeBufferPointer { bytes in
      bytes.baseAddress.map { TextValidator.validate(from: $0, to: $0 + bytes.count) == nil } ?? false
    }
  }
}
