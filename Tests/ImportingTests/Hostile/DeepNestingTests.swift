import Testing

@testable import Importing

@Suite("Endless nesting")
struct DeepNestingTests {
  private static let depth = 100_000

  @Test("100,000 deep is refused with line and column, and costs neither stack nor memory")
  func documents() async {
    await #expect(processExitsWith: .success) {
      let depth = DeepNestingTests.depth
      func nested(_ open: String, _ close: String) -> String {
        String(repeating: open, count: depth) + "1" + String(repeating: close, count: depth)
      }
      let cases = [
        ("a.json", "[\n{\"code\":\"z\",\"name\":\(nested("[", "]"))}]", "line 2, column 5"),
        ("b.json", nested("[", "]"), "array"),
        ("c.json", nested("{\"a\":", "}"), "line 1, column"),
        ("a.xml", "<r>\n<i><name>\(nested("<a>", "</a>"))</name></i></r>", "line 2, column 6"),
        ("b.xml", nested("<a>", "</a>"), "line 1, column 601"),
        (
          "a.plist", "<plist><array>\n<dict><key>name</key>\(nested("<array>", "</array>"))</dict></array></plist>",
          "line 2, column"
        ),
        ("b.plist", "<plist>\n" + nested("<array>", "</array>") + "</plist>", "line 2, column"),
      ]
      for (name, text, place) in cases {
        try HostileImport.run(name, .fails([place])) { try HoleyFile($0).write(text) }
      }
      let line = "{\"code\":\"b\",\"name\":\(nested("[", "]"))}\n{\"code\":\"z\",\"name\":\"N\"}\n"
      try HostileImport.run("a.ndjson", .imports(["z"], rejected: 1, ["malformed_json", "\"line\":1"])) {
        try HoleyFile($0).write(line)
      }
    }
  }
}
