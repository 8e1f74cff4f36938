import Foundation
import FoundationXML

/// The XML of a model file, as a tree of elements.
///
/// Defences against hostile files:
/// - at most `sizeLimit` bytes, and UTF-8 without zero bytes, so that a scan of the bytes is reliable;
/// - no document type declaration, and thus no entities, internal or external; it is refused before parsing;
/// - at most `depthLimit` levels of nesting, so that neither parsing nor freeing the tree overflows the stack.
enum ModelXML {
  /// The maximum size of a model in bytes.
  static let sizeLimit = 64 << 20
  /// The maximum depth of nesting; models use about six levels.
  static let depthLimit = 64

  /// Parses `data`, naming `file` in errors.
  /// - Parameters:
  ///   - documentType: a declaration that the file may have. It is taken out before parsing.
  ///   - keepsText: whether elements keep their text, of which a model has none.
  /// - Throws: ``ModelError/malformed(_:)``.
  static func parse(
    _ data: Data, file: String, documentType: String? = nil, keepsText: Bool = false
  ) throws -> ModelElement {
    var data = data
    if let documentType, let range = data.prefix(1024).range(of: Data(documentType.utf8)) {
      data.replaceSubrange(range, with: Data(repeating: UInt8(ascii: " "), count: range.count))
    }
    try refuseDisguises(data, file: file)
    let parser = XMLParser(data: data)
    let builder = ModelTreeBuilder(keepsText: keepsText)
    parser.delegate = builder
    // The result is true even for malformed XML; the reported error decides.
    _ = parser.parse()
    if let line = builder.lineTooDeep {
      throw ModelError.mistake(
        file: file, line: line, reason: "elements are nested more than \(depthLimit) deep, which no model is")
    }
    if let error = builder.firstError {
      throw ModelError.mistake(file: file, line: max(1, error.line), reason: words(for: error.code))
    }
    guard parser.parserError == nil, builder.isClosed, let root = builder.root else {
      throw ModelError.mistake(file: file, line: max(1, parser.lineNumber), reason: "the file holds no XML document")
    }
    return root
  }

  private static func refuseDisguises(_ data: Data, file: String) throws {
    func refuse(at offset: Int, _ reason: String) -> ModelError {
      let line = data.prefix(offset).reduce(1) { $1 == UInt8(ascii: "\n") ? $0 + 1 : $0 }
      return .mistake(file: file, line: line, reason: reason)
    }
    if let zero = data.firstIndex(of: 0) {
      throw refuse(at: zero - data.startIndex, "the file isn't UTF-8 text: it contains a zero byte")
    }
    // In UTF-8 a document type declaration can only be these bytes.
    if let range = data.range(of: Data("<!DOCTYPE".utf8)) {
      throw refuse(
        at: range.lowerBound - data.startIndex,
        "the file declares a document type, which a model has no use for; it is refused because it can define entities")
    }
    let head = data.prefix(1024)
    guard let opening = head.range(of: Data("<?xml".utf8)), let closing = head.range(of: Data("?>".utf8)),
      opening.lowerBound < closing.lowerBound
    else { return }
    let declaration = String(decoding: head[opening.upperBound..<closing.lowerBound], as: UTF8.self)
    guard let encoding = declaration.firstMatch(of: /encoding\s*=\s*["']([^"']*)["']/)?.1 else { return }
    guard ["utf-8", "utf8", "us-ascii", "ascii"].contains(encoding.lowercased()) else {
      throw refuse(at: 0, "the file's encoding is \(encoding); a model is UTF-8")
    }
  }

  /// A message for libxml2's error code; the numbers are those of `xmlParserErrors`.
  private static func words(for code: Int) -> String {
    switch code {
    case 4: return "the file doesn't begin with an XML element"
    case 5: return "the XML ends too early, or continues after its end"
    case 9, 81: return "a character that XML doesn't allow, or that isn't UTF-8"
    case 23...28: return "a reference to an entity that isn't defined"
    case 38: return "a < in an attribute's value"
    case 39, 40, 41: return "an attribute without a quoted value"
    case 42: return "the same attribute twice"
    case 65: return "a space is missing between attributes"
    case 68: return "a name is missing"
    case 73: return "a tag isn't closed with >"
    case 76: return "a closing tag that doesn't match the tag it closes"
    case 77: return "an element is never closed"
    default: return "the XML isn't well-formed (libxml2's error \(code))"
    }
  }
}

/// Collects the parser's events into a tree.
private final class ModelTreeBuilder: NSObject, XMLParserDelegate {
  private(set) var root: ModelElement?
  private(set) var firstError: (code: Int, line: Int)?
  private(set) var lineTooDeep: Int?
  private var open: [ModelElement] = []
  private let keepsText: Bool

  init(keepsText: Bool) { self.keepsText = keepsText }

  var isClosed: Bool { open.isEmpty }

  func parser(
    _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
    attributes: [String: String]
  ) {
    guard lineTooDeep == nil else { return }
    guard open.count < ModelXML.depthLimit else {
      lineTooDeep = parser.lineNumber
      parser.abortParsing()
      return
    }
    let element = ModelElement(name: name, attributes: attributes, line: parser.lineNumber)
    if let parent = open.last { parent.children.append(element) } else if root == nil { root = element }
    open.append(element)
  }

  func parser(_ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?) {
    _ = open.popLast()
  }

  func parser(_ parser: XMLParser, foundCharacters text: String) { noteText(text, line: parser.lineNumber) }

  func parser(_ parser: XMLParser, foundCDATA block: Data) {
    noteText(String(decoding: block, as: UTF8.self), line: parser.lineNumber)
  }

  func parser(_ parser: XMLParser, parseErrorOccurred error: any Error) {
    if firstError == nil { firstError = ((error as NSError).code, parser.lineNumber) }
  }

  private func noteText(_ text: String, line: Int) {
    if keepsText { open.last?.text += text }
    guard let element = open.last, element.strayTextLine == nil, text.contains(where: { !$0.isWhitespace }) else {
      return
    }
    element.strayTextLine = line
  }
}

/// One element of a model file, with the line on which its tag ends.
final class ModelElement {
  let name: String
  let attributes: [String: String]
  let line: Int
  var children: [ModelElement] = []
  /// The line of the first text inside it that isn't white space. A model has no text.
  var strayTextLine: Int?
  /// Its text, if the parser keeps it.
  var text = ""

  init(name: String, attributes: [String: String], line: Int) {
    self.name = name
    self.attributes = attributes
    self.line = line
  }
}
