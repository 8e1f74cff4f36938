import LadeTypes

/// A piece of HTML that is well-formed and says what it was meant to say, whatever names and values it was made of.
///
/// It can't be otherwise, because nothing else can be written:
/// 1. Text is escaped when it becomes HTML. There is no way to add markup as text.
/// 2. Names of elements and attributes are ``StaticString``s, so no input becomes one.
/// 3. An address is a ``PageLink``, made of parts, so none can be `javascript:` or lead to another host.
/// 4. Controls of writing direction and others that can't be seen are written out, as `[U+202E]`.
struct HTML: Sendable {
  private(set) var text: String

  private init(markup: String) { text = markup }

  static let empty = HTML(markup: "")

  /// Text as it is to be read.
  init(_ text: some StringProtocol) { self.init(markup: Self.escaped(text, showsControls: true)) }

  /// Somebody's name or value: the direction of its script doesn't change the text around it.
  static func name(_ text: some StringProtocol) -> HTML { element("bdi") { HTML(text) } }

  /// A number that may have 64 bits, grouped.
  static func count(_ number: some BinaryInteger) -> HTML { HTML(Quantity.count(number)) }

  /// An element with content.
  static func element(
    _ name: StaticString, _ attributes: Attribute?..., @HTMLBuilder content: () throws -> HTML
  ) rethrows -> HTML {
    HTML(markup: "<\(name)\(Self.markup(attributes))>\(try content().text)</\(name)>")
  }

  /// An element that can't have content, such as `input`.
  static func void(_ name: StaticString, _ attributes: Attribute?...) -> HTML {
    HTML(markup: "<\(name)\(Self.markup(attributes))>")
  }

  /// A field of several lines. A form sends the text back as it is, but for line ends, each of which becomes CR LF, and
  /// NUL, which no page can have.
  static func textArea(_ attributes: Attribute?..., text: some StringProtocol) -> HTML {
    // A parser leaves out the line feed that comes first.
    HTML(markup: "<textarea\(Self.markup(attributes))>\n\(escaped(text, showsControls: false))</textarea>")
  }

  /// One after the other.
  init(joining parts: [HTML]) { self.init(markup: parts.map(\.text).joined()) }

  /// The whole of a document.
  static func document(@HTMLBuilder content: () throws -> HTML) rethrows -> String {
    "<!doctype html>\n" + (try content().text) + "\n"
  }

  private static func markup(_ attributes: [Attribute?]) -> String {
    attributes.compactMap { $0.map { " \($0.name)=\"\(escaped($0.value, showsControls: !$0.isSentBack))\"" } }.joined()
  }

  /// - Parameter showsControls: false for what a form sends back as it is.
  private static func escaped(_ text: some StringProtocol, showsControls: Bool) -> String {
    var escaped = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": escaped += "&amp;"
      case "<": escaped += "&lt;"
      case ">": escaped += "&gt;"
      case "\"": escaped += "&quot;"
      case "'": escaped += "&#39;"
      // A browser would read it as a line feed.
      case "\r" where !showsControls: escaped += "&#13;"
      case "\u{0}": escaped += showsControls ? "[U+0000]" : "\u{FFFD}"
      default:
        if showsControls, isInvisible(scalar) {
          let digits = String(scalar.value, radix: 16, uppercase: true)
          escaped += "[U+" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits + "]"
        } else {
          escaped.unicodeScalars.append(scalar)
        }
      }
    }
    return escaped
  }

  private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x09, 0x0A: false
    case 0..<0x20, 0x7F..<0xA0, 0x200B...0x200F, 0x2028...0x202E, 0x2060...0x2069, 0xFEFF, 0xE0000...0xE007F: true
    default: false
    }
  }
}

/// An attribute of an element. Its value is escaped when it is written.
struct Attribute: Sendable {
  fileprivate let name: StaticString
  fileprivate let value: String
  /// Whether a form sends the value back, and so has to have all of it.
  fileprivate let isSentBack: Bool

  private init(_ name: StaticString, _ value: String, isSentBack: Bool = false) {
    self.name = name
    self.value = value
    self.isSentBack = isSentBack
  }

