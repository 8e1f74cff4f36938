import ControlAPI
import Foundation
import Testing

@Suite("Lineage and undo of a daemon", .startsDaemons)
struct LineageProcessTests {
  private static let content = "SELECT number, name, joined, age, score, note, manager_id FROM Member ORDER BY number"

  /// A daemon whose recipe records where rows come from.
  private func started(keep: String = "7d") async throws -> (DaemonFolder, DaemonProcess) {
    let folder = try DaemonFolder(
      model: Members.model,
      recipes: """
          members: { store: main, entity: Member, lineage: true }
          untraced: { store: main, entity: Member }
        """, more: "keep: { undo: \(keep) }")
    return (folder, try await folder.start())
  }

  @Test("a recipe records, where-from shows it, and undo takes it back, by ladectl and by a ticket")
  func whole() async throws {
    let (folder, daemon) = try await started()
    let first = Members(rows: 3000)
    let load = try await folder.imported(first.csv, as: "members.csv", into: "members")
    #expect(load.progress.inserted == 3000, "\(load.reason ?? "")")
    let before = try await folder.sqlite(Self.content)
    let change = try await folder.imported(Members(rows: 3500, version: 2).csv, as: "more.csv", into: "members")
    #expect(change.progress.updated >= 1000 && change.progress.inserted == 500, "\(change.reason ?? "")")
    let origins = try await folder.asked(RowOrigins.self, "where-from", "Member", "3")
    let steps = try #require(origins.objects.first).steps.filter { $0.line != nil }
    #expect(steps.map(\.event) == ["inserted", "updated"] && steps.map(\.job) == [load.id, change.id])
    #expect(steps.map(\.file) == ["members.csv", "more.csv"] && steps.map(\.record) == [4, 4])
    #expect(steps.allSatisfy { $0.sha256?.count == 64 && $0.recipe == "members" && $0.submittedBy.contains("spool") })
    let bytes = try #require(steps[0].byte).magnitude
    #expect(String(decoding: first.csv.dropFirst(Int(bytes)).prefix(11), as: UTF8.self) == "3,Member 3,")
    let text = try await folder.ladectl("where-from", "Member", "3").text
    #expect(
      text.contains("members.csv, line ") && text.contains("sha256 ") && text.contains("job \(change.id) (import)"))
    let unknown = try await folder.ladectl("where-from", "Member", "99999")
    #expect(unknown.status != 0 && unknown.error.contains("99999"), "\(unknown.error)")

    let dry = try await folder.ladectl("undo", "\(change.id)", "--dry-run")
    #expect(dry.status == 0 && dry.text.contains("dry run: nothing was changed"), "\(dry.text) \(dry.error)")
    #expect(try await folder.count("Member") == 3500)
    let undo = try await folder.ladectl("undo", "\(change.id)", "--yes", "--wait", "--json")
    #expect(undo.status == 0, "\(undo.error)")
    #expect(try await folder.sqlite(Self.content) == before)
    let again = try await folder.ladectl("undo", "\(change.id)", "--yes", "--wait")
    #expect(again.status == 3)
    // A ticket takes the undo back, and another the first import.
    let undone = try #require(
      try await folder.listedJobs().first { $0.kind == "undo" && $0.progress.deleted > 0 && $0.note == nil })
    try folder.drop("{kind: undo, store: main, options: {job: \(undone.id)}}", as: "redo.job", into: "")
    let ticket = try #require(try await folder.jobs().last)
    let redo = try await folder.ended(ticket.id)
    #expect(redo.state == .completed && redo.progress.inserted == 500, "\(redo.reason ?? "")")
    for job in [redo.id, load.id] {
      #expect(try await folder.ladectl("undo", "\(job)", "--yes", "--wait").status == 0)
    }
    #expect(try await folder.count("Member") == 0)
    try await daemon.stop()
  }

  @Test("what recorded nothing is refused with the reason, when it is submitted")
  func unrecorded() async throws {
    let (folder, daemon) = try await started(keep: "none")
    let job = try await folder.imported("number,name\n1,Ada\n", as: "a.csv", into: "untraced")
    for number in [job.id, 99] {
      let refused = try await folder.ladectl("undo", "\(number)", "--yes")
      #expect(refused.status != 0 && refused.error.contains("lineage: true"), "\(refused.error)")
    }
    #expect(try await folder.asked(RowOrigins.self, "where-from", "Member", "1").objects.first?.steps == [])
    for table in ["job", "lineage", "before"] {
      #expect(try await folder.sqlite("SELECT count(*) FROM _lade_\(table)") == "0")
    }
    let traced = try await folder.imported("number,name\n1,Eve\n2,Bob\n", as: "b.csv", into: "members")
    #expect(try await folder.sqlite("SELECT count(*) FROM _lade_before") == "0")
    let expired = try await folder.ladectl("undo", "\(traced.id)", "--yes", "--wait")
    #expect(expired.status == 3, "\(expired.error)")
    #expect(try await folder.ladectl("undo", "\(traced.id)", "--yes", "--wait", "--force").status == 0)
    #expect(try await folder.sqlite("SELECT name FROM Member ORDER BY number") == "'Eve'")
    try await daemon.stop()
  }
}
