// The XML of a part of a workbook, token by token, through a window: memory is that of one token. Elements and attributes
// go by their names without prefix: workbooks differ in prefixes, and the strict variant of the format in namespaces.
//
// What an event found is valid until the next event: a token is consumed when the one after it is asked for.

/// Reads the XML of a workbook's part.
final class PartReader {
  enum Event {
    /// An element begins: ``name`` and ``attribute(_:)`` are of it, and it counts in ``depth``.
    case start
    /// The innermost open element has ended, and doesn't count any more.
    case end
    case text
    case finished
  }

  private let part: String
  private let window: SourceWindow
  private let maximumTokenBytes: Int
  private var scanner = XMLScanner()
  /// The names of the open elements, one after the other, and where each begins.
  private var open: [UInt8] = []
  private var starts: [Int] = []
  private var tokenLength = 0
  /// Whether the last tag was an empty one, whose end comes next.
  private var isEmpty = false
  private var hasBegun = false
  private var isLiteral = false
  private var content = UnsafeBufferPointer<UInt8>(start: nil, count: 0)

  /// - Parameter part: its name, for messages.
  init(_ source: any ByteSource, part: String, options: ReaderOptions, blockSize: Int) throws(ReaderError) {
    let peeked = try PeekedSource(source, sampling: 256)
    let guess = EncodingGuess(sample: peeked.sample, isWhole: peeked.isWhole, options: ReaderOptions())
    let text: any ByteSource =
      guess.encoding == .utf8 ? peeked : try TranscodedSource(peeked, guess.encoding, blockSize: blockSize)
    window = try SourceWindow(source: text, encoding: guess.encoding, blockSize: blockSize)
    self.part = part
    maximumTokenBytes = options.maximumWorkbookText
    // A byte order mark is skipped there.
    _ = try window.fill()
    window.skipByteOrderMark()
  }

  /// The number of open elements.
  var depth: Int { starts.count }

  /// Offset in the unpacked part of the byte after the last token.
  var offset: Int64 { window.offset + Int64(tokenLength) }
  var bytesTotal: Int64 { window.bytesTotal }
  var bytesRead: Int64 { window.bytesRead }

  /// The element's name, after `start`.
  var name: UnsafeBufferPointer<UInt8> { Self.local(content) }

  @inline(__always)
  func isNamed(_ wanted: StaticString) -> Bool { Self.isLocal(content, wanted) }

  /// The bytes of an attribute's value, not decoded, after `start`; nil if there is none.
  @inline(__always)
  func attribute(_ wanted: StaticString) -> UnsafeBufferPointer<UInt8>? {
    for attribute in scanner.attributes where Self.isLocal(attribute.name, wanted) { return attribute.value }
    return nil
  }

  /// The bytes of the value of an attribute with a prefix, as above: where names differ in their prefixes only.
  func attribute(_ wanted: StaticString, prefix: [UInt8]) -> UnsafeBufferPointer<UInt8>? {
    let count = prefix.count + 1 + wanted.utf8CodeUnitCount
    for attribute in scanner.attributes
    where attribute.name.count == count && attribute.name.starts(with: prefix)
      && Self.isLocal(attribute.name, wanted)
    {
      return attribute.value
    }
    return nil
  }

  /// The prefix that the element declares for a namespace; nil if it declares none.
  func prefix(of namespace: StaticString) -> [UInt8]? {
    let declaration = Array("xmlns:".utf8)
    let wanted = UnsafeBufferPointer(start: namespace.utf8Start, count: namespace.utf8CodeUnitCount)
    for attribute in scanner.attributes
    where attribute.name.starts(with: declaration) && attribute.value.elementsEqual(wanted) {
      return Array(attribute.name.dropFirst(declaration.count))
    }
    return nil
  }

  /// Appends a value, decoded.
  func append(_ value: UnsafeBufferPointer<UInt8>, to output: inout [UInt8]) {
    guard let start = value.baseAddress else { return }
    XMLText.decode(from: start, to: start + value.count, isLiteral: false, isAttribute: true, into: &output)
  }

  /// An attribute's value.
  func text(of attribute: StaticString) -> String? {
    guard let value = self.attribute(attribute) else { return nil }
    var text: [UInt8] = []
    append(value, to: &text)
    return String(decoding: text, as: UTF8.self)
  }

  /// Whether an attribute says yes.
  func flag(_ attribute: StaticString) -> Bool { ["1", "true", "on"].contains(text(of: attribute) ?? "") }

  /// Appends the decoded text, after `text`.
  func appendText(to output: inout [UInt8]) {
    guard let start = content.baseAddress else { return }
    if isLiteral || !XMLText.needsDecoding(from: start, to: start + content.count) {
      output.append(contentsOf: content)
    } else {
      XMLText.decode(from: start, to: start + content.count, isLiteral: false, isAttribute: false, into: &output)
    }
  }

