import Testing

@testable import Importing

@Suite("Fixed width")
struct FixedWidthReaderTests {
  static let columns: [FixedWidthLayout.Column] = [
    .init("id", width: 4), .init("name", width: 6), .init("code", start: 12, end: 13),
  ]

  func fixed(_ text: String, _ change: (inout FixedWidthLayout) -> Void = { _ in }) throws -> ReadResult {
    var layout = FixedWidthLayout(columns: Self.columns)
    change(&layout)
    var options = ReaderOptions(format: .fixedWidth)
    options.fixedWidth = layout
    return try read(text, as: "a.txt", options)
  }

  @Test("columns are cut out by width and by range, and trimmed")
  func plain() throws {
    let result = try fixed("   1Ann    AB\n  22 Bo b x y more\r\n3             \n")
    #expect(result.columns == ["id", "name", "code"])
    #expect(result.cells == [["1", "Ann", "AB"], ["22", "Bo b", "y"], ["3", "<empty>", "<empty>"]])
    #expect(result.raw == ["   1Ann    AB", "  22 Bo b x y more", "3             "])
    #expect(result.problems == [nil, nil, nil])
    #expect(result.lines == [1, 2, 3])
  }

  @Test("places count characters, or bytes if that is said")
  func units() throws {
    let text = "   1Zoë😀日  AB\n"
    #expect(try fixed(text).cells == [["1", "Zoë😀日", "AB"]])
    let bytes = try fixed("   1Zoë    AB\n") { $0.unit = .bytes }
    #expect(bytes.cells == [["1", "Zoë", "A"]])
    #expect(bytes.problems == [nil])
    let split = try fixed("   1abcdeë AB\n") { $0.unit = .bytes }
    #expect(split.problems == [.splitCharacter(column: "name")])
  }

  @Test("a line that is too short is a problem, unless it may be")
  func short() throws {
    let text = "   1Ann    AB\n   2Bo\n   \n"
    let strict = try fixed(text)
    #expect(
      strict.problems == [nil, .lineTooShort(expected: 13, found: 6), .lineTooShort(expected: 13, found: 3)])
    let lenient = try fixed(text) { $0.allowsShortLines = true }
    #expect(lenient.problems == [nil, nil, nil])
    #expect(lenient.cells[1...] == [["2", "Bo", "<empty>"], ["<empty>", "<empty>", "<empty>"]])
  }

  @Test("spaces are kept where nothing is trimmed; a column of spaces is empty all the same")
  func untrimmed() throws {
    #expect(try fixed("   1 Ann     \n") { $0.trims = false }.cells == [["   1", " Ann  ", "<empty>"]])
  }

  @Test("bytes that aren't UTF-8, zero bytes and lines that are too long are problems of their lines")
  func problems() throws {
    var options = ReaderOptions(format: .fixedWidth, maximumRecordBytes: 20)
    options.fixedWidth = FixedWidthLayout(columns: [.init("a", width: 2)])
    let bytes = Array("ab\n".utf8) + [0xC3, 0x41, 10] + Array(repeating: 0x78, count: 30) + Array("\ncd".utf8)
    let result = try SourceFile(bytes, name: "a.txt").read(options)
    #expect(result.problems == [nil, .invalidUTF8, .recordTooLong(limit: 20), nil])
    #expect(result.cells[3] == ["cd"])
  }

  @Test("a layout without a place for a column is refused")
  func layouts() throws {
    let bad: [[FixedWidthLayout.Column]] = [
      [], [.init("a")], [.init("a", width: 0)], [.init("a", width: 1, end: 3)], [.init("a", start: 3, end: 2)],
      [.init("a", start: 0, end: 2)], [.init("a", width: .max)],
    ]
    for columns in bad {
      guard case .invalidOption("fields", _) = try fixed("ab\n", { $0.columns = columns }).error else {
        Issue.record("taken: \(columns)")
        continue
      }
    }
    #expect(
      try fixed("ab\n") { $0.columns = [.init("a", width: 1), .init("a", width: 1)] }.error
        == .duplicateColumn(name: "a"))
  }
}
