import ControlAPI
import LadeTypes

/// A value of an object as pages show it: whole numbers with all their digits, dates as they come, binary data by its
/// length.
struct DataValue: Sendable {
  /// How many characters of a text a table shows.
  static let longest = 200

  private let value: JSONValue
  private let attribute: Store.Attribute?

  init(_ value: JSONValue, of attribute: Store.Attribute? = nil) {
    self.value = value
    self.attribute = attribute
  }

  /// For the cell of a table: a long text is cut.
  var short: HTML {
    guard let text else { return HTML("–") }
    var shown = text.prefix(Self.longest)
    // A character may have any number of marks.
    if shown.unicodeScalars.count > 4 * Self.longest {
      let scalars = shown.unicodeScalars
      shown = text[..<scalars.index(scalars.startIndex, offsetBy: 4 * Self.longest)]
    }
    guard shown.endIndex < text.endIndex else { return HTML.name(text) }
    return HTML(joining: [HTML.name(shown), HTML.element("span", .style("note")) { "…" }])
  }

  /// For the object's own page.
  var whole: HTML { text.map { HTML.name($0) } ?? HTML("–") }

  /// Nil for null.
  private var text: String? {
    switch value {
    case .null: nil
    case .bool(let flag): flag ? "true" : "false"
    case .int(let number): String(number)
    case .double(let number): String(number)
    case .string(let text): attribute?.isBinary == true ? Quantity.count(Self.length(ofBase64: text), "byte") : text
    case .array, .object: Self.json(value)
    }
  }

  private static func json(_ value: JSONValue) -> String {
    do {
      return String(decoding: try WireFormat.bytes(of: value), as: UTF8.self)
    } catch {
      return "This value can't be shown: \(error)"
    }
  }

  private static func length(ofBase64 text: String) -> Int {
    let padding = text.utf8.reversed().prefix { $0 == UInt8(ascii: "=") }.count
    return max(text.utf8.count / 4 * 3 - padding, 0)
  }
}
