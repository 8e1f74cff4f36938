import Testing

@testable import Importing

@Suite("XML")
struct XMLReaderTests {
  func xml(_ text: String, record: String? = nil, limit: Int = 16 << 20) throws -> ReadResult {
    var options = ReaderOptions(format: .xml, maximumRecordBytes: limit)
    options.record = record
    return try read(text, as: "a.xml", options)
  }

  @Test("attributes and elements are columns, elements inside elements by their path")
  func columns() throws {
    let result = try xml(
      "<people><person id=\"7\" vip='yes'><name>Ann</name><address type='home'><city>Graz</city></address></person>"
        + "\n<person id='8'><address><zip>1</zip>near</address><name/></person></people>")
    #expect(result.columns == ["@id", "@vip", "name", "address.@type", "address.city", "address", "address.zip"])
    #expect(
      result.named == [
        ["@id": "7", "@vip": "yes", "name": "Ann", "address.@type": "home", "address.city": "Graz"],
        ["@id": "8", "address.zip": "1", "address": "near", "name": "<empty>"],
      ])
    #expect(result.lines == [1, 2])
    #expect(result.raw[1] == "<person id='8'><address><zip>1</zip>near</address><name/></person>")
  }

  @Test("a record of more parts than may be held together is refused")
  func parts() throws {
    let parts = String(repeating: "<a/>", count: XMLMistake.maximumParts + 1)
    let result = try xml("<r><p><b>1</b></p><p>\(parts)</p></r>", record: "p")
    #expect(result.named == [["b": "1"]])
    guard case .malformed(1, _, XMLMistake.tooManyParts.description)? = result.error else {
      Issue.record("\(String(describing: result.error))")
      return
    }
  }

  @Test("an element that comes more than once in its parent is a JSON array")
  func repeated() throws {
    let result = try xml(
      "<r><i><t>x</t><n>1</n><t>y\"&#10;</t><p k='&lt;'><q>1</q><q>2</q>z</p><p/><p xsi:nil='1'/></i><i><t>x</t></i></r>"
    )
    #expect(
      result.named == [
        [
          "t": #"<nested>["x","y\"\n"]"#, "n": "1",
          "p": ##"<nested>[{"@k":"<","q":["1","2"],"#text":"z"},"",null]"##,
        ], ["t": "x"],
      ])
  }

  @Test("texts are decoded: references, CDATA, line ends; white space alone is nothing")
  func texts() throws {
    let result = try xml(
      "<r><i a='&quot;&apos;\n\t&#x1F600;'><b>&lt;&amp;&gt;\r\n</b><c><![CDATA[<b>&amp;]]]]><![CDATA[>]]></c>"
        + "<d> \n </d><e> x </e><f xsi:nil=\"true\"/><g><![CDATA[ ]]></g>own</i>\n<i>only</i></r>")
    #expect(
      result.named == [
        [
          "@a": "\"'  😀", "b": "<&>\n", "c": "<b>&amp;]]>", "d": "<empty>", "e": " x ", "f": "<null>", "g": " ",
          "#text": "own",
        ], ["#text": "only"],
      ])
  }

  @Test("the records are elements of a name, wherever they are, or of a path")
  func records() throws {
    let text = "<f:x xmlns:f='u'><i>1</i><l><i>2</i><m><i>3</i></m></l><f:i>4</f:i></f:x>"
    #expect(try xml(text, record: "i").cells == [["1"], ["2"], ["3"]])
    #expect(try xml(text, record: "f:i").cells == [["4"]])
    #expect(try xml(text, record: "f:x/l/i").cells == [["2"]])
    #expect(try xml(text, record: "/f:x/i").cells == [["1"]])
    #expect(try xml(text, record: "nothing") == ReadResult())
    #expect(try xml("<i><a>1</a></i>", record: "/i").cells == [["1"]])
  }

  @Test("without a name, the elements that come more than once are the records")
  func found() throws {
    #expect(try xml("<r><title>t</title><i>1</i><i>2</i></r>").cells == [["1"], ["2"]])
    #expect(try xml("<r><i>1</i></r>").cells == [["1"]])
    #expect(try xml("<r/>") == ReadResult())
    #expect(try xml("<r><a/><a/><b/><b/></r>").error == .severalRecords(found: ["a", "b"]))
    #expect(try xml("<r><a/><b/></r>").error == .severalRecords(found: ["a", "b"]))
  }

  static let brokenDocuments: [(text: String, mistake: XMLMistake, line: Int64, column: Int64)] = [
    ("<r><i>1</i></q>", .wrongEndTag, 1, 12), ("<r><i>1</i>", .unexpectedEnd, 1, 12),
    ("<r><i>1</i>\n<i><a></i></r>", .wrongEndTag, 2, 7), ("<r><i>1</i><i>&nbsp;</i></r>", .unknownReference, 1, 15),
    ("<r><i>1</i><i a='&x;'/></r>", .unknownReference, 1, 18),
    ("<r><i>1</i><i>a & b</i></r>", .unknownReference, 1, 17),
    ("<r><i>1</i><i>&#0;</i></r>", .badCharacterReference, 1, 15),
    ("<r><i>1</i><i>&#xD800;</i></r>", .badCharacterReference, 1, 15),
    ("<r><i>1</i><i>&#99999999999;</i></r>", .badCharacterReference, 1, 15),
    ("<r><i>1</i><i a='1' a='2'/></r>", .duplicateAttribute, 1, 12),
    ("<r><i>1</i><i a=1/></r>", .attributeWithoutValue, 1, 17),
    ("<r><i>1</i><i a/></r>", .attributeWithoutValue, 1, 16),
    ("<r><i>1</i><i a='<'/></r>", .lessThanInValue, 1, 18), ("<r><i>1</i><i a='1'b='2'/></r>", .badTag, 1, 20),
    ("<r><i>1</i>< i/></r>", .badName, 1, 13), ("<r><i>1</i><1/></r>", .badName, 1, 13),
    ("<r><i>1</i><!ELEMENT x></r>", .badDeclaration, 1, 12), ("<r><i>1</i></r>x", .textOutside, 1, 16),
    ("<r><i>1</i></r>\n<r/>", .secondRoot, 2, 1), ("<r><i>1</i><!DOCTYPE r></r>", .misplacedDoctype, 1, 12),
    ("<r><i>1</i><!-- ", .unexpectedEnd, 1, 17), ("<r><i>1</i><i><![CDATA[</i></r>", .unexpectedEnd, 1, 32),
  ]

  @Test("a document that breaks the rules is refused there, after its good records", arguments: brokenDocuments)
  func broken(text: String, mistake: XMLMistake, line: Int64, column: Int64) throws {
    let result = try xml(text, record: "r/i")
    #expect(result.cells == [["1"]])
    #expect(result.error == .malformed(line: line, column: column, what: mistake.description))
  }

  @Test("entities of the document's own are refused, and nothing is fetched")
  func entities() throws {
    let bomb = "<!DOCTYPE r [\n<!ENTITY a 'ha'><!ENTITY b '&a;&a;'>]>\n<r><i>&b;</i></r>"
    #expect(
      try xml(bomb, record: "i").error
        == .malformed(line: 1, column: 13, what: XMLMistake.ownDeclarations.description))
    let outside = "<!DOCTYPE r SYSTEM \"file:///etc/passwd\">\n<r><i>&x;</i></r>"
    #expect(
      try xml(outside, record: "i").error
        == .malformed(line: 2, column: 7, what: XMLMistake.unknownReference.description))
  }

  @Test("elements may be nested 200 deep and no deeper, inside records and outside")
  func depth() throws {
    let deep = String(repeating: "<a>", count: 100_000)
    let inside = try xml("<r><i>\(deep)", record: "i")
    #expect(inside.error == .malformed(line: 1, column: 601, what: XMLMistake.tooDeep.description))
    let outside = try xml(deep, record: "i")
    #expect(outside.error == .malformed(line: 1, column: 601, what: XMLMistake.tooDeep.description))
    let closed = String(repeating: "</a>", count: 197)
    let whole = try xml("<r><i>\(String(repeating: "<a>", count: 197))1\(closed)</i></r>", record: "i")
    #expect(whole.error == nil)
    #expect(whole.records.count == 1)
  }

  @Test("a record longer than the limit keeps its beginning, and the next is read")
  func tooLong() throws {
    let long = String(repeating: "<a>x &amp; <!-- > --></a>", count: 10_000)
    let result = try xml("<r><i>1</i><i>\(long)</i><i>2</i></r>", record: "i", limit: 10_000)
    #expect(result.error == nil)
    #expect(result.problems == [nil, .recordTooLong(limit: 10_000), nil])
    #expect(result.records[1].byteLength == Int64(long.utf8.count + 7))
    #expect(result.cells[2] == ["2"])
  }

  @Test("what stands around the records takes no memory, however long it is")
  func around() throws {
    let filler = String(repeating: "x y ", count: 200_000)
    let text = "<r><!-- \(filler) -->\(filler)<![CDATA[\(filler)]]><i>1</i><?p \(filler)?></r>"
    let file = try SourceFile(Array(text.utf8), name: "a.xml")
    let window = try SourceWindow(descriptor: file.descriptor, blockSize: 4_096)
    var options = ReaderOptions(format: .xml, maximumRecordBytes: 1_000)
    options.record = "i"
    let reader = try XMLReader(window: window, options: options, from: nil)
    let batch = RecordBatch()
    #expect(try reader.read(into: batch, limit: 10))
    #expect(batch.count == 1)
    #expect(try !reader.read(into: batch, limit: 10))
    #expect(window.capacity <= 8 * 4_096)
  }

  @Test("a record that isn't UTF-8, or has a zero byte, is a problem of its own")
  func notUTF8() throws {
    let bytes = Array("<r><i>".utf8) + [0xE9] + Array("</i><i>\u{e9}</i></r>".utf8)
    #expect(try SourceFile(bytes, name: "a.xml").read().problems == [.invalidUTF8, nil])
  }

  @Test("the number of columns is limited")
  func tooManyColumns() throws {
    let text = "<r>" + (0..<17_000).map { "<i><a\($0)/></i>" }.joined() + "</r>"
    let file = try SourceFile(Array(text.utf8), name: "a.xml")
    var options = ReaderOptions()
    options.record = "i"
    let reader = try openReader(fileDescriptor: file.descriptor, name: file.path, options: options, from: nil)
    let batch = RecordBatch()
    var count = 0
    #expect(throws: ReaderError.tooManyColumns(limit: 16_384)) {
      while try reader.read(into: batch, limit: 100_000) { count += batch.count }
    }
    #expect(count == 16_384)
  }
}
