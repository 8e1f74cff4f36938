import Foundation
import Glibc
import TestSupport
import Testing

@testable import Spool

@Suite("Uploads")
struct UploadFolderTests {
  private let spool: TemporarySpool
  private let folder: UploadFolder

  init() throws {
    spool = try TemporarySpool()
    folder = UploadFolder(spool.path + "/uploads")
  }

  @discardableResult
  private func append(_ text: String, at offset: Int64, to number: Int64, of user: UInt32 = 1) throws -> UploadedFile {
    try Array(text.utf8).withUnsafeBytes { try folder.append($0, at: offset, to: number, of: user) }
  }

  @Test("a file is as long as what has arrived, also for another process")
  func parts() throws {
    let begun = try folder.begin("people.csv", size: 10, for: 1)
    #expect(begun.number == 1 && begun.received == 0 && !begun.isWhole)
    #expect(try append("12345", at: 0, to: 1).received == 5)
    let other = UploadFolder(spool.path + "/uploads")
    #expect(try other.begin("people.csv", size: 10, for: 1).received == 5, "it goes on")
    #expect(throws: UploadRefusal.otherOffset(5)) { try append("12345", at: 0, to: 1) }
    #expect(throws: UploadRefusal.tooLong(10)) { try append("123456", at: 5, to: 1) }
    #expect(throws: UploadRefusal.self) { try folder.path(of: 1, of: 1) }
    #expect(try append("67890", at: 5, to: 1).isWhole)
    #expect(try String(contentsOfFile: folder.path(of: 1, of: 1), encoding: .utf8) == "1234567890")
    #expect(try folder.beginning(of: 1, of: 1, atMost: 3) == Array("123".utf8))
    #expect(try folder.begin("people.csv", size: 10, for: 1).number == 2, "a whole one isn't gone on with")
  }

  @Test("users don't see each other's files")
  func users() throws {
    _ = try folder.begin("a.csv", size: 1, for: 1)
    #expect(try folder.uploads(of: 2).isEmpty)
    #expect(throws: UploadRefusal.noSuchUpload(1)) { try append("x", at: 0, to: 1, of: 2) }
    #expect(throws: UploadRefusal.noSuchUpload(1)) { try folder.remove(1, of: 2) }
    var status = stat()
    #expect(stat(spool.path + "/uploads", &status) == 0 && status.st_mode & 0o777 == 0o700)
  }

  @Test(
    "a name that could lead elsewhere, or a terminal astray, is refused",
    arguments: [
      "", ".", "..", ".hidden", "a/b", "/etc/passwd", "../a", "a\nb", "a\u{202E}b", String(repeating: "x", count: 300),
    ])
  func names(_ name: String) throws {
    #expect(throws: UploadRefusal.self) { try folder.begin(name, size: 1, for: 1) }
    #expect(try folder.uploads(of: 1).isEmpty)
  }

  @Test("an empty file, one for which there is no room, and too many are refused")
  func limits() throws {
    #expect(throws: UploadRefusal.isEmpty) { try folder.begin("a", size: 0, for: 1) }
    #expect(throws: UploadRefusal.self) { try folder.begin("a", size: .max, for: 1) }
    for number in 1...UploadFolder.mostUploads { _ = try folder.begin("\(number)", size: 1, for: 1) }
    #expect(throws: UploadRefusal.tooMany(UploadFolder.mostUploads)) { try folder.begin("a", size: 1, for: 1) }
    _ = try folder.begin("a", size: 1, for: 2)
  }

  @Test("what nothing was added to for a day is removed when another begins, and what a kill has left doesn't matter")
  func old() throws {
    _ = try folder.begin("old.csv", size: 2, for: 1)
    try append("x", at: 0, to: 1)
    let file = spool.path + "/uploads/1/1-2/old.csv"
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSinceNow: -2 * 86_400)], ofItemAtPath: file)
    try FileManager.default.createDirectory(
      atPath: spool.path + "/uploads/1/7-9", withIntermediateDirectories: false)
    #expect(try folder.uploads(of: 1).map(\.name) == ["old.csv"])
    let new = try folder.begin("new.csv", size: 2, for: 1)
    #expect(try folder.uploads(of: 1).map(\.name) == ["new.csv"])
    try folder.remove(new.number, of: 1)
    #expect(try folder.uploads(of: 1).isEmpty)
    #expect(throws: UploadRefusal.noSuchUpload(new.number)) { try folder.upload(new.number, of: 1) }
  }
}
