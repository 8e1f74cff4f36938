import ControlAPI
import Foundation
import Glibc
import Testing

@Suite("What a daemon refuses", .startsDaemons)
struct RefusalTests {
  /// An entry of the spool, and why it is refused.
  struct Entry: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// Its name in `incoming/`.
    let name: String
    let code: String
    let says: [String]
    /// Makes it.
    let make: @Sendable (DaemonFolder) throws -> Void

    init(
      _ description: String, _ name: String, code: String, says: [String],
      make: @escaping @Sendable (DaemonFolder) throws -> Void
    ) {
      testDescription = description
      self.name = name
      self.code = code
      self.says = says
      self.make = make
    }

    init(_ description: String, ticket: String, code: String, says: [String]) {
      self.init(description, "a.job", code: code, says: says) { folder in
        try folder.drop("number,name\n1,Ada\n", as: "a.csv", into: "")
        try folder.drop(ticket, as: "a.job", into: "")
      }
    }
  }

  static let entries = [
    Entry(
      "a ticket that isn't YAML", ticket: "entity: Member\n source: [a.csv\n", code: "ticket",
      says: ["Line 2", "not YAML", "Correct it and submit it again"]),
    Entry(
      "a ticket with a misspelt key", ticket: "{entity: Member, sorce: a.csv}", code: "ticket",
      says: ["Line 1", "`sorce`", "did you mean `source`?"]),
    Entry(
      "a ticket with an unknown entity", ticket: "{entity: Membre, source: a.csv}", code: "unacceptable",
      says: ["store main has no entity Membre", "There is only Member."]),
    Entry(
      "a ticket without a source", ticket: "{entity: Member}", code: "unacceptable",
      says: ["the ticket names no source", "Say source:"]),
    Entry(
      "a ticket with an option that there isn't", ticket: "{entity: Member, source: a.csv, options: {delimeter: x}}",
      code: "unacceptable", says: ["there is no option delimeter", "delimiter"]),
    Entry(
      "a ticket whose source is outside the allowed folders", ticket: "{entity: Member, source: /etc/passwd}",
      code: "source-outside",
      says: ["/etc/passwd", "under none of the allowed folders", "Put the file beside the ticket"]),
    Entry(
      "a symbolic link in a hot folder", "members/link.csv", code: "symbolic-link",
      says: ["symbolic link", "Copy the file itself"]
    ) { folder in
      try folder.write("number,name\n5,Secret\n", to: "secret.csv")
      try #require(symlink(folder.file("secret.csv"), folder.file("spool/incoming/members/link.csv")) == 0)
    },
    Entry(
      "a FIFO in a hot folder", "members/pipe.csv", code: "fifo", says: ["FIFO", "rename that into incoming/"]
    ) { folder in
      try #require(mkfifo(folder.file("spool/incoming/members/pipe.csv"), 0o600) == 0)
    },
    Entry(
      "a hot folder of no recipe", "membres", code: "unknown-folder",
      says: ["no recipe “membres”", "there are: members", "add the recipe to the configuration"]
    ) { folder in
      try folder.drop("number,name\n1,Ada\n", as: "a.csv", into: "membres")
    },
  ]

  @Test(
    "is in corrupt/ with the reason beside it, and the daemon goes on", arguments: entries)
  func refused(_ entry: Entry) async throws {
    let folder = try folder()
    let daemon = try await folder.start()
    _ = try await folder.jobs()
    let watch = try FolderWatch(folder.file("spool/corrupt"))
    try entry.make(folder)
    let name = (entry.name as NSString).lastPathComponent
    try await watch.appearance(of: name)

    let reason = try folder.text("spool/corrupt/\(name).reason")
    #expect(reason.contains("entry: incoming/\(entry.name)\n"), "\(reason)")
    #expect(reason.contains("code: \(entry.code)\n"), "\(reason)")
    for words in entry.says { #expect(reason.contains(words), "\(reason)") }
    #expect(try await folder.jobs() == [])
    // A scan ends after it has logged what it refused.
    try await folder.scanned()
    let log = try daemon.log
    for words in entry.says { #expect(log.contains(words), "\(log)") }
    try checkNothingIsLost(of: entry, in: folder)

    let next = try await folder.imported("number,name\n77,Next\n", as: "next.csv", into: "members")
    #expect((next.state, next.progress.inserted) == (.completed, 1))
    #expect(try await folder.count("Member") == 1)
    try await daemon.stop()
  }

  private func checkNothingIsLost(of entry: Entry, in folder: DaemonFolder) throws {
    switch entry.code {
    case "symbolic-link":
      // The link is kept as one, and what it leads to wasn't touched.
      #expect(
        try FileManager.default.destinationOfSymbolicLink(atPath: folder.file("spool/corrupt/link.csv"))
          == folder.file("secret.csv"))
      #expect(try folder.text("secret.csv") == "number,name\n5,Secret\n")
    case "fifo": break
    case "unknown-folder": #expect(try folder.text("spool/corrupt/membres/a.csv") == "number,name\n1,Ada\n")
    default:
      // The ticket is kept, and the file stays where its writer put it.
      #expect(try folder.text("spool/corrupt/a.job").contains("entity: Member") || entry.code == "unacceptable")
      #expect(try folder.text("spool/incoming/a.csv") == "number,name\n1,Ada\n")
    }
  }

  /// What `ladectl submit` is given besides the file, and what it says.
  static let submissions: [(arguments: [String], says: String)] = [
    (["--entity", "Membre"], "store main has no entity Membre"),
    (["--recipe", "membres"], "there is no recipe membres"),
    (["--entity", "Member", "--store", "mian"], "there is no store mian"),
    (["--entity", "Member", "--lane", "fast"], "there is no lane fast"),
    (["--entity", "Member", "--option", "delimeter=x"], "there is no option delimeter"),
    (["--entity", "Member", "--option", "batch_size=0"], "it must be from 1 to 1000000"),
    (["--entity", "Member", "--option", "maximum_expansion=9"], "only a recipe of the configuration may say it"),
    (["--entity", "Member", "--option", "properties.name.trm=true"], "there is no key `options.properties.name.trm`"),
    (["--entity", "Member", "--option", "filter=name matches '(a+)+b'"], "only a recipe of the configuration may use"),
    (["--entity", "Member", "--option", "escape=;", "--option", "delimiter=;"], "same as the delimiter"),
  ]

  @Test(
    "of a submission is said at once, with status 1, and makes no job",
    arguments: submissions)
  func submission(_ arguments: [String], _ says: String) async throws {
    let folder = try folder()
    let daemon = try await folder.start()
    let file = try folder.write("number,name\n1,Ada\n", to: "a.csv")
    let run = try await folder.ladectl(["submit", file] + arguments)
    #expect(run.status == 1)
    #expect(run.error.contains(says), "\(run.error)")
    #expect(run.text == "")
    let json = try await folder.ladectl(["submit", file, "--json"] + arguments)
    let problem = try WireFormat.decode(Problem.self, from: Data(json.error.utf8))
    #expect(problem.detail.contains(says))
    #expect((400..<500).contains(problem.status))
    #expect(try await folder.jobs() == [])
    #expect(try folder.text("a.csv") == "number,name\n1,Ada\n")
    try await daemon.stop()
  }

  @Test("of files: what isn't there, isn't a file or is a link isn't submitted")
  func files() async throws {
    let folder = try folder()
    let daemon = try await folder.start()
    try folder.write("number,name\n1,Ada\n", to: "a.csv")
    try #require(symlink(folder.file("a.csv"), folder.file("link.csv")) == 0)
    for (name, says) in [
      ("none.csv", "There is no file"), ("link.csv", "it is a symbolic link"), ("spool", "isn't a regular file"),
    ] {
      let run = try await folder.ladectl("submit", folder.file(name), "--entity", "Member")
      #expect(run.status == 1)
      #expect(run.error.contains(says), "\(run.error)")
    }
    #expect(try await folder.jobs() == [])
    try await daemon.stop()
  }

  private func folder() throws -> DaemonFolder {
    try DaemonFolder(model: Members.model, recipes: "  members: { store: main, entity: Member }")
  }
}
