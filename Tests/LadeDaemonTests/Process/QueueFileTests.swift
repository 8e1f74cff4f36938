import ControlAPI
import Foundation
import Testing

@Suite("The file of the queue", .startsDaemons)
struct QueueFileTests {
  @Test("gives pages that jobs have left back to the disk once a job has ended")
  func pages() async throws {
    let folder = try DaemonFolder.withMembers()
    let first = try await folder.start()
    try await first.stop()
    let file = "state/queue.sqlite"
    // As after many jobs were removed.
    _ = try await folder.sqlite(
      """
      CREATE TABLE Ballast AS
        WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 4000) SELECT randomblob(10000) AS bytes FROM n;
      DROP TABLE Ballast
      """, in: file)
    func free() async throws -> Int {
      try #require(Int(try await folder.sqlite("SELECT freelist_count FROM pragma_freelist_count", in: file)))
    }
    // 40 MB, of which a daemon keeps a quarter at most.
    let before = try await free()
    #expect(before > 9_000)
    let second = try await folder.start()
    _ = try await folder.imported("number,name\n1,Ada\n", as: "a.csv", into: "members")
    while try await free() > before / 4 {}
    try await second.stop()
  }
}
