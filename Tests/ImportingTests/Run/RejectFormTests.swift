import Foundation
import Testing

@testable import Importing

@Suite("Rejects in the source's own format")
struct RejectFormTests {
  @discardableResult
  private func run(
    _ room: ImportRoom, _ form: RejectCase, batch: Int = 100, stopAfter: Int = .max
  ) throws -> ImportEnd {
    let file = room.file(form.name)
    if !FileManager.default.fileExists(atPath: file.path) { try Data(form.bytes()).write(to: file) }
    room.isSourceKept = true
    return try room.run("", as: form.name, reader: form.options, batch: batch, stopAfter: stopAfter)
  }

  @Test("corrected and dropped again with the same options, they are imported", arguments: RejectCase.allCases)
  func corrected(form: RejectCase) throws {
    let room = try ImportRoom(.memory)
    #expect(try run(room, form).tally == "2i 0u 0= \(2 + form.broken)r 0?")
    let corrected = try #require(room.rejects()).replacing("zzq", with: "  2").replacing("zzr", with: "  9")
    let end = try room.run(corrected, as: form.rejectsName, reader: form.options, job: "2")
    #expect(end.tally == "2i 0u 0= \(form.broken)r 0?")
    let names =
      form == .tsvEscapes
      ? ["a|Ann\n|1", "b|Zoë<&\n|2", "c|Cleo\n|3", "d|D\"a'n\n|9"]
      : ["a|Ann|1", "b|Zoë<&|2", "c|Cleo|3", "d|D\"a'n|9"]
    #expect(try room.rows("code", "name", "age") == names)
    #expect(!end.notes.contains { $0.contains("lade") })
  }

  @Test("dropped again as they are, they are rejected again, and written as before", arguments: RejectCase.allCases)
  func unmended(form: RejectCase) throws {
    let room = try ImportRoom(.memory)
    try run(room, form)
    var text = try #require(room.rejects())
    var records: [[String]] = []
    for job in ["2", "3"] {
      let end = try room.run(text, as: form.rejectsName, reader: form.options, job: job)
      #expect(end.tally == "0i 0u 0= \(2 + form.broken)r 0?")
      text = try #require(room.rejects(job))
      let summary = try RejectSummary.read(room.rejectsFile(job), options: form.options)
      #expect(summary.count == Int64(2 + form.broken))
      // Only where the records stand has changed.
      records.append(
        text.split(separator: "\n").map { line in
          String(line).replacing(/"?line"?(":|=|<\/key><integer>)"?[0-9]+/, with: "").replacing(
            /^[0-9]+[,\t]/, with: "")
        })
    }
    #expect(records[0] == records[1])
    #expect(text.components(separatedBy: "not_an_integer").count == 3)
  }

  @Test(
    "stopped after each batch, the file is whole each time, and in the end what one run writes",
    arguments: RejectCase.allCases, [1, 2])
  func resumed(form: RejectCase, batch: Int) throws {
    let whole = try ImportRoom(.sqlite)
    try run(whole, form, batch: batch)
    let room = try ImportRoom(.sqlite)
    var end = try run(room, form, batch: batch, stopAfter: 1)
    var stops = 0
    while !end.isFinished, stops < 20 {
      stops += 1
      if end.counts.rejected > 0 {
        let summary = try RejectSummary.read(room.rejectsFile(), options: form.options)
        #expect(summary.count == end.counts.rejected)
        // What a run that was killed had written past the last commit.
        let handle = try FileHandle(forWritingTo: room.rejectsFile())
        try handle.seekToEnd()
        try handle.write(contentsOf: Data("{\"lade\":<?lade".utf8))
        try handle.close()
      }
      try room.reopen()
      end = try run(room, form, batch: batch, stopAfter: 1)
    }
    #expect(stops > 1)
    #expect(room.rejects() == whole.rejects())
  }

  @Test("other programs read them", arguments: RejectCase.allCases)
  func readByOthers(form: RejectCase) throws {
    let room = try ImportRoom(.memory)
    try run(room, form)
    let data = try Data(contentsOf: room.rejectsFile())
    switch form {
    case .json, .zipMember:
      let array = try #require(try JSONSerialization.jsonObject(with: data) as? [[String: Any]])
      #expect(array.map { $0["code"] as? String } == ["b", "d", nil])
      #expect((array[2]["lade"] as? [String: Any])?["record"] as? String == "7")
    case .jsonRoot:
      let document = try #require(try JSONSerialization.jsonObject(with: data) as? [String: [String: [Any]]])
      #expect(document["a"]?["b \"<"]?.count == 3)
    case .jsonMembers:
      let document = try #require(try JSONSerialization.jsonObject(with: data) as? [String: [String: [String: Any]]])
      #expect(document["a"]?.keys.sorted() == ["b", "d", "e"])
      #expect(document["a"]?["b"]?["name"] as? String == "Zoë<&")
      #expect((document["a"]?["e"]?["lade"] as? [String: Any])?["record"] as? String == "\"e\": 7")
    case .plist:
      let list = try #require(try PropertyListSerialization.propertyList(from: data, format: nil) as? [[String: Any]])
      #expect(list.map { $0["name"] as? String } == ["Zoë<&", "D\"a'n", nil])
      #expect((list[0]["lade"] as? [String: Any])?["line"] as? Int == 3)
      #expect((list[2]["lade"] as? [String: Any])?["record"] as? String == "<string>&lt;</string>")
    case .plistRoot:
      let list = try PropertyListSerialization.propertyList(from: data, format: nil) as? [String: [String: [Any]]]
      #expect(list?["a"]?["b \"<"]?.count == 3)
    case .latin: #expect(data.starts(with: [0xEF, 0xBB, 0xBF]))
    default: #expect(!data.starts(with: [0xEF]))
    }
  }

  @Test("of XML have the reason as an instruction before the element, inside the elements around it")
  func xml() throws {
    let room = try ImportRoom(.memory)
    try run(room, .xmlPath)
    #expect(
      room.rejects() == """
        <?xml version="1.0" encoding="UTF-8"?>
        <all><people>
        <?lade line="2" column="age" code="not_an_integer" message="age: “zzq” isn't a whole number; \
        expected Integer 16 (-32768 to 32767)"?>
        <person id='1'><code>b</code>
        <name><![CDATA[Zoë<&]]></name><age>zzq</age></person>
        <?lade line="4" column="age" code="not_an_integer" message="age: “zzr” isn't a whole number; \
        expected Integer 16 (-32768 to 32767)"?>
        <person id='1'><code>d</code>
        <name><![CDATA[D"a'n]]></name><age>zzr</age></person>
        </people></all>

        """)
  }

