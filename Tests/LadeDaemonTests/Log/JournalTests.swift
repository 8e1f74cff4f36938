import Foundation
import Jobs
import Logging
import Spool
import Testing

@testable import LadeDaemon

@Suite("Journal: fields, numbers and the catalogue")
struct JournalTests {
  @Test("what belongs to a line is a field of its own, by the names that laded(8) lists")
  func fields() {
    let fields = JournalField.fields(of: [
      "job": "12", "kind": "import", "state": "completed", "lane": "import", "store": "main", "entity": "Person",
      "event": "job-completed", "code": "locked", "entry": "incoming/a.csv", "error": "no\nroom",
    ])
    #expect(
      fields == [
        "JOB_ID": "12", "JOB_KIND": "import", "JOB_STATE": "completed", "LANE": "import", "STORE": "main",
        "ENTITY": "Person", "LADE_EVENT": "job-completed", "MESSAGE_ID": JournalMessage.jobCompleted.identifier,
        "FAILURE_CODE": "locked", "SPOOL_ENTRY": "incoming/a.csv", "ERROR": "no\nroom",
      ])
  }

  @Test(
    "whatever a program's own operations log with a line becomes a field that the journal takes, or none",
    arguments: [
      ("rows done", "ROWS_DONE"), ("_secret", "SECRET"), ("message", "LADE_MESSAGE"), ("priority", "LADE_PRIORITY"),
      ("syslog_facility", "LADE_SYSLOG_FACILITY"), ("2nd", "LADE_2ND"), ("größe", "GR__SSE"), ("", nil), ("___", nil),
      (String(repeating: "a", count: 65), nil),
    ] as [(String, String?)])
  func names(_ key: String, _ name: String?) {
    #expect(JournalField.name(of: key) == name)
  }

  @Test("every event that a line names has a number, and the catalogue explains each number, and no other")
  func catalogue() throws {
    let named = JobLogEvent.allCases.map(\.rawValue) + SpoolLogEvent.allCases.map(\.rawValue)
    #expect(named.allSatisfy { JournalMessage(rawValue: $0) != nil })
    let numbers = JournalMessage.allCases.map(\.identifier)
    #expect(Set(numbers).count == numbers.count)
    #expect(numbers.allSatisfy { $0.count == 32 && $0.allSatisfy(\.isHexDigit) })

    let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../../../systemd/lade.catalog").standardized
    let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n", omittingEmptySubsequences: false)
    let heads = lines.indices.filter { lines[$0].hasPrefix("-- ") }
    #expect(heads.map { String(lines[$0].dropFirst(3)) }.sorted() == numbers.sorted())
    for head in heads {
      #expect(lines[head + 1].hasPrefix("Subject: "), "\(lines[head])")
      #expect(lines[head + 2] == "Defined-By: lade", "\(lines[head])")
    }
    // What it is to fill in is what lines of that kind have.
    let fields = Set(lines.flatMap { $0.matches(of: /@([A-Z_]+)@/).map { String($0.output.1) } })
    let known: Set = [
      "SPOOL", "_SYSTEMD_UNIT", "SECONDS", "STORE", "SPOOL_ENTRY", "KEPT", "JOB_ID", "LANE", "FAILURE_CODE",
      "RECIPE",
    ]
    #expect(fields.isSubset(of: known), "\(fields)")
  }

  @Test("a line for people has what its message doesn't say, and none of what only sorts it")
  func text() {
    func text(_ message: Logger.Message, _ metadata: Logger.Metadata) -> String {
      LogText(
        .init(level: .info, message: message, metadata: metadata, source: "", file: "", function: "", line: 0),
        over: ["lane": "import"]
      )
      .text
    }
    #expect(text("job 7: failed", ["job": "7", "error": "no room", "store": "main"]) == "job 7: failed error=no room")
    #expect(text("half done", ["job": "7"]) == "half done job=7")
    #expect(text("job 71: failed", ["job": "7"]) == "job 71: failed job=7")
  }

  @Test("on the standard error no file's name begins a line, or moves the cursor")
  func harmless() {
    let name = "a\n2026-01-01T00:00:00+0000 notice laded: laded has stopped\u{1B}[2J\r.csv"
    let text = TextLogHandler.harmless("job 7: handed in by anna: import of Person from \(name)")
    let lines = text.split(separator: "\n")
    #expect(lines.count == 2 && lines[1].hasPrefix("    2026-01-01"), "\(text)")
    #expect(!text.contains("\u{1B}") && !text.contains("\r"))
    #expect(TextLogHandler.harmless("größer, “wärmer”") == "größer, “wärmer”")
  }
}
