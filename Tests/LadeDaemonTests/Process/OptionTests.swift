import Foundation
import Testing

/// Options of tickets and submissions, which say of one file what recipes say of a folder.
@Suite("Options of one file", .startsDaemons)
struct OptionTests {
  @Test("are the recipe's, overridden by the ticket's")
  func ticket() async throws {
    let folder = try DaemonFolder(
      model: Members.model,
      recipes: """
          lines: { store: main, entity: Member, format: fixed_width, fields: [number:3, name:1-8], skip_lines: 1 }
        """)
    let daemon = try await folder.start()
    try folder.write("a heading\n  1Ada  \n  2Bo   \n", to: "a.dat")
    let run = try await folder.ladectl(
      "submit", folder.file("a.dat"), "--recipe", "lines", "--wait", "--option", "fields=number:3",
      "--option", "fields=name:4-8")
    #expect(run.status == 0, "\(run.error)")
    #expect(try await names(folder) == ["Ada", "Bo"])
    try folder.drop("# none\n  3Cy\n", as: "b.dat", into: "")
    try folder.drop(
      """
      store: main
      entity: Member
      source: b.dat
      options: {format: fixed_width, fields: ["number:3", {name: name, width: 5}], comment: "#", short_lines: true}
      """, as: "b.job", into: "")
    #expect(try await folder.job(of: "b.dat").state == .completed)
    #expect(try await names(folder) == ["Ada", "Bo", "Cy"])
    try await daemon.stop()
  }

  private func names(_ folder: DaemonFolder) async throws -> [String] {
    let run = try await folder.ladectl("fetch", "Member", "--sort", "number", "--format", "csv", "--columns", "name")
    return run.text.split(separator: "\n").dropFirst().map(String.init)
  }
}
