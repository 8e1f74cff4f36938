import Foundation
import Glibc
import Spool
import Testing

@Suite("Files submitted by name")
struct SubmittedFileTests {
  private let root: String
  private let directories: SpoolDirectories

  init() throws {
    root = NSTemporaryDirectory() + "lade-submitted-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: root + "/allowed", withIntermediateDirectories: true)
    directories = try SpoolDirectories(path: root + "/spool")
  }

  private func file(_ name: String, _ text: String = "id\n1\n") throws -> String {
    let path = root + "/" + name
    try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    return path
  }

  /// A user that owns none of the files and isn't the daemon.
  private var stranger: UInt32 { geteuid() + 4711 }

  @Test("a submitter's own file is copied into active, whole")
  func own() throws {
    defer { try? FileManager.default.removeItem(atPath: root) }
    let path = try file("a.csv")
    let submitted = try directories.openSubmitted(path, for: geteuid(), allowedFolders: [])
    #expect(submitted.name == "a.csv")
    try directories.adopt(submitted, as: "7-a.csv")
    #expect(try String(contentsOfFile: root + "/spool/active/7-a.csv", encoding: .utf8) == "id\n1\n")
  }

  @Test("somebody else's file is refused, and in an allowed folder it is taken")
  func allowedFolders() throws {
    defer { try? FileManager.default.removeItem(atPath: root) }
    let path = try file("allowed/a.csv")
    #expect(throws: SubmissionRefusal.notTheSubmitters(path: path, owner: geteuid(), allowed: [])) {
      try directories.openSubmitted(path, for: stranger, allowedFolders: [])
    }
    let real = try #require(realpath(root, nil).map { String(cString: $0) })
    _ = try directories.openSubmitted(path, for: stranger, allowedFolders: [real + "/allowed"])
  }

  @Test("a hard link in an allowed folder is refused")
  func hardLink() throws {
    defer { try? FileManager.default.removeItem(atPath: root) }
    let secret = try file("secret.csv")
    let path = root + "/allowed/linked.csv"
    #expect(link(secret, path) == 0)
    #expect(throws: SubmissionRefusal.self) {
      try directories.openSubmitted(path, for: stranger, allowedFolders: [root + "/allowed"])
    }
  }

  @Test("a path through a linked folder counts by where it leads")
  func linkedFolder() throws {
    defer { try? FileManager.default.removeItem(atPath: root) }
    _ = try file("secret.csv")
    #expect(symlink(root, root + "/allowed/out") == 0)
    #expect(throws: SubmissionRefusal.self) {
      try directories.openSubmitted(
        root + "/allowed/out/secret.csv", for: stranger, allowedFolders: [root + "/allowed"])
    }
  }

  @Test(
    "links, folders, FIFOs, devices and relative paths are refused",
    arguments: ["link", "folder", "fifo", "device", "relative"])
  func notFiles(_ kind: String) throws {
    defer { try? FileManager.default.removeItem(atPath: root) }
    var path = root + "/it"
    switch kind {
    case "link": #expect(symlink(try file("a.csv"), path) == 0)
    case "folder": #expect(mkdir(path, 0o755) == 0)
    case "fifo": #expect(mkfifo(path, 0o644) == 0)
    case "device": path = "/dev/null"
    default: path = "it"
    }
    #expect(throws: SubmissionRefusal.self) {
      try directories.openSubmitted(path, for: 0, allowedFolders: [])
    }
  }
}
