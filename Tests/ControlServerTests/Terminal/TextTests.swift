import ControlAPI
import ControlTestSupport
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

  @Test("the status of a store with many entities names the first of them")
  func manyEntities() {
    func status(_ count: Int) -> String {
      let store = StoreStatus(name: "main", path: "/a/main.sqlite", entities: (1...count).map { "Entity\($0)" })
      return StatusSheet(
        status: Status(
          version: LadeVersion.current, pid: 1, startedAt: Date(timeIntervalSince1970: 0), lanes: [], counts: [:],
          stores: [store], spool: "/spool")
      ).rendered(width: nil, style: .plain)
    }
    #expect(status(100).contains("main   /a/main.sqlite  Entity1, "))
    #expect(status(100).contains(", Entity8 and 92 more\n"))
    #expect(status(8).contains(", Entity8\n"))
    #expect(status(100).split(separator: "\n").allSatisfy { $0.count < 120 })
  }

  @Test("the status says why no files are taken")
  func spoolTrouble() {
    func status(_ trouble: String?) -> String {
      StatusSheet(
        status: Status(
          version: LadeVersion.current, pid: 1, startedAt: Date(timeIntervalSince1970: 0), lanes: [], counts: [:],
          stores: [], spool: "/spool", spoolTrouble: trouble)
      ).rendered(width: nil, style: .plain)
    }
    #expect(status("/mnt/in isn't there").contains("spool /spool\nspool: /mnt/in isn't there\njobs"))
    #expect(status(nil).contains("spool /spool\njobs"))
  }

  @Test("a list of jobs fits the terminal, and never cuts a state, a number or a time", arguments: [60, 80, 100, 140])
  func jobs(_ width: Int) {
    let progress = JobProgress(bytesDone: 9, bytesTotal: 9, records: 4_188_960, rejected: 12_345)
    var job = Job.example(123_456, .completed, progress: progress)
    job.source = "deliveries-of-the-northern-warehouse-2026-03-01.csv"
    (job.lane, job.kind, job.entity) = ("maintenance", "checkpoint", "DeliveryOfGoods")
    let lines = JobList(jobs: [job]).rendered(
      width: width, style: .plain, now: job.submittedAt.addingTimeInterval(1)
    ).split(separator: "\n")
    #expect(lines.allSatisfy { $0.displayWidth <= width })
    let time = Quantity.shortTime(job.submittedAt, now: job.submittedAt)
    for whole in ["123456", "completed", "4,188,960", "12,345", time] { #expect(lines[1].contains(whole), "\(lines)") }
    #expect(lines[1].contains("…") && lines[1].contains(".csv"), "\(lines[1])")
    #expect(lines[0].contains("LANE") == (width == 140) && lines[0].contains("DONE") == (width > 60), "\(lines[0])")
  }

  @Test("columns that were asked for are all there, however narrow the terminal is")
  func chosen() {
    let list = JobList(jobs: [.example(7, .completed)])
    let text = list.rendered([.id, .state, .records, .submitted, .lane], width: 20, style: .plain)
    #expect(text.hasPrefix("ID  STATE      RECORDS  SUBMITTED"), "\(text)")
  }

  @Test("a time is short where room is: of today, of this year, and of another year")
  func shortTimes() throws {
    let now = try StartTime(parsing: "2026-03-02 12:00").date
    func short(_ text: String) throws -> String { Quantity.shortTime(try StartTime(parsing: text).date, now: now) }
    #expect(try short("2026-03-02 09:05") == "09:05")
    #expect(try short("2026-02-01 09:05") == "Feb 1")
    #expect(try short("2025-03-02 09:05") == "2025-03-02")
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
    #expect("abcdefgh.csv".truncated(to: 8, inTheMiddle: true) == "abcd…csv")
    #expect("駅駅駅駅".truncated(to: 5, inTheMiddle: true) == "駅…駅")
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
    #expect(
      [0.0004, 0.0099, 0.45, 3, 9.994, 12.46, 59.96, 725].map(Quantity.span)
        == ["0.4 ms", "9.9 ms", "0.45 s", "3.00 s", "9.99 s", "12.5 s", "1:00", "12:05"])
    #expect(
      [0.2, 30, 60, 600, 5400, 3600].map(Quantity.seconds) == ["0.2 s", "30 s", "1 min", "10 min", "90 min", "1 h"])
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
