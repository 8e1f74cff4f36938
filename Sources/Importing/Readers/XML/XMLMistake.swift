/// What can be wrong with XML 1.0, or is refused here though it may be written.
enum XMLMistake: UInt8, Error, Hashable {
  case unexpectedEnd, badName, nameTooLong, badTag, attributeWithoutValue, duplicateAttribute, lessThanInValue
  case unknownReference, badCharacterReference, wrongEndTag, textOutside, secondRoot, badDeclaration
  case misplacedDoctype, ownDeclarations, tooDeep, tooLong, tooManyParts, tooManyColumns, notPropertyList

  /// Elements inside one another.
  static let maximumDepth = 200
  /// Elements, attributes and texts in one record: they are held together, and take more memory than they are long.
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
    case .badCharacterReference: "the number after the ampersand is no character of XML"
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
