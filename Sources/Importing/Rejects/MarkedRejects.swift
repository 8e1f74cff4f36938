/// Reads reject files in which a reason is a line of its own before the record: of XML and of fixed-width sources.
enum MarkedRejects {
  /// A line is looked at as far as this.
  private static let maximumLine = 128 << 10

  /// Whether the file in the window, at its beginning, is one of these.
  static func isForm(of window: SourceWindow) -> Bool {
    let start = window.bytes.drop { JSONToken.isSpace($0) || [0xEF, 0xBB, 0xBF].contains($0) }
    if start.starts(with: RejectReason.fixedWidthTitle.utf8) { return true }
    return start.starts(with: "<?xml".utf8)
      && !start.prefix(1_024).contains(Array("<plist".utf8))
  }

  /// Calls `body` with each reason and the line after it.
  static func forEach(
    in window: SourceWindow, _ body: (RejectSummary.Reason, UnsafeRawBufferPointer) -> Void
  ) throws(ReaderError) {
    let marks = [RejectReason.instruction, RejectReason.fixedWidthMark + " "].map { Array($0.utf8) }
    var waiting: RejectSummary.Reason?
    while try eachLine(
      in: window,
      { line in
        if let reason = waiting {
          body(reason, UnsafeRawBufferPointer(line))
          waiting = nil
        } else if marks.contains(where: { line.starts(with: $0) }) {
          waiting = reason(in: String(decoding: line, as: UTF8.self))
        }
      })
    {}
    if let reason = waiting { body(reason, UnsafeRawBufferPointer(start: nil, count: 0)) }
  }

  private static func reason(in line: String) -> RejectSummary.Reason? {
    guard let space = line.firstIndex(of: " ") else { return nil }
    let values = RejectReason.attributes(of: String(line[space...]))
    guard let line = values["line"].flatMap({ Int64($0) }), let code = values["code"] else { return nil }
    return .init(line: line, column: values["column"] ?? "", code: code, message: values["message"] ?? "")
  }

  /// Lends the next line, or the beginning of a long one, and goes past it; false at the end.
  private static func eachLine(
    in window: SourceWindow, _ body: (UnsafeBufferPointer<UInt8>) -> Void
  ) throws(ReaderError) -> Bool {
    var length = window.bytes.firstIndex(of: CSVDialect.lineFeed)
    while length == nil, window.unread < maximumLine, try window.fill() {
      length = window.bytes.firstIndex(of: CSVDialect.lineFeed)
    }
    guard window.unread > 0 else { return false }
    body(UnsafeBufferPointer(rebasing: window.bytes.prefix(length ?? window.unread)))
    if let length {
      window.consume(length + 1)
      return true
    }
    repeat {
      if let end = window.bytes.firstIndex(of: CSVDialect.lineFeed) {
        window.consume(end + 1)
        break
      }
      window.consume(window.unread)
    } while try window.fill()
    return true
  }
}
