import Testing

@testable import Importing

@Suite("Rows with far too many fields")
struct WideRowTests {
  @Test(
    "a million column names are refused, and not read beyond the limit",
    arguments: LineFormat.allCases.filter { $0 != .fixed && $0 != .tsv })
  func names(format: LineFormat) async {
    await #expect(processExitsWith: .success) { [format = format as LineFormat] in
      try HostileImport.run(
        format.name, .fails(["there are more than 16384 different column names"]), reader: format.reader
      ) { url in
        // The excess names come first: generating a million different ones takes longer than refusing them.
        let names = (0..<20_000).map { "c\($0)" } + [String](repeating: "x", count: 980_000)
        let text =
          switch format {
          case .csv: names.joined(separator: ",")
          case .tsv: names.joined(separator: "\t")
          case .fixed: ""
          case .ndjson: "{" + names.map { "\"\($0)\":1" }.joined(separator: ",") + "}"
          case .json: "[{" + names.map { "\"\($0)\":1" }.joined(separator: ",") + "}]"
          case .xml: "<r><i>" + names.map { "<\($0)/>" }.joined() + "</i></r>"
          case .plist:
            "<plist><array><dict>" + names.prefix(300_000).map { "<key>\($0)</key><true/>" }.joined()
              + "</dict></array></plist>"
          }
        try HoleyFile(url).write(text + "\n")
      }
    }
  }

  @Test("a row of a million fields is rejected with its line", arguments: [LineFormat.csv, .tsv])
  func fields(format: LineFormat) async {
    await #expect(processExitsWith: .success) { [format = format as LineFormat] in
      try HostileImport.run(format.name, .imports(["z"], rejected: 1, ["too_many_fields", "\n2"])) { url in
        let delimiter = format == .csv ? "," : "\t"
        let row = String(repeating: "x" + delimiter, count: 1_000_000)
        try HoleyFile(url).write(format.head + row + "\n" + format.row("z"))
      }
    }
  }

  @Test("a layout of a million columns is refused")
  func layout() throws {
    var options = LineFormat.fixed.reader
    options.fixedWidth?.columns = (0..<1_000_000).map { .init("c\($0)", width: 1) }
    #expect(throws: ReaderError.tooManyColumns(limit: 16_384)) { try options.validate() }
  }
}
