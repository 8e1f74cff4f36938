import Testing

@testable import Importing

@Suite("Places in XML")
struct XMLPositionTests {
  @Test("elements whose names begin with an accent are gone on with at any record")
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

  @Test("a tag that is cut by the end of a block is the tag that stands there, though what waited was moved")
  func moved() throws {
    // Of 64 bytes a block: a tag lies across the end of the second, when the window has room enough to move what waits
    // to its front. Where that stood, the end of the third block comes to stand: another tag, of the same length.
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
