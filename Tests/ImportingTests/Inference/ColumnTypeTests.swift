import Testing

@testable import Importing

@Suite("The types of columns")
struct ColumnTypeTests {
  @Test(
    "follow from all values, without losing anything of a text",
    arguments: [
      (["0", "1"], "Integer 64"), (["1", "-32768"], "Integer 64"), (["1", "32768"], "Integer 64"),
      (["9", "2147483648"], "Integer 64"), (["9", "-9223372036854775808"], "Integer 64"),
      (["9", "9223372036854775808"], "Decimal"), (["007", "8"], "String"), (["+49301234"], "String"),
      (["1.5", "2"], "Double"), (["1.50", "2.25"], "Decimal"), (["1.123456789012345678"], "Decimal"),
      (["1e5"], "String"), (["1.5e5"], "Double"), (["true", "FALSE"], "Boolean"), (["yes", "No", "true"], "Boolean"),
      (["y", "n"], "String"),
      (["true", "1"], "String"), (["2024-01-31", "2024-01-31T12:00:00Z"], "Date"), (["2024-02-30"], "String"),
      (["25:10:00"], "String"), (["31.12.2024"], "Date dd.MM.yyyy"), (["2024/12/31"], "Date yyyy/MM/dd"),
      (["12/31/2024", "01/02/2024"], "Date MM/dd/yyyy"), (["31/12/2024", "01/02/2024"], "Date dd/MM/yyyy"),
      (["01/02/2024", "03/04/2024"], "String"), (["20241231"], "Integer 64"),
      (["3f2504e0-4f89-11d3-9a0c-0305e82c3301"], "UUID"), (["https://example.org/a?b=c", "ftp://x.org"], "URI"),
      (["mailto:a@example.org"], "String"), (["a"], "String"), ([" 1 ", "2"], "Integer 64"),
      (["1", " "], "Integer 64"),
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

  @Test("whole numbers count time since 1970 only where the column's name suggests times")
  func unixTime() throws {
    let columns = try InferenceRoom().columns("created_at,user_no,time,ts\n1700000000,1700000000,83000,1700000000000\n")
    #expect(
      columns == ["created_at Date UnixTime", "user_no Integer 64", "time Integer 64", "ts Date UnixTimeMillis"])
    let finer = try InferenceRoom().columns("at,ts\n1700000000123,1700000000123456\n")
    #expect(finer == ["at Date UnixTimeMillis", "ts Date UnixTimeMicros"])
  }

  @Test(
    "numbers in another notation stay text, and a note says what they may be",
    arguments: [
      (["1,5", "1.234,56"], "decimal comma"), (["1,234.5", "12"], "grouped digits"),
      (["1,234", "5,678"], "decimal commas or group digits"),
      (["12%", "3.5 %"], "with --option 'properties.value.unit=%'"),
      (["$12.50", "$1,000"], "properties.value.unit=$' --option 'properties.value.grouping_separator=,'"),
      (["12,50 €", "7 €"], "properties.value.unit=€' --option 'properties.value.decimal_separator=,'"),
      (["EUR 5", "EUR 7.20"], "properties.value.unit=EUR'"), (["$5", "7 €"], "different units"), (["$5", "7"], "some"),
      (["1.234 €", "5.678 €"], "no value decides"), (["+4912345678", "+4987654321"], ""),
      (["(1,234.00)", "5.00"], "grouping_separator=,' --option 'properties.value.negatives=parentheses'"),
      (["5-", "7"], "negatives=trailing_minus"), (["5.000,00-", "7"], "grouping_separator=.'"), (["5-", "(7)"], ""),
      (["1e3", "2E-4"], "exponents"), (["y", "N"], "true and false"),
      (["1", "NA"], "Integer 64 but for “NA”"), (["1.25", "n/a", "-", "2"], "Double but for “n/a” and “-”"),
      (["2024-01-31", "NULL"], "Date but for “NULL”"), (["a", "NA"], ""), (["A1", "B,2"], ""), (["007,5"], ""),
    ])
  func notations(_ values: [String], _ words: String) throws {
    let lines = values.map { "\"\($0)\",x\n" }.joined()
    let model = try InferenceRoom().infer([("things.csv", "value,other\n" + lines)])
    let column = try #require(model.entities.first?.columns.first)
    #expect(column.type == "String")
    let notes = column.notes.joined()
    #expect(words.isEmpty ? notes.isEmpty : notes.contains(words), "\(notes)")
  }

  @Test("words that are said to mean no value count as none, and the imports get them as an option")
  func nulls() throws {
    let room = try InferenceRoom()
    let path = try room.write("id,delay,day\n1,NA,NA\n2,-3,2024-01-31\nNA,4,NA\n", as: "flights.csv")
    let model = try ModelInference(named: ["nulls": ["NA"]]).run([path])
    let columns = try #require(model.entities.first?.columns)
    #expect(columns.map(\.type) == ["Integer 64", "Integer 64", "Date"])
    #expect(columns.map(\.nulls) == [1, 1, 2])
    #expect(model.keys == ["Flight": []])
    #expect(model.notes.contains { $0.contains("nulls: [NA]") })
    let text = try ModelInference().run([path])
    #expect(text.entities[0].columns.map(\.type) == ["String", "String", "String"])
    #expect(text.entities[0].columns[1].notes.joined().contains("--option 'nulls=NA'"))
  }

  @Test("the columns of a file without a header line are numbered, and can be imported by those names")
  func headerless() throws {
    let room = try InferenceRoom()
    let path = try room.write("1;Ada;2.50\n2;Bob;3.25\n", as: "people.csv")
    let model = try ModelInference(named: ["header": ["false"]]).run([path])
    #expect(model.entities[0].columns.map(\.name) == ["column1", "column2", "column3"])
    #expect(model.entities[0].columns.map(\.type) == ["Integer 64", "String", "Decimal"])
    #expect(model.entities[0].records == 2)
    #expect(model.entities[0].notes.contains { $0.contains("header: false") && $0.contains("column1 to column3") })
    let named = try ModelInference(named: ["header": ["false"], "columns": ["id", "name", "price"]]).run([path])
    #expect(named.entities[0].columns.map(\.name) == ["id", "name", "price"])
  }

  @Test("a file with a header and no records has its columns, as text")
  func noRecords() throws {
    let model = try InferenceRoom().infer([("shapes.txt", "shape_id,shape_pt_lat\n"), ("empty.csv", "")])
    #expect(model.entities.map(\.name) == ["Shape"])
    #expect(model.entities[0].columns.map(\.type) == ["String", "String"])
    #expect(model.entities[0].notes.contains { $0.contains("no records") })
    #expect(model.notes.contains { $0.contains("empty.csv was skipped: it has no records") })
  }

  @Test("a file of more columns than a table can have is noted")
  func wide() throws {
    func notes(_ count: Int) throws -> String {
      let names = (1...count).map { "c\($0)" }.joined(separator: ",")
      return try InferenceRoom().infer([("wide.csv", names + "\n")]).entities[0].notes.joined()
    }
    #expect(try notes(2000).contains("at most 2000"))
    #expect(try !notes(1999).contains("at most"))
  }

  @Test("ambiguous, empty and nested columns are noted")
  func notes() throws {
    let model = try InferenceRoom().infer([
      (
        "a.ndjson",
        #"{"id":1,"day":"01/02/2024","tags":["x",{"y":1}],"none":null,"ok":true,"n":12345678901234567890,"when":20240102}"#
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
