/// One element in memory with its content: a list of nodes in document order, each with the index after the last
/// node inside it. Created once and reused for every element; places are distances from the element's `<`.
///
/// `<a id="1">x<b/></a>` is an element `a` with an attribute, a text and an element `b`: four nodes.
struct XMLTree {
  enum Kind: UInt8 { case element, attribute, text, literal }

  struct Node {
    var kind: Kind
    /// Number of the path from the element down; -1 for texts, and for the element itself.
    var path: Int32 = -1
    var parent: Int32
    /// Index after the last node in this one.
    var end: Int32 = 0
    var name: Range<Int> = 0..<0
    /// The value of an attribute or a text, as written.
    var text: Range<Int> = 0..<0
    /// The next element of the same name in the same parent, or 0.
    var next: Int32 = 0
    /// Whether there is one before it.
    var isRepeated = false
    var hasElements = false
    var hasAttributes = false
    var isNil = false
  }

  private(set) var nodes: [Node] = []
  /// Every path seen so far, such as `address.city` and `address.@type`.
  private(set) var paths = KeyTable(names: [])
  private var scanner = XMLScanner()
  /// The last node of each path, for finding the one before an element.
  private var last: [Int32] = []
  private var path: [UInt8] = []
  private var open: [(node: Int32, pathLength: Int)] = []

  /// Reads the element that begins at `start`, `depth` levels deep.
  mutating func parse(_ start: BytePointer, _ end: BytePointer, depth: Int) -> XMLScanner.Scan {
    nodes.removeAll(keepingCapacity: true)
    path.removeAll(keepingCapacity: true)
    open.removeAll(keepingCapacity: true)
    var place = start
    while true {
      let scan = scanner.next(place, end)
      guard case .token(let token, let next) = scan else { return scan }
      switch token {
      case .start(let name, let isEmpty):
        if let mistake = begin(name, at: start, depth: depth) { return .mistake(mistake, at: place) }
        if isEmpty { finish() }
      case .end(let name):
        guard let top = open.last, Self.equal(name, start, nodes[Int(top.node)].name) else {
          return .mistake(.wrongEndTag, at: place)
        }
        finish()
      case .text(let text): append(.text, text, at: start)
      case .literal(let text): append(.literal, text, at: start)
      case .passedOver: break
      case .doctype: return .mistake(.misplacedDoctype, at: place)
      }
      if nodes.count > XMLMistake.maximumParts { return .mistake(.tooManyParts, at: place) }
      place = next
      if open.isEmpty { return .token(token, end: place) }
    }
  }

  private mutating func begin(_ name: UnsafeBufferPointer<UInt8>, at start: BytePointer, depth: Int) -> XMLMistake? {
    guard depth + open.count < XMLMistake.maximumDepth else { return .tooDeep }
    let index = Int32(nodes.count)
    let pathLength = path.count
    var node = Node(kind: .element, parent: open.last?.node ?? -1, name: Self.range(name, start))
    if let parent = open.last?.node {
      guard let number = number(name, prefix: "") else { return .tooManyColumns }
      node.path = number
      if let before = self.before(number, in: parent) {
        nodes[before].next = index
        node.isRepeated = true
      }
      last[Int(number)] = index
      nodes[Int(parent)].hasElements = true
    }
    nodes.append(node)
    open.append((index, pathLength))
    for attribute in scanner.attributes {
      if Self.equal(attribute.name, "xmlns") || attribute.name.starts(with: Self.namespace) { continue }
      if Self.equal(attribute.name, "xsi:nil") {
        nodes[Int(index)].isNil = Self.equal(attribute.value, "true") || Self.equal(attribute.value, "1")
        continue
      }
      let length = path.count
      guard let number = number(attribute.name, prefix: "@") else { return .tooManyColumns }
      path.removeSubrange(length...)
      if before(number, in: index) != nil { return .duplicateAttribute }
      last[Int(number)] = Int32(nodes.count)
      nodes[Int(index)].hasAttributes = true
      nodes.append(
        Node(
          kind: .attribute, path: number, parent: index, end: Int32(nodes.count + 1),
          name: Self.range(attribute.name, start), text: Self.range(attribute.value, start)))
    }
    return nil
  }

  private mutating func finish() {
    guard let (node, pathLength) = open.popLast() else { return }
    nodes[Int(node)].end = Int32(nodes.count)
    path.removeSubrange(pathLength...)
  }

  private mutating func append(_ kind: Kind, _ text: UnsafeBufferPointer<UInt8>, at start: BytePointer) {
    nodes.append(
      Node(kind: kind, parent: open.last?.node ?? -1, end: Int32(nodes.count + 1), text: Self.range(text, start)))
  }

  /// Extends the path by a name; nil if there are too many.
  private mutating func number(_ name: UnsafeBufferPointer<UInt8>, prefix: String) -> Int32? {
    if !path.isEmpty { path.append(UInt8(ascii: ".")) }
    path.append(contentsOf: prefix.utf8)
    path.append(contentsOf: name)
    let expected = nodes.last { $0.path >= 0 }.map { Int($0.path) + 1 } ?? 0
    guard let number = path.withUnsafeBufferPointer({ paths.column(of: $0, expected: expected) }) else { return nil }
    while last.count <= number { last.append(-1) }
    return Int32(number)
  }

  /// The last node of a path, if it is in this parent; entries of an element read before aren't.
  private func before(_ path: Int32, in parent: Int32) -> Int? {
    let index = Int(last[Int(path)])
    guard nodes.indices.contains(index), nodes[index].path == path, nodes[index].parent == parent else { return nil }
    return index
  }