  @Test("too long to be kept whole, they are noted, and their rest isn't taken for a record")
  func tooLong() throws {
    let long = String(repeating: "--> \"<", count: 200)
    let sources = [
      ("a.json", "[{\"code\":\"a\",\"name\":\"A\",\"x\":\"\(long.replacing("\"", with: ""))\"}]"),
      ("a.xml", "<all><p><code>a</code><name><![CDATA[\(long)]]></name></p></all>"),
      ("a.plist", "<plist><array><dict><key>a</key><string><![CDATA[\(long)]]></string></dict></array></plist>"),
    ]
    for (name, text) in sources {
      let room = try ImportRoom(.memory)
      let reader = ReaderOptions(maximumRecordBytes: 900)
      #expect(try room.run(text, as: name, reader: reader).tally == "0i 0u 0= 1r 0?")
      let summary = try RejectSummary.read(room.rejectsFile(), options: ReaderOptions())
      #expect(summary.groups.map(\.code) == ["record_too_long"])
      let again = try room.run(try #require(room.rejects()), as: "2." + name, job: "2")
      #expect(again.counts.inserted == 0)
    }
  }

  @Test("are named so that they are read as the source was")
  func names() {
    func ending(_ name: String, _ format: FileFormatName? = nil, member: String? = nil) -> String {
      RejectFileName.ending(of: name, ReaderOptions(format: format, member: member))
    }
    #expect(ending("people.csv.gz") == ".csv")
    #expect(ending("PEOPLE.JSON") == ".json")
    #expect(ending("a.tgz", member: "x/b.ndjson") == ".ndjson")
    #expect(ending("a.zip") == "")
    #expect(ending("people") == "" && ending("people.") == "" && ending("a.b c") == "")
    #expect(ending("people.dat", .xml) == ".xml")
    #expect(ending("people.txt", .csv) == ".txt")
    #expect(ending("people.csv", .fixedWidth) == ".txt")
  }
}
