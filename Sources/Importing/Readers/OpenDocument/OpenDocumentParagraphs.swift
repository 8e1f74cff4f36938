/// The text of a cell: its paragraphs, each a line. White space is one space, and there is none at the beginning of a
/// paragraph; further spaces, tabs and ends of lines are elements. Source: OpenDocument 1.3, part 3, 6.1.2.
final class OpenDocumentParagraphs {
  private(set) var text: [UInt8] = []
  private let part: PartReader
  private let limit: Int
  /// The bytes that are kept; there may be a few more.
  private var kept = 0
  private var scratch: [UInt8] = []
  /// Where the paragraph begins.
  private var start = 0
  /// White space that was met, and is a space if something follows.
  private var space = Space.none

  private enum Space {
    case none
    /// Nothing but one space, which is one at the end, too: LibreOffice writes it so.
    case single
    case several
  }

  /// Elements in a paragraph whose text belongs to it.
  private static let inline: [StaticString] = [
    "span", "a", "meta", "meta-field", "ruby", "ruby-base", "sheet-name", "title", "date", "time", "author-name",
    "file-name", "page-number", "page-count",
  ]

  init(_ part: PartReader, limit: Int) {
    self.part = part
    self.limit = limit
  }

  /// Reads what stands in the cell that has begun, to its end: its paragraphs, but no annotation and nothing that is drawn.
  /// - Parameter kept: as many bytes are of interest.
  /// - Returns: whether there is a paragraph.
  func read(keeping kept: Int) throws(ReaderError) -> Bool {
    self.kept = kept
    text.removeAll(keepingCapacity: true)
    let depth = part.depth
    var hasParagraph = false
    while try part.nextChild(at: depth) {
      guard part.isNamed("p") || part.isNamed("h") else {
        try part.skip()
        continue
      }
      if hasParagraph { text.append(UInt8(ascii: "\n")) }
      hasParagraph = true
      try readParagraph()
    }
    return hasParagraph
  }

  private func readParagraph() throws(ReaderError) {
    let depth = part.depth
    start = text.count
    space = .none
    while true {
      switch try part.next() {
      case .text: appendText()
      case .start: try readElement()
      case .end:
        if part.depth < depth {
          if space == .single { flush() }
          return try check()
        }
      case .finished: return
      }
      try check()
    }
  }

  private func readElement() throws(ReaderError) {
    if part.isNamed("s") {
      let count = part.attribute("c").map { ValueBytes.number($0) ?? 0 } ?? 1
      guard count <= limit else { throw tooLong() }
      flush()
      text.append(contentsOf: repeatElement(UInt8(ascii: " "), count: min(Int(count), max(0, kept - text.count))))
    } else if part.isNamed("tab") {
      flush()
      text.append(UInt8(ascii: "\t"))
    } else if part.isNamed("line-break") {
      flush()
      text.append(UInt8(ascii: "\n"))
    } else if Self.inline.contains(where: { part.isNamed($0) }) {
      return
    }
    try part.skip()
  }

  private func appendText() {
    scratch.removeAll(keepingCapacity: true)
    part.appendText(to: &scratch)
    for byte in scratch where text.count < kept {
      if !JSONToken.isSpace(byte) {
        flush()
        text.append(byte)
      } else if text.count > start {
        space = space == .none && byte == UInt8(ascii: " ") ? .single : .several
      }
    }
  }

  private func flush() {
    if space != .none { text.append(UInt8(ascii: " ")) }
    space = .none
  }

  private func check() throws(ReaderError) {
    guard text.count <= limit else { throw tooLong() }
  }

  private func tooLong() -> ReaderError { part.fault("a text is longer than \(limit) bytes") }
}
