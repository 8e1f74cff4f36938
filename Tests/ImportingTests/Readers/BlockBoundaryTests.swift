import Testing

@testable import Importing

/// Sources with every construct that the end of a block could fall into.
enum BoundaryCase: String, CaseIterable {
  case csv, csvWindows, csvOldMac, csvProblems, csvOpenQuote, csvLimit, csvScripts
  case csvEscapes, csvComments, csvEscapeProblems, csvEscapeLimit, csvTSVEscapes, fixedWidth, fixedWidthBytes
  case plist, plistBroken, plistLimit, plistFound, plistAlone, plistAloneInside
  case xml, xmlPath, xmlBroken, xmlLimit
  case json, jsonRoot, jsonProblems, jsonBroken, jsonLimit, jsonMembers, jsonObject, jsonObjects
  case ndjson, ndjsonProblems

  var name: String {
    if rawValue.hasPrefix("plist") { return "a.plist" }
    if rawValue.hasPrefix("xml") { return "a.xml" }
    return rawValue.hasPrefix("csv") || rawValue.hasPrefix("fixed")
      ? "a.csv" : rawValue.hasPrefix("nd") ? "a.ndjson" : "a.json"
  }

  var options: ReaderOptions {
    var options = ReaderOptions()
    if self == .csvLimit || self == .jsonLimit { options.maximumRecordBytes = 24 }
    switch self {
    case .csvEscapes, .csvEscapeProblems: options.escape = "\\"
    case .csvEscapeLimit: (options.escape, options.comment, options.maximumRecordBytes) = ("\\", "#", 24)
    case .csvComments: (options.comment, options.skipLines) = ("//", 2)
    case .csvTSVEscapes: (options.tsvEscapes, options.delimiter) = (true, "\t")
    case .plist: options.root = "é&.r"
    case .plistLimit: options.maximumRecordBytes = 24
    case .plistAloneInside: options.root = "é"
    case .xmlPath: options.record = "a:r/b/i"
    case .xmlLimit: options.maximumRecordBytes = 24
    case .fixedWidth, .fixedWidthBytes:
      options.format = .fixedWidth
      options.fixedWidth = FixedWidthLayout(
        columns: [.init("a", width: 3), .init("b", width: 2), .init("c", start: 7, end: 9)],
        unit: self == .fixedWidth ? .characters : .bytes)
      (options.comment, options.skipLines, options.maximumRecordBytes) = ("#", 1, 24)
    default: break
    }
    if self == .jsonRoot { options.root = "data.rows" }
    if self == .jsonMembers { (options.root, options.keyColumn) = ("d", "id") }
    return options
  }