  func next() throws(ReaderError) -> Event {
    if isEmpty {
      isEmpty = false
      close()
      return .end
    }
    window.consume(tokenLength)
    tokenLength = 0
    while true {
      let start = BytePointer(window.base + window.head)
      let end = start + window.unread
      switch scanner.next(start, end) {
      case .more:
        guard window.unread <= maximumTokenBytes else { throw fault(XMLMistake.tooLong.description) }
        if try window.fill() { continue }
        let rest = window.bytes
        guard depth == 0, hasBegun, rest.allSatisfy(JSONToken.isSpace) else {
          throw fault(XMLMistake.unexpectedEnd.description)
        }
        return .finished
      case .mistake(let mistake, let place): throw fault(mistake.description, after: place - start)
      case .token(let token, let stop):
        tokenLength = stop - start
        if let event = try take(token) { return event }
        window.consume(tokenLength)
        tokenLength = 0
      }
    }
  }

  /// The bytes in memory after the last token, if that wasn't an empty tag.
  var waiting: (start: BytePointer, end: BytePointer)? {
    if isEmpty { return nil }
    window.consume(tokenLength)
    tokenLength = 0
    let start = BytePointer(window.base + window.head)
    return (start, start + window.unread)
  }

  /// Passes bytes of those in memory, which have been understood as whole elements in the open one.
  func pass(_ count: Int) { window.consume(count) }

  /// Passes the element that has begun.
  func skip() throws(ReaderError) {
    let outer = depth - 1
    while depth > outer { _ = try next() }
  }

  /// Moves on to the next element in the open one; false if that has ended.
  /// - Parameter depth: the depth inside of the open one.
  func nextChild(at depth: Int) throws(ReaderError) -> Bool {
    while true {
      switch try next() {
      case .start: return true
      case .end: if self.depth < depth { return false }
      case .text: break
      case .finished: return false
      }
    }
  }

  /// Passes the rest of the part, in which nothing is looked at: its end says whether it was damaged.
  func finish() throws(ReaderError) {
    repeat {
      window.consume(window.unread)
      tokenLength = 0
    } while try window.fill()
  }

  /// Moves to a place between elements in the open one.
  /// - Returns: false if the part ends before it.
  func seek(to place: Int64) throws(ReaderError) -> Bool {
    tokenLength = 0
    isEmpty = false
    return try window.seek(to: place)
  }

  func fault(_ what: String, after distance: Int = 0) -> ReaderError {
    .workbook(.malformed(part: part, offset: window.offset + Int64(distance), what: what))
  }

  private func take(_ token: XMLScanner.Token) throws(ReaderError) -> Event? {
    switch token {
    case .start(let name, let isEmpty):
      if depth == 0, hasBegun { throw fault(XMLMistake.secondRoot.description) }
      guard depth < XMLMistake.maximumDepth else { throw fault(XMLMistake.tooDeep.description) }
      starts.append(open.count)
      open.append(contentsOf: name)
      hasBegun = true
      content = name
      self.isEmpty = isEmpty
      return .start
    case .end(let name):
      guard let start = starts.last, open.count - start == name.count,
        open.withUnsafeBufferPointer({ $0[start...].elementsEqual(name) })
      else { throw fault(XMLMistake.wrongEndTag.description) }
      close()
      return .end
    case .text(let text):
      guard depth > 0 else {
        if text.allSatisfy(JSONToken.isSpace) { return nil }
        throw fault(XMLMistake.textOutside.description)
      }
      (content, isLiteral) = (text, false)
      return .text
    case .literal(let text):
      guard depth > 0 else { throw fault(XMLMistake.textOutside.description) }
      (content, isLiteral) = (text, true)
      return .text
    case .passedOver: return nil
    case .doctype: throw fault(XMLMistake.ownDeclarations.description)
    }
  }

  private func close() {
    guard let start = starts.popLast() else { return }
    open.removeSubrange(start...)
  }

  @inline(__always)
  private static func isLocal(_ name: UnsafeBufferPointer<UInt8>, _ wanted: StaticString) -> Bool {
    let count = wanted.utf8CodeUnitCount
    guard name.count >= count else { return false }
    let rest = name.count - count
    guard rest == 0 || name[rest - 1] == UInt8(ascii: ":") else { return false }
    for index in 0..<count where name[rest + index] != wanted.utf8Start[index] { return false }
    return true
  }

  private static func local(_ name: UnsafeBufferPointer<UInt8>) -> UnsafeBufferPointer<UInt8> {
    guard let colon = name.lastIndex(of: UInt8(ascii: ":")) else { return name }
    return UnsafeBufferPointer(rebasing: name[(colon + 1)...])
  }
}
