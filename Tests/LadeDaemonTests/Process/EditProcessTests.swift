import ControlAPI
import Foundation
import Testing

@Suite("Edits, groups and reject files of a daemon", .startsDaemons)
struct EditProcessTests {
  private static let recipes = """
      members: { store: main, entity: Member }
      hidden: { store: main, entity: Member, properties: { note: { mask: redact } } }
    """
  private static let file = "number,name,manager,age\n70,Ada,70,36\n80,Eve,70,41\n90,Bob,80,41\n"

  private func started() async throws -> (DaemonFolder, DaemonProcess) {
    let folder = try DaemonFolder(model: Members.model, recipes: Self.recipes)
    let daemon = try await folder.start()
    let job = try await folder.imported(Self.file, as: "a.csv", into: "members")
    #expect(job.progress.inserted == 3, "\(job.reason ?? "")")
    return (folder, daemon)
  }

  private func number(of name: String, in folder: DaemonFolder) async throws -> Int64 {
    let found = try await folder.asked(
      ObjectPage.self, "fetch", "Member", "--where", "name == '\(name)'", "--columns", "objectID", "--limit", "1")
    guard case .int(let number)? = found.rows.first?.first else { throw CocoaError(.fileNoSuchFile) }
    return number
  }

  @Test("an object is shown with its version, checked, changed once, and changed back by undo")
  func whole() async throws {
    let (folder, daemon) = try await started()
    let bob = try await number(of: "Bob", in: folder)
    let seen = try await folder.asked(EditableObject.self, "edit", "Member", "\(bob)")
    let version = try #require(seen.version)
    let properties = Dictionary(seen.properties.map { ($0.name, $0) }) { first, _ in first }
    #expect(properties["manager"]?.value == .int(80) && properties["manager"]?.key == "number")
    #expect(properties["note"]?.refusal?.contains("masked") == true && properties["team"] == nil)
    #expect(seen.refusal == nil && properties["age"]?.value == .int(41))

    let wrong = try await folder.asked(
      EditCheck.self, "edit", "Member", "\(bob)", "number=70", "age=x", "manager=12345", "--check")
    #expect(wrong.faults.contains { $0.property == "age" }, "\(wrong)")
    let taken = try await folder.asked(EditCheck.self, "edit", "Member", "\(bob)", "number=70", "--check")
    #expect(taken.faults.first?.property == "number" && taken.faults.first?.reason.contains("unique") == true)
    let nobody = try await folder.asked(EditCheck.self, "edit", "Member", "\(bob)", "manager=12345", "--check")
    #expect(nobody.faults.first?.property == "manager", "\(nobody)")
    let missing = try await folder.asked(EditCheck.self, "edit", "Member", "new", "number=1", "--check")
    #expect(missing.faults.first?.property == "name", "\(missing)")

    let change = try await folder.ladectl(
      "edit", "Member", "\(bob)", "name=Robert", "manager=70", "--clear", "age", "--version", version, "--wait")
    #expect(change.status == 0, "\(change.error)")
    let stale = try await folder.asked(
      EditCheck.self, "edit", "Member", "\(bob)", "name=Rob", "--version", version, "--check")
    #expect(stale.isStale)
    let late = try await folder.ladectl("edit", "Member", "\(bob)", "name=Rob", "--version", version, "--wait")
    #expect(late.status != 0)
    #expect(try await folder.count("Member", where: "name == 'Robert' AND age == NIL AND manager.number == 70") == 1)
    let masked = try await folder.ladectl("edit", "Member", "\(bob)", "note=clear", "--wait")
    #expect(masked.status != 0 && masked.error.contains("masked"), "\(masked.error)")

    let job = try #require(try await folder.listedJobs().first { $0.kind == "edit" && $0.state == .completed })
    let origins = try await folder.asked(RowOrigins.self, "where-from", "Member", "90")
    #expect(origins.objects.first?.steps.contains { $0.job == job.id && $0.kind == "edit" } == true)
    #expect(try await folder.ladectl("undo", "\(job.id)", "--yes", "--wait").status == 0)
    #expect(try await folder.count("Member", where: "name == 'Bob' AND age == 41 AND manager.number == 80") == 1)
    try await daemon.stop()
  }

  @Test("deleting says first what goes along, and a new object is made")
  func insertAndDelete() async throws {
    let (folder, daemon) = try await started()
    let new = try await folder.ladectl("edit", "Member", "new", "number=100", "name=New", "manager=80", "--wait")
    #expect(new.status == 0, "\(new.error)")
    let eve = try await number(of: "Eve", in: folder)
    let extent = try await folder.asked(EditCheck.self, "edit", "Member", "\(eve)", "--delete", "--check").extent
    #expect(extent.first?.deleted == 1 && (extent.first?.changed ?? 0) >= 2, "\(extent)")
    #expect(try await folder.ladectl("edit", "Member", "\(eve)", "--delete", "--yes", "--wait").status == 0)
    #expect(try await folder.count("Member", where: "manager == NIL") == 2)
    let gone = try await folder.ladectl("edit", "Member", "\(eve)")
    #expect(gone.status != 0 && gone.error.contains("no Member"), "\(gone.error)")
    try await daemon.stop()
  }