  var text: String {
    switch self {
    case .csv: "id,name,note\n1,Ann,\"x, \"\"y\"\"\nz\"\n\n2,,\"\"\n3,\"\"\"\",\"last\nline\""
    case .csvWindows: "\u{FEFF}id,name\r\n1,\"a\r\nb\"\r\n\r\n2,x\ry\r\n3,\"q\"\"q\"\r\n4,\"\"\r"
    case .csvOldMac: "id,name\r1,\"a\rb\"\r\r2,xyz\r3,"
    case .csvProblems: "a,b\n1\n1,2,3\n\"x\"y,2\n3,\"x\n4,\"y\"\n5,\"z\" \r\n6,7\r\n\"8\nx\"y,2\n9,\"0"
    case .csvOpenQuote: "a,b\n1,2\n3,\"never closed\n4,5\n6,7\n8,\"\"\n9,x\"y\n"
    case .csvLimit:
      "a,b\n1,\(String(repeating: "x", count: 22))\n2,\(String(repeating: "y", count: 23))\n3,\"open\n4,5\n6,7\n8,9\n"
        + "10,\(String(repeating: "z\n", count: 3))\"a\nb\",1\n\"\n\n\n\n\n\n\n\",2\n1,2"
    case .csvScripts: "a,b\né,日本語\n\"😀,\n\",ž\nx,👩‍🚀\n"
    case .csvEscapes:
      "a,b\\,c\r\n1,\"x\\\"y\\\\\"\n2\\\n3,\"\"\"\\\n\"\"\"\r\n4\\\r\n5,\\\"q\n\\é,z\\"
    case .csvComments:
      "title, x\n\"\n// c\n\na,b\n//1,2\n1,//\n/,/\n\"//\n//\",2\n//\n//"
    case .csvEscapeProblems:
      "a,b\n1\n\"x\"y\\,2\n\\,,,\n3,\"x\\\"\n4,\"y\"\n5,\"z\" \r\n6,7\r\n\"8\\\"\nx\"y,2\n9,\"0\\"
    case .csvEscapeLimit:
      "a,b\n1,\(String(repeating: "x", count: 22))\n2,\(String(repeating: "\\y", count: 12))\n3,\"open\\\n4,5\n6,7\n"
        + "#\(String(repeating: "z", count: 40))\n#\n10,\(String(repeating: "z\\\n", count: 9))\"a\nb\",1\n1,2"
    case .csvTSVEscapes: "a\tb\n\\N\t\\t\\n\\\\N\n\"\t\\\n\r\nx\\\r\ny\t\\N1\n\\q\t"
    case .fixedWidth:
      "head\nabcde fgh\r\n日本語é x😀y\n\n# c\n  1    2\n   1 2   3 more\nabc\n\(String(repeating: "w", count: 30))\n  x é   ž"
    case .fixedWidthBytes: "head\nabcde fgh\nabé..\né1é...é1more\naéé ...1\n"
    case .plist:
      "<plist><dict><key>a</key><array><dict/></array>\n<key>é&amp;</key><dict><key>r</key><array><!-- -->\n"
        + "<dict><key>i</key><integer>1</integer><key>s</key><string>x<![CDATA[<]]></string></dict><true/>"
        + "<dict><key>l</key><array><string>x</string></array></dict></array></dict></dict></plist>\n"
    case .plistBroken:
      "<plist><array><dict><key>a</key><real>1.50</real></dict>\n<dict><key>a</key><key>b</key></dict></array></plist>"
    case .plistLimit:
      "<plist><array><dict/>\n<dict><key>a</key><real>1</real></dict><array/></array></plist>"
    case .plistFound:
      "<plist><dict><key>a</key><string>x</string>\n<key>é</key><array><dict><key>i</key><integer>1</integer></dict>\n"
        + "<dict/></array><key>z</key><array><true/></array></dict></plist>\n"
    case .plistAlone:
      "<plist>\n<dict><key>a</key><array><string>x</string></array><key>é</key><dict/></dict>\n</plist>\n"
    case .plistAloneInside:
      "<plist><dict><key>é</key>\n<dict><key>a</key><real>1.50</real></dict><key>z</key><array><dict/></array></dict></plist>"
    case .xml:
      "\u{FEFF}<?xml version='1.0'?>\r\n<!DOCTYPE r PUBLIC \"-//x>\" 'y'>\n<!-- <i> --> <r k='>'>t<i id=\"1\" n='a&lt;&#xE9;\n'>"
        + "<n>x &amp; y</n><p><q z='1'/>é</p><p/></i>\n<!-- - -- ><i/> --><x><i/></x>\n<i\n>t<!-- c -->u<![CDATA[<&]]]>]]></i >"
        + "<?p ?x?><i><n> </n><m xsi:nil='true'/></i><![CDATA[<i/>]]></r>\n<!-- end -->\n"
    case .xmlPath:
      "<a:r xmlns:a='u'><i>no</i><b><i>1</i><c><i/></c><i>2</i></b>\n<b>t&amp;<i a='1'/></b><b/></a:r>"
    case .xmlBroken: "<r><i>1</i>\n<i><a>2</a></i>\n<i><a>3</b></i></r>"
    case .xmlLimit:
      "<r><i>123456789012345678</i><i>1234567890123456789</i>\n<i><!-- 1234567890123456789 --><i/>&amp;</i>"
        + "<i><![CDATA[123456789012345]]></i><i>2</i></r>"
    case .json:
      #"[{"id":1,"n":"a\"\\\u00e9\ud83d\ude00"}, {"n":-1.5e+10,"t":true,"x":{"a":[1,{}]}} ,{"id":null}]"# + "\n"
    case .jsonRoot:
      #"{"x":"]\"","y":[{"rows":[{}]}],"data":{"n":12.5,"rows":[{"a":1},"# + "\n"
        + #"{"a":"é"}],"z":[false]},"end":{"é":[]}}"#
    case .jsonProblems: #"[1, {"a":"x"},"two",[3,[4]],{"a":false},nul"# + "]"
    case .jsonBroken: #"{"rows":[{"a":1},{"a":12,"b":"tail"},{"a":"\ud83dx"}]}"#
    case .jsonLimit:
      #"[{"a":"12345678901234567"},{"a":"\n234567890123456789012\"3"},[1,2,3,4,5,6,7,8,9,10,11,12],{"a":1}]"#
    case .jsonMembers:
      #"{"d":{"a":{"x":1}, "\u00e9" : {"x":"\ud83d\ude00"} ,"b":[1],"c":{"id":"d"},"\ud83dx":{},"":{"id":null}},"z":[{}]}"#
        + "\n"
    case .jsonObject: "{\"a\": {\"b\": [1, {\"c\": \"\\u00e9\"}]},\n \"d\" : \"]}\" , \"e\": false }\n"
    case .jsonObjects:
      "{\n  \"a\": 1,\n \"n\": \"\\u00e9\"\n}\n{\"a\":{\"b\":[{}]}}{} 7 \r\n{\n\"d\":\"]}\"}\n"
    case .ndjson: "{\"a\":1,\"b\":\"\\u00e9x\"}\r\n\n {\"b\":[1,{\"c\":\"}\"}]} \n{\"a\":\"é\"}"
    case .ndjsonProblems: "{\"a\":1}\n{\"a\":}\n{\"a\":\"\\ud800\"}\n[]\n{\"a\":2} 3\n{\"a\"\n{\"a\":4}\n\"open"
    }
  }

