import Testing

@testable import Importing

@Suite("Places in XML")
struct XMLPositionTests {
  @Test("a reader resumes at any record, even where names begin with a combining accent")
  func accents() throws {
    let accent = "\u{301}"
    let text = "<\(accent)r><\(accent)s><\(accent)i>1</\(accent)i><\(accent)i>2</\(accent)i></\(accent)s></\(accent)r>"
    for record in ["\(accent)i", "\(accent)r/\(accent)s/\(accent)i"] {
      let options = ReaderOptions(format: .xml).with(record: record)
      let file = try SourceFile(Array(text.utf8), name: "a.xml")
      let whole = try file.read(options, limit: 1)
      #expect(whole.error == nil && whole.records.count == 2)
      for (index, end) in whole.ends.enumerated() {
        let rest = try file.read(options, from: end)
        #expect(rest.error == nil)
        #expect(rest.records == Array(whole.records[(index + 1)...]))
      }
    }
  }

  @Test("a tag across the end of a block is read whole, even when the unread bytes are moved")
  func moved() throws {
    // Blocks of 64 bytes: a tag lies across the end of the second, when the window has enough room to move the unread bytes
    // to its front. The end of the third block then takes their place: another tag, of the same length.
    func padded(_ text: String, to length: Int) -> String {
      text + String(repeating: ".", count: length - text.utf8.count)
    }
    var text = padded("<r>", to: 60) + "<b/>"
    text = padded(text, to: 124) + "<i>xyz</i>"
    text = padded(text, to: 188) + "<b/><i>2</i></r>"
    let file = try SourceFile(Array(text.utf8), name: "a.xml")
    let window = try SourceWindow(descriptor: file.descriptor, blockSize: 64)
    let reader = try XMLReader(window: window, options: ReaderOptions().with(record: "i"), from: nil)
    let batch = RecordBatch()
    #expect(try reader.read(into: batch, limit: 10))
    #expect((0..<batch.count).map { batch.string(batch.cell($0, 0)) } == ["xyz", "2"])
    #expect(try !reader.read(into: batch, limit: 10))
  }
}

extension ReaderOptions {
  fileprivate func with(record: String) -> ReaderOptions {
    var options = self
    options.record = record
    return options
  }
}
