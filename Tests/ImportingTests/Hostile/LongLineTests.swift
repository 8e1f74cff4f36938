import Testing

@testable import Importing

@Suite("Endless lines")
struct LongLineTests {
  @Test(
    "a line of 1 GiB is rejected with its number, and the records after it are imported",
    arguments: LineFormat.allCases.filter { $0 != .json && $0 != .tsv })
  func sparse(format: LineFormat) async {
    await #expect(processExitsWith: .success) { [format = format as LineFormat] in
      try HostileImport.run(
        format.name, .imports(["z"], rejected: 1, ["record_too_long", "\(format.firstLine + LineFormat.count)"]),
        reader: format.reader
      ) { url in
        let file = try HoleyFile(url)
        try file.write(format.head + format.rows + format.ends.0)
        try file.leave(1 << 30)
        try file.write(format.ends.1 + format.row("z") + format.tail)
      }
    }
  }

  @Test("in a JSON document, a gigabyte of zeros is a mistake with its line and column")
  func document() async {
    await #expect(processExitsWith: .success) {
      try HostileImport.run("a.json", .fails(["line 1502, column 24"])) { url in
        let file = try HoleyFile(url)
        try file.write(LineFormat.json.head + LineFormat.json.rows + LineFormat.json.ends.0)
        try file.leave(1 << 30)
      }
    }
  }

  @Test("a line of 1 GiB that is compressed is rejected as well, where so dense a file is allowed")
  func compressed() async {
    await #expect(processExitsWith: .success) {
      var options = ReaderOptions()
      options.maximumExpansion = .max
      try HostileImport.run("a.csv.gz", .imports(["z"], rejected: 1, ["2,,record_too_long"]), reader: options) { url in
        let file = try HoleyFile(url)
        try file.write(Packing.compressed(Array("code,name\nlong,".utf8), .gzip))
        try file.write(Packing.compressed([UInt8](repeating: 0x78, count: 1 << 20), .gzip), times: 1 << 10)
        try file.write(Packing.compressed(Array("\nz,N\n".utf8), .gzip))
      }
    }
  }

  @Test("a file that is one endless line has no readable header", arguments: ["a.csv", "a.tsv"])
  func header(name: String) async {
    await #expect(processExitsWith: .success) { [name = name as String] in
      try HostileImport.run(name, .fails(["line 1", "longer than the limit"])) { url in
        let file = try HoleyFile(url)
        try file.write([UInt8](repeating: 0x78, count: 1 << 20), times: 20)
      }
    }
  }
}
