import Testing

@testable import Importing

@Suite("A control file")
struct ControlFileTests {
  private static let sum = String(repeating: "0f", count: 32)

  private func read(_ text: String) throws -> ControlFile { try ControlFile(Array(text.utf8), name: "x.done") }

  @Test("is lines of sha256sum, names with counts, and the number of files")
  func lines() throws {
    let file = try read(
      """
      \u{FEFF}# sent by the agency
      \(Self.sum.uppercased()) *out/stops.csv\r
      \(Self.sum)  trips 2026.csv

      stops.csv\t120
      trips 2026.csv 7
      2

      """)
    #expect(file.files == 2)
    #expect(file.counts == ["stops.csv": 120, "trips 2026.csv": 7])
    #expect(file.sums == ["stops.csv": Self.sum, "trips 2026.csv": Self.sum])
  }

  @Test("is a JSON object")
  func object() throws {
    let file = try read(
      """
      {"files": 2, "of": {"stops.csv": {"count": 120, "sha256": "\(Self.sum)"}, "trips.csv": {"count": 0}}}
      """)
    #expect(file.files == 2)
    #expect(file.counts == ["stops.csv": 120, "trips.csv": 0])
    #expect(file.sums == ["stops.csv": Self.sum])
    #expect(try read("") == read("# nothing"))
  }

  @Test(
    "is refused when it isn't understood, however hostile",
    arguments: [
      "stops.csv", "stops.csv many", "stops.csv -1", "stops.csv 99999999999999999999", "1\n2", "a 1\na 2",
      "\(sum)", "\(sum)  a\n\(String(sum.reversed()))  a", "{", "{\"files\": \"2\"}", "{\"colour\": 1}",
      "{\"of\": {\"a\": {\"count\": -1}}}", "{\"of\": {\"a\": {\"sha256\": \"12\"}}}", "{\"of\": [1]}",
      String(repeating: "[", count: 100_000), "{\"of\": " + String(repeating: "{\"a\":", count: 50_000),
      String(repeating: "a 1\n", count: 10_001), String(repeating: "x", count: ControlFile.longest + 1),
    ])
  func hostile(text: String) {
    #expect(throws: SetFault.self) { try read(text) }
  }

  @Test("that isn't text is refused")
  func binary() {
    #expect(throws: SetFault.self) { try ControlFile([0xFF, 0xFE, 0x00], name: "x") }
  }

  @Test("of one file is a checksum alone, or a line of sha256sum about it")
  func sidecar() throws {
    func sum(_ text: String) throws -> String {
      try ControlFile.checksum(in: Array(text.utf8), name: "a.csv.sha256", of: "a.csv")
    }
    #expect(try sum(Self.sum + "\n") == Self.sum)
    #expect(try sum(Self.sum.uppercased() + "  a.csv\n") == Self.sum)
    #expect(throws: SetFault.self) { try sum(Self.sum + "  b.csv\n") }
    #expect(throws: SetFault.self) { try sum("a.csv\n") }
    #expect(throws: SetFault.self) { try sum("") }
  }
}
