// Tokens of XML 1.0, each scanned in one piece of memory. A token that may continue after it is `.more`.
// Entities aren't expanded and nothing is fetched: the only references are the five predefined names and numbers.

struct XMLScanner {
  enum Token {
    /// A tag that opens an element; its attributes are in `attributes`.
    case start(name: UnsafeBufferPointer<UInt8>, isEmpty: Bool)
    case end(name: UnsafeBufferPointer<UInt8>)
    case text(UnsafeBufferPointer<UInt8>)
    case literal(UnsafeBufferPointer<UInt8>)
    /// A comment or a processing instruction.
    case passedOver
    case doctype
  }

  enum Scan {
    case token(Token, end: BytePointer)
    case more
    case mistake(XMLMistake, at: BytePointer)
  }

  struct Attribute {
    var name: UnsafeBufferPointer<UInt8>
    var value: UnsafeBufferPointer<UInt8>
  }

  /// Attributes of the last opening tag, in place.
  private(set) var attributes: [Attribute] = []

  static let open = UInt8(ascii: "<")
  static let close = UInt8(ascii: ">")
  private static let slash = UInt8(ascii: "/")
  static let comment = Array("<!--".utf8)
  static let literal = Array("<![CDATA[".utf8)
  static let doctype = Array("<!DOCTYPE".utf8)

  /// Scans the token that begins at a place.
  mutating func next(_ start: BytePointer, _ end: BytePointer) -> Scan {
    guard start < end else { return .more }
    guard start.pointee == Self.open else {
      guard let stop = Bytes.find(Self.open, from: start, to: end) else { return .more }
      if let (mistake, place) = XMLText.mistake(from: start, to: stop) { return .mistake(mistake, at: place) }
      return .token(.text(Self.bytes(start, stop)), end: stop)
    }
    guard start + 1 < end else { return .more }
    switch start[1] {
    case UInt8(ascii: "!"): return declaration(start, end)
    case UInt8(ascii: "?"):
      guard let stop = Self.find("?", from: start + 2, to: end) else { return .more }
      return .token(.passedOver, end: stop)
    case Self.slash: return endTag(start, end)
    default: return startTag(start, end)
    }
  }

  private func declaration(_ start: BytePointer, _ end: BytePointer) -> Scan {
    switch (Self.begins(start, end, Self.comment), Self.begins(start, end, Self.literal)) {
    case (true, _):
      guard let stop = Self.find("--", from: start + Self.comment.count, to: end) else { return .more }
      return .token(.passedOver, end: stop)
    case (_, true):
      let content = start + Self.literal.count
      guard let stop = Self.find("]]", from: content, to: end) else { return .more }
      return .token(.literal(Self.bytes(content, stop - 3)), end: stop)
    case (nil, _), (_, nil): return .more
    case (false, false): break
    }
    switch Self.begins(start, end, Self.doctype) {
    case true: return .token(.doctype, end: start + Self.doctype.count)
    case false: return .mistake(.badDeclaration, at: start)
    case nil: return .more
    }
  }

  private func endTag(_ start: BytePointer, _ end: BytePointer) -> Scan {
    let name = start + 2
    switch Self.name(name, end) {
    case .success(let stop):
      let place = JSONToken.skipSpace(stop, end)
      guard place < end else { return .more }
      guard place.pointee == Self.close else { return .mistake(.badTag, at: place) }
      return .token(.end(name: Self.bytes(name, stop)), end: place + 1)
    case .failure(let fault): return fault.scan(at: name)
    }
  }

  private mutating func startTag(_ start: BytePointer, _ end: BytePointer) -> Scan {
    attributes.removeAll(keepingCapacity: true)
    var place = start + 1
    let name: UnsafeBufferPointer<UInt8>
    switch Self.name(place, end) {
    case .success(let stop):
      name = Self.bytes(place, stop)
      place = stop
    case .failure(let fault): return fault.scan(at: place)
    }
    while true {
      let before = place
      place = JSONToken.skipSpace(place, end)
      guard place < end else { return .more }
      if place.pointee == Self.close { return .token(.start(name: name, isEmpty: false), end: place + 1) }
      if place.pointee == Self.slash {
        guard place + 1 < end else { return .more }
        guard place[1] == Self.close else { return .mistake(.badTag, at: place) }
        return .token(.start(name: name, isEmpty: true), end: place + 2)
      }
      guard place > before else { return .mistake(.badTag, at: place) }
      let attribute = place
      switch Self.name(place, end) {
      case .success(let stop): place = stop
      case .failure(let fault): return fault.scan(at: place)
      }
      let attributeName = Self.bytes(attribute, place)
      place = JSONToken.skipSpace(place, end)
      guard place < end else { return .more }
      guard place.pointee == UInt8(ascii: "=") else { return .mistake(.attributeWithoutValue, at: place) }
      place = JSONToken.skipSpace(place + 1, end)
      guard place < end else { return .more }
      let quote = place.pointee
      guard quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else {
        return .mistake(.attributeWithoutValue, at: place)
      }
      let value = place + 1
      guard let stop = Bytes.find(quote, from: value, to: end) else { return .more }
      if let wrong = Bytes.find(Self.open, from: value, to: stop) { return .mistake(.lessThanInValue, at: wrong) }
      if let (mistake, place) = XMLText.mistake(from: value, to: stop) { return .mistake(mistake, at: place) }
      guard attributes.count < ReaderOptions.maximumColumns else { return .mistake(.tooManyColumns, at: attribute) }
      attributes.append(Attribute(name: attributeName, value: Self.bytes(value, stop)))
      place = stop + 1
    }
  }

