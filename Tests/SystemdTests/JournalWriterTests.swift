import Glibc
import Testing

@testable import Systemd

@Suite("The journal")
struct JournalWriterTests {
  @Test("is known by stderr being what $JOURNAL_STREAM says")
  func stream() async {
    await #expect(processExitsWith: .success) {
      unsetenv("JOURNAL_STREAM")
      #expect(!JournalWriter.isJournalStream)
      var status = stat()
      try #require(fstat(STDERR_FILENO, &status) == 0)
      setenv("JOURNAL_STREAM", "\(status.st_dev):\(status.st_ino)", 1)
      #expect(JournalWriter.isJournalStream)
      for other in ["\(status.st_dev):\(status.st_ino + 1)", "1", "", "a:b", "1:2:3"] {
        setenv("JOURNAL_STREAM", other, 1)
        #expect(!JournalWriter.isJournalStream)
      }
    }
  }

  @Test(
    "refuses a field that it would drop without a word",
    arguments: [
      "", "lower", "_TRUSTED", "1ST", "WITH SPACE", "WITH=EQUALS", "Ü", String(repeating: "A", count: 65),
    ])
  func fieldNames(name: String) {
    #expect(throws: SystemdError.journalFieldName(name)) {
      try JournalWriter.send(message: "never sent", priority: .debug, fields: [name: "x"])
    }
  }
}
