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
    let begun = try folder.begin("people.csv", size: 10, modified: 5, for: 1)
    let number = begun.number
    #expect(begun.received == 0 && !begun.isWhole)
    #expect(try append("12345", at: 0, to: number).received == 5)
    let other = UploadFolder(spool.path + "/uploads")
    #expect(try other.begin("people.csv", size: 10, modified: 5, for: 1).received == 5, "it goes on")
    #expect(throws: UploadRefusal.otherOffset(5)) { try append("12345", at: 0, to: number) }
    #expect(throws: UploadRefusal.tooLong(10)) { try append("123456", at: 5, to: number) }
    #expect(throws: UploadRefusal.self) { try folder.path(of: number, of: 1) }
    #expect(try append("67890", at: 5, to: number).isWhole)
    #expect(try String(contentsOfFile: folder.path(of: number, of: 1), encoding: .utf8) == "1234567890")
    #expect(try folder.beginning(of: number, of: 1, atMost: 3) == Array("123".utf8))
    let second = try folder.begin("people.csv", size: 10, modified: 5, for: 1)
    #expect(second.number > number, "a whole one isn't gone on with")
    #expect(try folder.begin("people.csv", size: 10, modified: 6, for: 1).number > second.number, "it was changed")
    let accented = try folder.begin("\u{E9}.csv", size: 10, modified: 5, for: 1)
    #expect(try folder.begin("e\u{301}.csv", size: 10, modified: 5, for: 1).number != accented.number)
  }

  @Test("a number is never that of another file again")
  func numbers() throws {
    let first = try folder.begin("a.csv", size: 1, modified: 5, for: 1)
    try folder.remove(first.number, of: 1)
    #expect(try folder.begin("b.csv", size: 1, modified: 5, for: 1).number > first.number)
  }

  @Test("users don't see each other's files")
  func users() throws {
    let number = try folder.begin("a.csv", size: 1, modified: 5, for: 1).number
    #expect(try folder.uploads(of: 2).isEmpty)
    #expect(throws: UploadRefusal.noSuchUpload(number)) { try append("x", at: 0, to: number, of: 2) }
    #expect(throws: UploadRefusal.noSuchUpload(number)) { try folder.remove(number, of: 2) }
    var status = stat()
    #expect(stat(spool.path + "/uploads", &status) == 0 && status.st_mode & 0o777 == 0o700)
  }

  @Test(
    "a name that could lead elsewhere, or a terminal astray, is refused",
    arguments: [
      "", ".", "..", ".hidden", "a/b", "/etc/passwd", "../a", "/\u{301}x", ".\u{301}a", "a\nb", "a\u{202E}b",
      String(repeating: "x", count: 300),
    ])
  func names(_ name: String) throws {
    #expect(throws: UploadRefusal.self) { try folder.begin(name, size: 1, modified: 5, for: 1) }
    #expect(try folder.uploads(of: 1).isEmpty)
  }

  @Test("an empty file, one for which there is no room, and too many are refused")
  func limits() throws {
    #expect(throws: UploadRefusal.isEmpty) { try folder.begin("a", size: 0, modified: 5, for: 1) }
    #expect(throws: UploadRefusal.self) { try folder.begin("a", size: .max, modified: 5, for: 1) }
    for number in 1...UploadFolder.mostUploads {
      _ = try folder.begin("\(number)", size: 1, modified: 5, for: 1)
    }
    #expect(throws: UploadRefusal.tooMany(UploadFolder.mostUploads)) {
      try folder.begin("a", size: 1, modified: 5, for: 1)
    }
    _ = try folder.begin("a", size: 1, modified: 5, for: 2)
  }

  @Test("a day after its last byte any user's upload is removed, and so is what a kill has left")
  func old() throws {
    let upload = try folder.begin("old.csv", size: 2, modified: 5, for: 2)
    try append("x", at: 0, to: upload.number, of: 2)
    let kept = try folder.begin("new.csv", size: 2, modified: 5, for: 1)
    let left = spool.path + "/uploads/2/7-9-5"
    try FileManager.default.createDirectory(atPath: left, withIntermediateDirectories: false)
    let longAgo: [FileAttributeKey: Any] = [.modificationDate: Date(timeIntervalSinceNow: -2 * 86_400)]
    try FileManager.default.setAttributes(
      longAgo, ofItemAtPath: spool.path + "/uploads/2/\(upload.number)-2-5/old.csv")
    try FileManager.default.setAttributes(longAgo, ofItemAtPath: left)
    #expect(try folder.uploads(of: 2).map(\.name) == ["old.csv"])
    #expect(try folder.removeOld() == 1)
    #expect(try folder.uploads(of: 2).isEmpty)
    #expect(!FileManager.default.fileExists(atPath: left))
    #expect(try folder.uploads(of: 1).map(\.name) == ["new.csv"])
    try folder.remove(kept.number, of: 1)
    #expect(try folder.uploads(of: 1).isEmpty)
    #expect(throws: UploadRefusal.noSuchUpload(kept.number)) { try folder.upload(kept.number, of: 1) }
  }

  @Test("a folder whose file a kill has taken is removed by the next start, and uploads stay")
  func empty() throws {
    let kept = try folder.begin("new.csv", size: 2, modified: 5, for: 2)
    let left = spool.path + "/uploads/2/7-9-5"
    try FileManager.default.createDirectory(atPath: left, withIntermediateDirectories: false)
    _ = try folder.removeOld()
    #expect(FileManager.default.fileExists(atPath: left), "it may be that of one that begins")
    try folder.removeEmptyFolders()
    #expect(!FileManager.default.fileExists(atPath: left))
    #expect(try folder.uploads(of: 2) == [kept])
  }
}