  private enum NameFault: Error {
    case more
    case mistake(XMLMistake)

    func scan(at place: BytePointer) -> Scan {
      switch self {
      case .more: .more
      case .mistake(let mistake): .mistake(mistake, at: place)
      }
    }
  }

  /// The end of the name that begins at a place. All characters outside of ASCII are accepted.
  private static func name(_ start: BytePointer, _ end: BytePointer) -> Result<BytePointer, NameFault> {
    var place = start
    while place < end {
      switch place.pointee {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"),
        UInt8(ascii: ":"), 0x80...:
        place += 1
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."):
        guard place > start else { return .failure(.mistake(.badName)) }
        place += 1
      default:
        return place > start ? .success(place) : .failure(.mistake(.badName))
      }
      if place - start > XMLMistake.maximumName { return .failure(.mistake(.nameTooLong)) }
    }
    return .failure(.more)
  }

  /// The place after the first `>` that these characters stand before.
  static func find(_ before: StaticString, from start: BytePointer, to end: BytePointer) -> BytePointer? {
    let count = before.utf8CodeUnitCount
    var place = start
    while let found = Bytes.find(close, from: place, to: end) {
      if found - start >= count, (1...count).allSatisfy({ found[-$0] == before.utf8Start[count - $0] }) {
        return found + 1
      }
      place = found + 1
    }
    return nil
  }

  /// Whether these bytes stand at a place; nil if too little is in memory.
  static func begins(_ start: BytePointer, _ end: BytePointer, _ wanted: [UInt8]) -> Bool? {
    for (index, byte) in wanted.enumerated() {
      guard start + index < end else { return nil }
      if start[index] != byte { return false }
    }
    return true
  }

  private static func bytes(_ start: BytePointer, _ end: BytePointer) -> UnsafeBufferPointer<UInt8> {
    UnsafeBufferPointer(start: start, count: end - start)
  }
}

/// Mistakes in XML 1.0, and constructs that are valid but refused here.
enum XMLMistake: UInt8, Error, Hashable {
  case unexpectedEnd, badName, nameTooLong, badTag, attributeWithoutValue, duplicateAttribute, lessThanInValue
  case unknownReference, badCharacterReference, wrongEndTag, textOutside, secondRoot, badDeclaration
  case misplacedDoctype, ownDeclarations, tooDeep, tooLong, tooManyParts, tooManyColumns, notPropertyList

  /// Nested elements.
  static let maximumDepth = 200
  /// Elements, attributes and texts in one record: in memory they take more than their length.
  static let maximumParts = 1 << 20
  /// Bytes of an element's or attribute's name.
  static let maximumName = 1_000
}

extension XMLMistake: CustomStringConvertible {
  var description: String {
    switch self {
    case .unexpectedEnd: "the document ends before its elements do"
    case .badName: "a name was expected here"
    case .nameTooLong: "a name is longer than \(Self.maximumName) bytes"
    case .badTag: "the tag isn't written as XML demands"
    case .attributeWithoutValue: "an attribute needs an equals sign and a value in quotes"
    case .duplicateAttribute: "the element has this attribute twice"
    case .lessThanInValue: "a < in an attribute's value must be written as &lt;"
    case .unknownReference:
      "after an ampersand only lt, gt, amp, quot, apos or a number may stand; entities that a document declares "
        + "aren't expanded"
    case .badCharacterReference: "the number after the ampersand isn't a character of XML"
    case .wrongEndTag: "the end tag isn't that of the element which is open"
    case .textOutside: "there is text outside of the document's element"
    case .secondRoot: "there is a second element after the document's"
    case .badDeclaration: "only comments, CDATA sections and a document type may begin with <!"
    case .misplacedDoctype: "the document type may only stand before the document's element, and once"
    case .ownDeclarations: "the document type declares entities or elements of its own, which aren't read"
    case .tooDeep: "elements are nested more than \(Self.maximumDepth) deep"
    case .tooLong: "a tag is longer than a record may be"
    case .tooManyParts: "more than \(Self.maximumParts) elements, attributes and texts stand in one record"
    case .notPropertyList: "a property list doesn't have this element here"
    case .tooManyColumns: "there are too many different names"
    }
  }
}