  @Test("a deletion that would reach very many objects isn't tried to say so")
  func manyReached() async throws {
    let (folder, daemon) = try await started()
    let rows = (1_000..<2_200).map { "\($0),m\($0),80,1\n" }.joined()
    let job = try await folder.imported("number,name,manager,age\n" + rows, as: "many.csv", into: "members")
    #expect(job.progress.inserted == 1_200, "\(job.reason ?? "")")
    let eve = try await number(of: "Eve", in: folder)
    let check = try await folder.asked(EditCheck.self, "edit", "Member", "\(eve)", "--delete", "--check")
    #expect(check == EditCheck(moreThan: 1_000), "\(check)")
    let words = try await folder.ladectl("edit", "Member", "\(eve)", "--delete", "--check")
    #expect(words.text.contains("1,000") || words.text.contains("more_than"), "\(words.text)")
    #expect(try await folder.ladectl("edit", "Member", "\(eve)", "--delete", "--yes", "--wait").status == 0)
    #expect(try await folder.count("Member", where: "manager == NIL") == 1_201)
    try await daemon.stop()
  }

  @Test("objects are counted by an attribute and by what they refer to, the most frequent first")
  func groups() async throws {
    let (folder, daemon) = try await started()
    let ages = try await folder.asked(ObjectGroups.self, "count", "Member", "--by", "age")
    #expect(ages.groups == [.init(value: .int(41), count: 2), .init(value: .int(36), count: 1)] && !ages.hasMore)
    let managers = try await folder.asked(
      ObjectGroups.self, "count", "Member", "--by", "manager", "--where", "number < 90")
    #expect(managers.groups.map(\.value) == [.int(70)] && managers.groups.first?.count == 2)
    #expect(managers.groups.first?.number == (try await number(of: "Ada", in: folder)))
    let first = try await folder.asked(ObjectGroups.self, "count", "Member", "--by", "name", "--limit", "2")
    #expect(first.groups.count == 2 && first.hasMore)
    for by in ["team", "objectID", "nothing"] {
      let answer = try await folder.http("GET", "/v1/groups/Member?by=\(by)")
      #expect(answer.status == 422, "\(by)")
    }
    try await daemon.stop()
  }

  @Test("all rejects are one file that an import takes")
  func rejects() async throws {
    let (folder, daemon) = try await started()
    let job = try await folder.imported(
      "number,name,manager,age\n1,One,70,x\n2,Two,70,2\n3,Three,70,y\n", as: "b.csv", into: "members")
    #expect(job.progress.rejected == 2, "\(job.reason ?? "")")
    let file = try await folder.ladectl("rejects", "\(job.id)", "--file")
    #expect(file.status == 0 && file.text.contains("1,One,70,x") && file.text.contains("3,Three,70,y"), "\(file.text)")
    #expect(!file.text.contains("Two"))
    // Pages and corrections are of an attempt, and there was one.
    let page: RejectPage = try await folder.got("GET", .openRejects(job.id))
    #expect(page.attempt == 1 && page.rejects.map(\.number) == [1, 2])
    #expect(try await folder.http("GET", Endpoint.openRejects(job.id).path + "?attempt=1").status == 200)
    for (method, uri, body) in [
      ("GET", Endpoint.openRejects(job.id).path + "?attempt=2", nil),
      ("POST", Endpoint.checkRejects(job.id).path, #"{"attempt": 2}"#),
      ("POST", Endpoint.retryRejects(job.id).path, #"{"attempt": 2, "records": [{"number": 1}]}"#),
    ] as [(String, String, String?)] {
      let stale = try await folder.http(method, uri, body)
      #expect(stale.status == 409 && stale.text.contains("earlier attempt"), "\(uri): \(stale.text)")
    }
    let mended = file.text.replacing("70,x", with: "70,1").replacing("70,y", with: "70,3")
    let again = try await folder.imported(mended, as: "c.csv", into: "members")
    #expect(again.progress.inserted == 2 && again.progress.rejected == 0, "\(again.reason ?? "")")
    let none = try await folder.ladectl("rejects", "\(again.id)", "--file")
    #expect(none.status != 0 && none.error.contains("rejected nothing"), "\(none.error)")
    try await daemon.stop()
  }
}
