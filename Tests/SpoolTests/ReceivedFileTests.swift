import Foundation
import Glibc
import LadeTypes
import Testing

@testable import Spool

@Suite("A file that came to another host's spool")
struct ReceivedFileTests {
  private struct Refusal: Error {}

  private func write(_ text: String, to descriptor: Int32) {
    #expect(text.withCString { Glibc.write(descriptor, $0, strlen($0)) } == text.utf8.count)
  }

  @Test("is in active/ whole and with its time, once, or not at all")
  func receive() throws {
    let spool = try TemporarySpool()
    let file = SharedFile(size: 4, modified: 1_700_000_000_123_456_789, digest: "")
    #expect(throws: Refusal.self) {
      try spool.directories.receive("12-a.csv", file) { descriptor in
        write("a", to: descriptor)
        throw Refusal()
      }
    }
    #expect(try spool.names("active") == [])
    try spool.directories.receive("12-a.csv", file) { write("a,b\n", to: $0) }
    #expect(try spool.text("active/12-a.csv") == "a,b\n")
    let status = try #require(try spool.directories.handle(.active).status(of: FileName("12-a.csv")))
    #expect(status.modified == file.modified && status.permissions == 0o640)
    try spool.directories.receive("12-a.csv", file) { _ in Issue.record("it was there") }
    // This host's own, handed over again with another time.
    let other = SharedFile(size: 4, modified: file.modified + 1, digest: "")
    try spool.directories.receive("12-a.csv", other) { write("c,d\n", to: $0) }
    #expect(try spool.text("active/12-a.csv") == "c,d\n")
    try spool.directories.discardReceived("12-a.csv")
    try spool.directories.discardReceived("12-a.csv")
    #expect(try spool.names("active") == [])
  }

  @Test("comes back from corrupt/ where it is this host's own")
  func own() throws {
    let spool = try TemporarySpool()
    let file = SharedFile(size: 4, modified: 1_700_000_000_000_000_000, digest: "")
    try spool.directories.receive("12-a.csv", file) { write("a,b\n", to: $0) }
    #expect(try spool.directories.finish(activeName: "12-a.csv", as: .corrupt(reason: "bad")) == "12-a.csv")
    try spool.directories.receive("12-a.csv", file) { _ in Issue.record("it was there") }
    #expect(try spool.names("corrupt") == [])
    #expect(try spool.text("active/12-a.csv") == "a,b\n")
  }

  @Test("isn't begun without room, and its name is one that the daemon makes")
  func refused() throws {
    let spool = try TemporarySpool()
    let large = SharedFile(size: .max - 1, modified: 0, digest: "")
    #expect {
      try spool.directories.receive("12-a.csv", large) { _ in Issue.record("there is no room") }
    } throws: { error in
      (error as? SpoolError)?.isFullDisk == true
    }
    for name in ["../12-a.csv", "a.csv", "12-a/b.csv"] {
      let small = SharedFile(size: 1, modified: 0, digest: "")
      #expect(throws: SpoolError.self) { try spool.directories.receive(name, small) { _ in } }
      #expect(throws: SpoolError.self) { try spool.directories.discardReceived(name) }
    }
  }
}
