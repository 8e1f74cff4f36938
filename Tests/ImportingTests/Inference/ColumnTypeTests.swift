import Testing

@testable import Importing

@Suite("The types of columns")
struct ColumnTypeTests {
  @Test(
    "follow from all values, without losing anything of a text",
    arguments: [
      (["0", "1"], "Integer 16"), (["1", "-32768"], "Integer 16"), (["1", "32768"], "Integer 32"),
      (["9", "2147483648"], "Integer 64"), (["9", "-9223372036854775808"], "Integer 64"),
      (["9", "9223372036854775808"], "Decimal"), (["007", "8"], "String"), (["+49301234"], "String"),
      (["1.5", "2"], "Double"), (["1.50", "2.25"], "Decimal"), (["1.123456789012345678"], "Decimal"),
      (["1e5"], "String"), (["1.5e5"], "Double"), (["true", "FALSE"], "Boolean"), (["yes", "no"], "String"),
      (["true", "1"], "String"), (["2024-01-31", "2024-01-31T12:00:00Z"], "Date"), (["2024-02-30"], "String"),
      (["25:10:00"], "String"), (["31.12.2024"], "Date dd.MM.yyyy"), (["2024/12/31"], "Date yyyy/MM/dd"),
      (["12/31/2024", "01/02/2024"], "Date MM/dd/yyyy"), (["31/12/2024", "01/02/2024"], "Date dd/MM/yyyy"),
      (["01/02/2024", "03/04/2024"], "String"), (["20241231"], "Integer 32"),
      (["3f2504e0-4f89-11d3-9a0c-0305e82c3301"], "UUID"), (["https://example.org/a?b=c", "ftp://x.org"], "URI"),
      (["mailto:a@example.org"], "String"), (["a"], "String"), ([" 1 ", "2"], "Integer 16"),
      (["1", " "], "Integer 16"),
      (["1", "x"], "String"), (["1.", "2"], "String"), (["-0"], "Decimal"), (["1,000"], "String"), (["NaN"], "String"),
      (["123456789012345678901234567890123456789"], "String"), ([""], "String"),
    ])
  func types(_ values: [String], _ expected: String) throws {
    let lines = values.map { "\"\($0)\",x\n" }.joined()
    #expect(try InferenceRoom().columns("value,other\n" + lines)[0] == "value \(expected)")
  }

  @Test("a column's name decides where the values leave it open")
  func names() throws {
    let columns = try InferenceRoom().columns(
      "start_date,phone,zip,price,order_no\n20240101,5551234,90210,1.5,1\n20241231,5551235,10115,2,2\n")
    #expect(
      columns == ["start_date Date yyyyMMdd", "phone String", "zip String", "price Decimal", "order_no Integer 64"])
  }

  @Test("ambiguous, empty and nested columns are noted")
  func notes() throws {
    let model = try InferenceRoom().infer([
      (
        "a.ndjson",
        #"{"id":1,"day":"01/02/2024","tags":["x"],"none":null,"ok":true,"n":12345678901234567890,"when":20240102}"#
          + "\n"
      )
    ])
    let columns = try #require(model.entities.first?.columns)
    func notes(_ name: String) -> String { columns.first { $0.name == name }?.notes.joined() ?? "?" }
    #expect(notes("day").contains("dd/MM/yyyy or MM/dd/yyyy"))
    #expect(notes("tags").contains("left out"))
    #expect(notes("none").contains("no values"))
    #expect(columns.map(\.attribute) == ["id", "day", nil, "none", "ok", "n", "when"])
    #expect(
      columns.map(\.type) == ["Integer 64", "String", "String", "String", "Boolean", "Decimal", "Date"])
  }

  @Test("records that can't be read don't count, and are reported")
  func unreadable() throws {
    let model = try InferenceRoom().infer([("a.csv", "id,n\n1,2\n2\n3,4\n")])
    let entity = try #require(model.entities.first)
    #expect((entity.records, entity.unreadable) == (2, 1))
    #expect(entity.notes.contains { $0.contains("line 3") })
    #expect(entity.columns[1].nulls == 0)
  }

  @Test("every format and compression is read")
  func formats() throws {
    let room = try InferenceRoom()
    let model = try room.infer([
      ("a.tsv", "id\tname\n1\tx\n"), ("b.json", #"[{"id":1,"name":"x"}]"#),
      (
        "c.xml",
        "<?xml version=\"1.0\"?><all><row><id>1</id><name>x</name></row><row><id>2</id><name>y</name></row></all>"
      ),
      (
        "d.plist",
        "<?xml version=\"1.0\"?><plist version=\"1.0\"><array><dict><key>id</key><integer>1</integer></dict></array></plist>"
      ),
    ])
    #expect(model.keys.values.allSatisfy { $0 == ["id"] })
    #expect(model.entities.map(\.name) == ["A", "B", "C", "D"])
    let packed = try Packing.tar([("x/e.csv", Array("id\n1\n".utf8)), ("f.csv", Array("id\n1\n".utf8))], .gzip)
    let inferred = try ModelInference().run([try room.write(.init(packed), as: "all.tar.gz")])
    #expect(inferred.entities.map(\.name) == ["E", "F"])
  }
}
