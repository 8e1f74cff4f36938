import Testing

@testable import Importing

@Suite("Members of archives")
struct ArchiveMemberTests {
  private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

  private func feed() -> [(String, [UInt8])] {
    [
      ("agency.txt", bytes("agency_id\na\n")), ("stops.txt", bytes("stop_id,n\n1,Ä\n2,B\n")),
      ("sub/", []), ("sub/stops.txt", bytes("stop_id\n9\n")), ("__MACOSX/._stops.txt", [0, 1, 2]), (".DS_Store", [0]),
    ]
  }

  @Test("are listed with their sizes, without what systems add", arguments: [SourceArchiveKind.zip, .tar])
  func list(kind: SourceArchiveKind) throws {
    let file = try SourceFile(kind == .zip ? Packing.zip(feed()) : Packing.tar(feed(), .gzip), name: "feed")
    let archive = try #require(try SourceArchive(fileDescriptor: file.descriptor, name: file.path))
    #expect(archive.kind == kind)
    #expect(archive.members.map(\.name) == ["agency.txt", "stops.txt", "sub/stops.txt"])
    #expect(archive.members.map(\.size) == [12, 19, 10])
    for member in archive.members {
      let result = try file.read(ReaderOptions(member: member.name))
      #expect(result.error == nil)
      #expect(result.records.count == (member.name == "stops.txt" ? 2 : 1))
    }
    let plain = try SourceFile(bytes("a\n1\n"), name: "a")
    #expect(try SourceArchive(fileDescriptor: plain.descriptor, name: "a") == nil)
  }

  @Test("are chosen by name, by pattern, or by being the only one", arguments: [SourceArchiveKind.zip, .tar])
  func choice(kind: SourceArchiveKind) throws {
    func error(_ members: [(String, [UInt8])], _ wanted: String? = nil) throws -> ReaderError? {
      let packed = try kind == .zip ? Packing.zip(members) : Packing.tar(members)
      return try SourceFile(packed, name: "x.\(kind)").read(ReaderOptions(member: wanted)).error
    }
    let all = ["agency.txt", "stops.txt", "sub/stops.txt"]
    #expect(try error(feed()) == .source(.severalMembers(found: all)))
    #expect(try error(feed(), "stops.txt") == nil)
    #expect(try error(feed(), "s?b/*.txt") == nil)
    #expect(try error(feed(), "*stops.txt") == .source(.severalMembers(found: Array(all[1...]))))
    #expect(try error(feed(), "trips.txt") == .source(.memberNotFound(member: "trips.txt", found: all)))
    #expect(try error([("a.csv", bytes("a\n1\n")), ("LICENSE", bytes("x\n")), ("me.pdf", bytes("x\n"))]) == nil)
    #expect(try error([("data", bytes("a\n1\n")), ("__MACOSX/data", [0])]) == nil)
    #expect(try error([("a/", [])]) == .source(.noMember))
    let twins = [("a.csv", bytes("a\n1\n")), ("a.csv", bytes("a\n2\n"))]
    #expect(try error(twins, "a.csv") == .source(.severalMembers(found: ["a.csv", "a.csv"])))
    #expect(try read("a\n1\n", as: "a.csv", ReaderOptions(member: "b")).error == .source(.notAnArchive(member: "b")))
  }

  @Test("are never paths: whatever a name says, only the archive is read")
  func hostileNames() throws {
    for name in ["../../../../etc/passwd", "/etc/passwd", "C:\\a.csv", "a\u{1B}[2J\n.csv", "ü/日本.csv"] {
      let file = try SourceFile(Packing.tar([(name, bytes("a\n1\n"))]), name: "x.tar")
      #expect(try file.read().cells == [["1"]])
      let archive = try #require(try SourceArchive(fileDescriptor: file.descriptor, name: "x.tar"))
      #expect(archive.members.map(\.name) == [name])
    }
    let message = SourceError.severalMembers(found: ["a\u{1B}[2J\n.csv", String(repeating: "x", count: 999)])
      .description
    #expect(!message.unicodeScalars.contains { $0.value < 0x20 })
    #expect(message.count < 400)
  }

  @Test("that are encrypted, compressed again or archives themselves are refused")
  func refused() throws {
    let locked = try SourceFile(Packing.zip([("a.csv", bytes("a\n1\n"))], password: "secret"), name: "a.zip")
    #expect(try locked.read().error == .source(.encrypted(member: "a.csv")))
    let archive = try #require(try SourceArchive(fileDescriptor: locked.descriptor, name: "a.zip"))
    #expect(archive.members.map(\.isEncrypted) == [true])
    let gzip = try Packing.compressed(bytes("a\n1\n"), .gzip)
    let zip = try Packing.zip([("a.csv", bytes("a\n1\n"))])
    func nested(_ packed: [UInt8]) throws -> Bool {
      if case .source(.nested)? = try SourceFile(packed, name: "x").read().error { true } else { false }
    }
    #expect(try nested(Packing.zip([("a.csv.gz", gzip)])))
    #expect(try nested(Packing.zip([("a.zip", zip)])))
    #expect(try nested(Packing.tar([("a.tar", Packing.tar([("a.csv", bytes("a\n1\n"))]))])))
    #expect(try nested(Packing.compressed(gzip, .gzip)))
    #expect(try nested(Packing.compressed(zip, .xz)))
    let office = try Packing.zip([("[Content_Types].xml", bytes("<x/>")), ("word/document.xml", bytes("<x/>"))])
    #expect(
      try SourceFile(office, name: "a.docx").read().error == .binaryFile(offset: 0, looksLike: "an Office document"))
  }

  @Test("that are too many to list are an error")
  func tooMany() throws {
    let members = (0...SourceArchive.memberLimit).map { ("\($0).csv", [UInt8]()) }
    let file = try SourceFile(Packing.zip(members), name: "a.zip")
    #expect(try file.read().error == .source(.tooManyMembers(limit: SourceArchive.memberLimit)))
  }

  @Test("patterns match as they should, in bounded time")
  func patterns() {
    for (pattern, name, fits) in [
      ("*.csv", "a.csv", true), ("*.csv", "x/a.csv", true), ("*.csv", "a.csv.gz", false), ("a?c", "abc", true),
      ("a?c", "ac", false), ("*", "", true), ("", "", true), ("", "a", false), ("*a*b*c", "xxaxxbxxcxxc", true),
      ("é*", "été", true), ("[a]", "a", false),
    ] {
      #expect(MemberPattern(pattern).matches(name) == fits, "\(pattern) \(name)")
    }
    let slow = String(repeating: "*a", count: 500)
    #expect(!MemberPattern(slow + "b").matches(String(repeating: "a", count: 2_000)))
  }
}