  private static let namespace = Array("xmlns:".utf8)

  private static func equal(_ name: UnsafeBufferPointer<UInt8>, _ text: StaticString) -> Bool {
    name.elementsEqual(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  private static func equal(_ name: UnsafeBufferPointer<UInt8>, _ start: BytePointer, _ range: Range<Int>) -> Bool {
    name.elementsEqual(UnsafeBufferPointer(start: start + range.lowerBound, count: range.count))
  }

  private static func range(_ bytes: UnsafeBufferPointer<UInt8>, _ start: BytePointer) -> Range<Int> {
    let first = bytes.baseAddress.map { $0 - start } ?? 0
    return first..<first + bytes.count
  }
}

extension XMLTree {
  /// The text between an element's tags.
  enum Text {
    case none
    /// As it is written.
    case verbatim(Range<Int>)
    /// It must be composed by `appendText`.
    case composed
  }

  /// The text of an element. White space alone doesn't count, nor does white space between elements.
  func text(of element: Int, at start: BytePointer) -> Text {
    var found: Text = .none
    forEachText(of: element, at: start) { node in
      let text = nodes[node].text
      let isPlain =
        nodes[node].kind == .literal
        && Bytes.find(CSVDialect.carriageReturn, from: start + text.lowerBound, to: start + text.upperBound) == nil
        || !XMLText.needsDecoding(from: start + text.lowerBound, to: start + text.upperBound)
      if case .none = found, isPlain { found = .verbatim(text) } else { found = .composed }
    }
    return found
  }

  /// Appends the text of an element, decoded; all of it, if blanks are kept.
  func appendText(
    of element: Int, at start: BytePointer, keepsBlanks: Bool = false, to output: inout [UInt8]
  ) {
    forEachText(of: element, at: start, keepsBlanks: keepsBlanks) { append(valueOf: $0, at: start, to: &output) }
  }

  /// Appends the value of an attribute or a text, decoded.
  func append(valueOf node: Int, at start: BytePointer, to output: inout [UInt8]) {
    let node = nodes[node]
    XMLText.decode(
      from: start + node.text.lowerBound, to: start + node.text.upperBound, isLiteral: node.kind == .literal,
      isAttribute: node.kind == .attribute, into: &output)
  }

  /// The elements directly in an element, in order.
  func forEachElement(of element: Int, _ body: (Int) -> Void) {
    forEachChild(of: element) { if nodes[$0].kind == .element { body($0) } }
  }

  private func forEachChild(of element: Int, _ body: (Int) -> Void) {
    var child = element + 1
    while child < nodes[element].end {
      body(child)
      child = Int(nodes[child].end)
    }
  }

  private func forEachText(
    of element: Int, at start: BytePointer, keepsBlanks: Bool = false, _ body: (Int) -> Void
  ) {
    let hasContent = { (child: Int) in
      let text = nodes[child].text
      return nodes[child].kind == .literal
        || nodes[child].kind == .text && !XMLText.isBlank(from: start + text.lowerBound, to: start + text.upperBound)
    }
    var isBlank = !keepsBlanks
    forEachChild(of: element) { if isBlank, hasContent($0) { isBlank = false } }
    guard !isBlank else { return }
    let keepsBlanks = keepsBlanks || !nodes[element].hasElements
    forEachChild(of: element) { child in
      if hasContent(child) || keepsBlanks && nodes[child].kind == .text { body(child) }
    }
  }

  /// Appends an element as JSON: its text, or an object of its attributes, elements and text.
  func appendJSON(of element: Int, at start: BytePointer, to output: inout [UInt8]) {
    let node = nodes[element]
    if node.isNil { return output.append(contentsOf: "null".utf8) }
    guard node.hasElements || node.hasAttributes else { return appendQuotedText(of: element, at: start, to: &output) }
    var separator = UInt8(ascii: "{")
    func key(_ name: Range<Int>, _ prefix: String, _ output: inout [UInt8]) {
      output.append(separator)
      separator = UInt8(ascii: ",")
      JSONString.quote(
        Array(prefix.utf8) + UnsafeBufferPointer(start: start + name.lowerBound, count: name.count), to: &output)
      output.append(UInt8(ascii: ":"))
    }
    forEachChild(of: element) { child in
      let inner = nodes[child]
      switch inner.kind {
      case .attribute:
        key(inner.name, "@", &output)
        var value: [UInt8] = []
        append(valueOf: child, at: start, to: &value)
        JSONString.quote(value, to: &output)
      case .element where !inner.isRepeated:
        key(inner.name, "", &output)
        if inner.next > 0 {
          appendArray(from: child, at: start, to: &output)
        } else {
          appendJSON(of: child, at: start, to: &output)
        }
      case .element, .text, .literal: break
      }
    }
    if case .none = text(of: element, at: start) {
    } else {
      key(0..<0, "#text", &output)
      appendQuotedText(of: element, at: start, to: &output)
    }
    output.append(UInt8(ascii: "}"))
  }

  /// Appends an element and those of its name after it as a JSON array.
  func appendArray(from first: Int, at start: BytePointer, to output: inout [UInt8]) {
    var separator = UInt8(ascii: "[")
    var element = first
    repeat {
      output.append(separator)
      separator = UInt8(ascii: ",")
      appendJSON(of: element, at: start, to: &output)
      element = Int(nodes[element].next)
    } while element > 0
    output.append(UInt8(ascii: "]"))
  }

  private func appendQuotedText(of element: Int, at start: BytePointer, to output: inout [UInt8]) {
    var text: [UInt8] = []
    appendText(of: element, at: start, to: &text)
    JSONString.quote(text, to: &output)
  }
}
