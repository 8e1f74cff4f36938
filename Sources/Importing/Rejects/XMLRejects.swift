/// Rejects as an XML document: the records' elements as they were, inside the elements of their path, each after an
/// instruction with the reason: `<?lade line="7" column="age" code="not_an_integer" message="…"?>`.
struct XMLRejects: RejectForm {
  /// The elements around the records.
  private let path: [String]

  /// - Parameter record: the name or path of the records, as `ReaderOptions.record` has it.
  init(record: String) {
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
    // Its beginning alone, or bytes that aren't text: what would break the document is no part of it.
    var text = RejectReason.xml(String(decoding: rejection.raw, as: UTF8.self))
    text.replace("--", with: "- - ")
    return reason + Array("<!-- \(text) -->\n".utf8)
  }

  private static func isText(_ raw: [UInt8]) -> Bool {
    raw.withUnsafeBufferPointer { bytes in
      bytes.baseAddress.map { TextAudit.validate(from: $0, to: $0 + bytes.count) == nil } ?? false
    }
  }
}