  var file: SourceFile { get throws { try SourceFile(Array(text.utf8), name: name) } }
}

@Suite("Block boundaries and resumption")
struct BlockBoundaryTests {
  @Test("the result doesn't depend on block boundaries", arguments: BoundaryCase.allCases)
  func blocks(test: BoundaryCase) throws {
    let file = try test.file
    let whole = try file.read(test.options)
    #expect(!whole.records.isEmpty, "\(String(describing: whole.error))")
    for blockSize in 1...17 {
      let result = try file.read(test.options, blockSize: blockSize)
      #expect(result == whole, "block size \(blockSize)")
    }
  }

  @Test("the result doesn't depend on the size of batches", arguments: BoundaryCase.allCases)
  func limits(test: BoundaryCase) throws {
    let file = try test.file
    let whole = try file.read(test.options)
    for limit in 1...4 {
      let result = try file.read(test.options, limit: limit, blockSize: 5)
      #expect(result.records == whole.records)
      #expect(result.error == whole.error)
      #expect(result.ends.last?.record == Int64(whole.records.count))
    }
  }

  @Test("a reader opened at any batch's end yields exactly the records after it", arguments: BoundaryCase.allCases)
  func resumption(test: BoundaryCase) throws {
    let file = try test.file
    let whole = try file.read(test.options, limit: 1)
    for (index, end) in whole.ends.enumerated() {
      let rest = try file.read(test.options, from: end, limit: 2, blockSize: 7)
      // After a JSON position, columns may come in another order, so they are compared by name.
      var expected = Array(whole.records[(index + 1)...])
      var found = rest.records
      if !test.name.hasSuffix("csv") {
        for record in expected.indices { expected[record].cells = [] }
        for record in found.indices { found[record].cells = [] }
      }
      #expect(found == expected)
      #expect(rest.error == whole.error)
      if let last = rest.ends.last { #expect(last.record == Int64(whole.records.count)) }
    }
  }

  @Test("whatever the bytes, every one of a CSV file is in a record or ends a line", arguments: 0..<60)
  func lossless(seed: UInt64) throws {
    var dice = Dice(seed: seed + 1_000)
    let pieces = ["a", "b,", ",", "\"", "\"", "\"\"", ",\"", "\",", "\n", "\n", "\r\n", "\r", "é", "xyzxyzxyz"]
    let body = (0..<200).map { _ in dice.pick(pieces) }.joined()
    let bytes = Array("a,b\n".utf8) + Array(body.utf8)
    let file = try SourceFile(bytes, name: "a.csv")
    let options = ReaderOptions(maximumRecordBytes: dice.pick([20, 100, 1_000]))
    let whole = try file.read(options, limit: 1)
    #expect(whole.error == nil)
    var next = 4
    for record in whole.records {
      #expect(bytes[next..<Int(record.byteOffset)].allSatisfy { $0 == 10 || $0 == 13 })
      #expect(Array(bytes[Int(record.byteOffset)...].prefix(Int(record.byteLength))) == record.raw)
      #expect(record.line == Int64(bytes[..<Int(record.byteOffset)].count { $0 == 10 } + 1))
      next = Int(record.byteOffset + record.byteLength)
    }
    #expect(bytes[next...].allSatisfy { $0 == 10 || $0 == 13 })
    for blockSize in [1, 2, 3, 7, 8, 9, 64] {
      #expect(try file.read(options, blockSize: blockSize).records == whole.records)
    }
    for (index, end) in whole.ends.enumerated() {
      #expect(try file.read(options, from: end, blockSize: 5).records == Array(whole.records[(index + 1)...]))
    }
  }

  @Test("broken JSON is refused in the same way whatever the block size", arguments: 0..<40)
  func mutations(seed: UInt64) throws {
    var dice = Dice(seed: seed + 2_000)
    let pieces = Array(#"{}[]",:\u0 1-.eEtrufalsn"#.utf8) + [0x0A, 0xC3, 0x1F]
    for test in [BoundaryCase.json, .jsonRoot, .jsonLimit, .ndjson] {
      var bytes = Array(test.text.utf8)
      for _ in 0...dice.roll(3) { bytes[dice.roll(bytes.count)] = dice.pick(pieces) }
      let file = try SourceFile(bytes, name: test.name)
      let whole = try file.read(test.options)
      for blockSize in [1, 2, 3, 7, 8, 9, 64] {
        #expect(try file.read(test.options, blockSize: blockSize) == whole)
      }
    }
  }

  @Test("a batch's end is the line and byte of the next record's line")
  func ends() throws {
    let result = try read("a,b\n\"x\ny\",1\n2,3\n", limit: 1)
    #expect(
      result.ends == [
        ReaderPosition(byteOffset: 12, line: 4, record: 1), ReaderPosition(byteOffset: 16, line: 5, record: 2),
      ])
  }

  @Test("a source that was cut by a crash and grew again isn't resumed beyond its end")
  func beyondEnd() throws {
    let position = ReaderPosition(byteOffset: 100, line: 9, record: 8)
    for name in ["a.csv", "a.ndjson"] {
      let file = try SourceFile(Array("{\"a\":1}\n".utf8), name: name)
      #expect(try file.read(from: position).error == .positionInvalid(position, fileSize: 8))
    }
    let odd = ReaderPosition(byteOffset: 3, line: 1, record: 1, state: "after x 1")
    #expect(
      try SourceFile(Array("[{}]".utf8), name: "a.json").read(from: odd).error == .positionInvalid(odd, fileSize: 4))
  }

