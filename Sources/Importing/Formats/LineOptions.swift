/// The options that formats of lines share.
enum LineOptions {
  static let comment = FormatField<String?>(optional: "comment")
  static let skipLines = FormatField("skipLines", default: 0)

  static let options: [FormatOption] = [commentOption, skipLinesOption]

  private static let commentOption = FormatOption(
    "comment", optional: comment, help: "the beginning of lines that aren't records"
  ) { value throws(ReaderError) in try value.text() }

  static let skipLinesOption = FormatOption(
    "skip_lines", skipLines, help: "the number of lines before the header"
  ) { value throws(ReaderError) in try value.number(0...1_000_000) }

  static func validate(_ options: ReaderOptions) throws(ReaderError) {
    guard (0...1_000_000).contains(options.skipLines) else {
      throw .invalidOption(name: "skip_lines", reason: "it must be between 0 and 1,000,000")
    }
    guard let comment = options.comment else { return }
    guard (1...16).contains(comment.utf8.count), !comment.utf8.contains(where: { $0 == 10 || $0 == 13 || $0 == 0 })
    else {
      throw .invalidOption(name: "comment", reason: "“\(comment)” isn't 1 to 16 bytes, or it ends a line")
    }
  }
}

extension ReaderOptions {
  /// CSV, TSV and fixed width: lines that begin with this, outside of quotes, are skipped. At most 16 bytes.
  package var comment: String? {
    get { self[LineOptions.comment] }
    set { self[LineOptions.comment] = newValue }
  }

  /// CSV, TSV and fixed width: this many lines at the beginning are skipped, whatever their content; the header comes after
  /// them.
  package var skipLines: Int {
    get { self[LineOptions.skipLines] }
    set { self[LineOptions.skipLines] = newValue }
  }
}