  static func id(_ value: String) -> Attribute { .init("id", value) }
  static func style(_ value: StaticString) -> Attribute { .init("class", "\(value)") }
  /// A class that depends on a word of ours.
  static func style<Word: RawRepresentable>(_ prefix: StaticString, _ word: Word) -> Attribute
  where Word.RawValue == String {
    .init("class", "\(prefix) \(prefix)-\(word.rawValue)")
  }
  static func link(_ link: PageLink) -> Attribute { .init("href", link.text) }
  static func source(_ link: PageLink) -> Attribute { .init("src", link.text) }
  static func action(_ link: PageLink) -> Attribute { .init("action", link.text) }
  static func name(_ value: StaticString) -> Attribute { .init("name", "\(value)") }
  /// The name of a field that the page's content names.
  static func field(_ name: String) -> Attribute { .init("name", name, isSentBack: true) }
  /// Where a button sends its form.
  static func formAction(_ link: PageLink) -> Attribute { .init("formaction", link.text) }
  /// An example in an empty field.
  static func example(_ text: String) -> Attribute? { text.isEmpty ? nil : .init("placeholder", text) }
  /// The form whose answer the script of the mapping editor shows.
  static var mapping: Attribute { .init("data-mapping", "") }
  static func value(_ value: String) -> Attribute { .init("value", value, isSentBack: true) }
  static func title(_ value: String) -> Attribute { .init("title", value) }
  /// A label for who doesn't see the page.
  static func label(_ value: String) -> Attribute { .init("aria-label", value) }
  /// Where the script of completion asks for a field's suggestions.
  static func completion(_ link: PageLink) -> Attribute { .init("data-complete", link.text) }
  /// The list of a field, by its ID.
  static func list(_ id: String) -> Attribute { .init("list", id) }
  /// The elements with these IDs name it, or say more about it.
  static func labelledBy(_ id: String) -> Attribute { .init("aria-labelledby", id) }
  /// The field that a label is of.
  static func labelOf(_ id: String) -> Attribute { .init("for", id) }
  /// The stream of events that the page follows instead of that of jobs.
  static func stream(_ link: PageLink) -> Attribute { .init("data-stream", link.text) }
  /// The element that says more about this one.
  static func describedBy(_ id: String) -> Attribute { .init("aria-describedby", id) }
  /// Any other attribute, whose value isn't anybody's input.
  static func other(_ name: StaticString, _ value: StaticString) -> Attribute { .init(name, "\(value)") }
  static func other(_ name: StaticString, _ value: Int) -> Attribute { .init(name, String(value)) }
  /// The corners of a line in a plot.
  static func points(_ points: [(x: Int, y: Int)]) -> Attribute {
    .init("points", points.map { "\($0.x),\($0.y)" }.joined(separator: " "))
  }
  /// A point in time for programs.
  static func datetime(_ value: String) -> Attribute { .init("datetime", value) }
  /// The script that has the stream of events for all pages.
  static func worker(_ link: PageLink) -> Attribute { .init("data-worker", link.text) }
  /// The form whose files the script of uploads sends.
  static var upload: Attribute { .init("data-upload", "") }
  /// The job whose events the page follows.
  static func job(_ id: Int64) -> Attribute { .init("data-job", String(id)) }
  /// The element's content is fetched again with every event of the page's stream. It has an ID.
  static var live: Attribute { .init("data-live", "") }
  /// The key that follows a link.
  static func key(_ key: String) -> Attribute { .init("data-key", key) }
  /// The current one of several links.
  static func current(_ isCurrent: Bool) -> Attribute? { isCurrent ? .init("aria-current", "page") : nil }
}

/// Puts pieces of HTML one after the other. Text is escaped.
@resultBuilder
enum HTMLBuilder {
  static func buildExpression(_ html: HTML) -> HTML { html }
  static func buildExpression(_ text: String) -> HTML { HTML(text) }
  static func buildExpression(_ html: HTML?) -> HTML { html ?? .empty }
  static func buildBlock(_ parts: HTML...) -> HTML { HTML(joining: parts) }
  static func buildOptional(_ html: HTML?) -> HTML { html ?? .empty }
  static func buildEither(first html: HTML) -> HTML { html }
  static func buildEither(second html: HTML) -> HTML { html }
  static func buildArray(_ parts: [HTML]) -> HTML { HTML(joining: parts) }
}