  @Test("a window frees consumed bytes, and the memory of long records")
  func memory() throws {
    let rows = (0..<20_000).map { "\($0),\($0 == 50 ? String(repeating: "x", count: 300_000) : "some text")\n" }
    let file = try SourceFile(Array(("a,b\n" + rows.joined()).utf8), name: "a.csv")
    let window = try SourceWindow(descriptor: file.descriptor, blockSize: 4_096)
    let reader = try CSVReader(window: window, options: ReaderOptions(), delimiter: nil, from: nil)
    let batch = RecordBatch()
    var count = 0
    while try reader.read(into: batch, limit: 500) { count += batch.count }
    #expect(count == 20_000)
    #expect(window.capacity <= 8 * 4_096)
  }

  @Test("a batch ends at four mebibytes whatever the limit")
  func batchSize() throws {
    let line = String(repeating: "x", count: 999) + "\n"
    let file = try SourceFile(Array(("a\n" + String(repeating: line, count: 10_000)).utf8), name: "a.csv")
    let reader = try openReader(fileDescriptor: file.descriptor, name: "a.csv", options: .init(), from: nil)
    let batch = RecordBatch()
    var counts: [Int] = []
    while try reader.read(into: batch, limit: .max) { counts.append(batch.count) }
    #expect(counts == [4_199, 4_199, 1_602])
  }
}
