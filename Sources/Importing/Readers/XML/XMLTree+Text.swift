extension XMLTree {
  /// What an element has between its tags, other than elements.
  enum Text {
    case none
    /// As it is written.
    case verbatim(Range<Int>)
    /// It must be put together: `appendText` does.
    case composed
  }

  /// The text of an element. White space alone is none, and beside elements white space between them is no part of it.
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

  /// The elements in an element, in order.
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
      Self.quote(
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
        Self.quote(value, to: &output)
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
    Self.quote(text, to: &output)
  }

  /// Appends a text as a string of JSON.
  static func quote(_ text: [UInt8], to output: inout [UInt8]) {
    let digits = Array("0123456789abcdef".utf8)
    output.append(JSONToken.quote)
    for byte in text {
      switch byte {
      case JSONToken.quote, JSONToken.backslash: output += [JSONToken.backslash, byte]
      case 0x0A: output += [JSONToken.backslash, UInt8(ascii: "n")]
      case 0x0D: output += [JSONToken.backslash, UInt8(ascii: "r")]
      case 0x09: output += [JSONToken.backslash, UInt8(ascii: "t")]
      case ..<0x20: output += Array("\\u00".utf8) + [digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      default: output.append(byte)
      }
    }
    output.append(JSONToken.quote)
  }
}
