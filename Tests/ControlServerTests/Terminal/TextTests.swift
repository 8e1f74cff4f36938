import ControlAPI
import Foundation
import Testing

@testable import ladectl

@Suite("Text for a terminal")
struct TextTests {
  @Test("columns are aligned, numbers to the right, by what a terminal shows")
  func table() {
    let table = TextTable(
      columns: [.init("NAME"), .init("N", .right), .init("LAST")],
      rows: [["駅", "1", "x"], ["Zürich", "1000", ""]])
    #expect(
      table.rendered(width: nil, style: .plain) == """
        NAME       N  LAST
        駅         1  x
        Zürich  1000

        """)
  }

  @Test("a table too wide for the terminal gives way in its widest column")
  func narrow() {
    let table = TextTable(
      columns: [.init("ID", .right), .init("TEXT"), .init("STATE")],
      rows: [["12", .init(String(repeating: "abc", count: 20)), "running"]])
    let lines = table.rendered(width: 30, style: .plain).split(separator: "\n")
    #expect(lines.allSatisfy { $0.displayWidth <= 30 })
    #expect(lines[1] == "12  abcabcabcabcabca…  running")
  }

  @Test("colours don't change the alignment, and aren't there without being asked for")
  func colours() {
    let table = TextTable(columns: [.init("A"), .init("B")], rows: [[.init("x", .red), "y"], ["long", "z"]])
    let coloured = table.rendered(width: nil, style: Style(colours: true, unicode: true))
    #expect(coloured.contains("\u{1B}[31mx\u{1B}[0m     y\n"))
    #expect(!table.rendered(width: nil, style: .plain).contains("\u{1B}"))
  }

  @Test("what a file says can't command the terminal")
  func printable() {
    #expect("a\u{1B}[2Jb\nc\u{7F}\u{9B}\u{202E}".printable == "a␛[2Jb␊c␡��")
    #expect("größe 駅".printable == "größe 駅")
  }

  @Test("text is cut by columns, not by characters")
  func truncated() {
    #expect("駅駅駅".truncated(to: 6) == "駅駅駅")
    #expect("駅駅駅".truncated(to: 5) == "駅駅…")
    #expect("駅駅駅".truncated(to: 4) == "駅…")
    #expect("e\u{301}a".displayWidth == 2)
    for wide in ["👨‍👩‍👧", "🇩🇪", "❤️", "😀", "Ａ"] { #expect(wide.displayWidth == 2, "\(wide)") }
    #expect("abc".truncated(to: 0) == "")
  }

  @Test("numbers read as people write them")
  func quantities() {
    #expect(Quantity.count(1_234_567) == "1,234,567")
    #expect(Quantity.count(-999) == "-999")
    #expect(Quantity.count(Int64.min) == "-9,223,372,036,854,775,808")
    #expect(Quantity.count(1, "record") == "1 record")
    #expect(Quantity.count(0, "record") == "0 records")
    #expect(
      [0, 999, 1000, 12_440, 99_960, 999_600, 5e12].map(Quantity.bytes) == [
        "0 B", "999 B", "1.0 kB", "12.4 kB", "100 kB", "1.0 MB", "5.0 TB",
      ])
    #expect([0, 7, 725, 10_800].map(Quantity.duration) == ["0:00", "0:07", "12:05", "3:00:00"])
  }

  @Test("fields with quotes, commas and line ends survive as CSV, and missing differs from empty")
  func csv() {
    #expect(
      CSVText.line(["a", nil, "", "x,y", "say \"hi\"", "two\nlines"])
        == "a,,\"\",\"x,y\",\"say \"\"hi\"\"\",\"two\nlines\"\n")
  }

  @Test("a live region takes away what it drew and keeps what stays")
  func liveRegion() {
    var region = LiveRegion()
    #expect(region.redraw(live: ["a", "b"]) == "a\nb\n")
    #expect(region.redraw(staying: ["done"], live: ["b"]) == "\u{1B}[2A\r\u{1B}[Jdone\nb\n")
    #expect(region.redraw(live: []) == "\u{1B}[1A\r\u{1B}[J")
    #expect(region.redraw(staying: ["end"], live: []) == "end\n")
  }
}
