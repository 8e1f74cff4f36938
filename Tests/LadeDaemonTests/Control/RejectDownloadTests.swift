import Foundation
import Importing
import TestSupport
import Testing

@testable import LadeDaemon

@Suite("All rejects of a job as one file")
struct RejectDownloadTests {
  /// A reject file as a job of CSV writes it.
  private func rejects(_ range: Range<Int>, to file: URL) throws {
    var text = "lade_line,lade_column,lade_code,lade_message,number,name\n"
    for number in range {
      text += "\(number),number,not_an_integer,it isn't one,x\(number),\(String(repeating: "n", count: 400))\n"
    }
    try Data(text.utf8).write(to: file)
  }

  @Test("those of a feed come in parts, each once, from file to file in their order")
  func feed() throws {
    let directory = try ScratchDirectory()
    let folder = directory.file("7.rejects")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try rejects(1..<1_501, to: folder.appendingPathComponent("a.csv"))
    try rejects(1..<701, to: folder.appendingPathComponent("b.csv"))
    let download = RejectDownload(job: 7, file: folder, isFeed: true) {
      RejectedRecords(folder, options: ImportOptions(), entity: nil)
    }
    #expect(download.name == "job-7.rejects.jsonl")
    var parts: [[UInt8]] = []
    while let part = try download.next() { parts.append(part) }
    #expect(parts.count > 2 && parts.allSatisfy { $0.last == UInt8(ascii: "\n") })
    let lines = String(decoding: parts.flatMap { $0 }, as: UTF8.self).split(separator: "\n")
    struct Line: Decodable {
      let number: Int
      let file: String
      let line: Int
    }
    let read = try lines.map { try JSONDecoder().decode(Line.self, from: Data($0.utf8)) }
    #expect(read.map(\.number) == Array(1...2_200))
    #expect(read.prefix(1_500).allSatisfy { $0.file == "a.csv" } && read.suffix(700).map(\.line) == Array(1...700))
    #expect(try download.next() == nil)
  }

  @Test("that of one file is the file, part after part")
  func single() throws {
    let directory = try ScratchDirectory()
    let file = directory.file("7.rejects.csv")
    try rejects(1..<1_501, to: file)
    let download = RejectDownload(job: 7, file: file, isFeed: false) {
      RejectedRecords(file, options: ImportOptions(), entity: nil)
    }
    var bytes: [UInt8] = []
    var parts = 0
    while let part = try download.next() {
      bytes += part
      parts += 1
    }
    let whole = try Data(contentsOf: file)
    #expect(parts > 1 && Data(bytes) == whole)
  }
}
