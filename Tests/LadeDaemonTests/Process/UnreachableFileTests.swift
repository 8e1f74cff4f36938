import ControlAPI
import Foundation
import Glibc
import TestSupport
import Testing

@Suite(
  "A file that the daemon can't open", .startsDaemons,
  .enabled("it takes root and setpriv to be somebody else") { geteuid() == 0 && Products.system("setpriv") != nil })
struct UnreachableFileTests {
  private func started() async throws -> (DaemonFolder, DaemonProcess) {
    let folder = try DaemonFolder(model: Members.model, recipes: "  members: { store: main, entity: Member }")
    chmod(folder.path, 0o777)
    let setpriv = try #require(Products.system("setpriv")).path
    let daemon = try await folder.start(by: [setpriv, "--reuid=65534", "--regid=65534", "--clear-groups"])
    return (folder, daemon)
  }

  @Test("is handed in as a copy in the spool, under its own name, and nothing is left there")
  func copy() async throws {
    let (folder, daemon) = try await started()
    let file = try folder.write("number,name\n1,Ada\n", to: "private.csv")
    try #require(chmod(file, 0o600) == 0)
    let trial = try await folder.ladectl("recipe", "test", file, "--recipe", "members")
    #expect(trial.status == 0 && trial.text.contains("1 record, 1 inserted"), "\(trial.error)")
    let run = try await folder.ladectl("import", file, "--entity", "Member", "--wait")
    #expect(run.status == 0, "\(run.error)")
    #expect(try await folder.count("Member") == 1)
    #expect(try await folder.jobs().map(\.source) == ["private.csv"])
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.file("spool/tmp")) == [])
    #expect(try folder.text("private.csv") == "number,name\n1,Ada\n")
    try await daemon.stop()
  }

  @Test("is reported as missing where it is missing for its sender, too")
  func refused() async throws {
    let (folder, daemon) = try await started()
    let run = try await folder.ladectl("import", folder.file("none.csv"), "--entity", "Member")
    #expect(run.status == 1)
    #expect(run.error == "ladectl: There is no file \(folder.file("none.csv")).\n")
    let trial = try await folder.ladectl("recipe", "test", folder.file("none.csv"), "--recipe", "members")
    #expect(trial.status == 1 && trial.error == run.error, "\(trial.error)")
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.file("spool/tmp")) == [])
    try await daemon.stop()
  }
}
