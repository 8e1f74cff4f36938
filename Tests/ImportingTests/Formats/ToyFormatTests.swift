import Foundation
import Testing

@testable import Importing

// A format that is added in one file and with one registration: its type, its reader and its reject form are here, and
// nothing else knows it.

/// Lines of values under a title that names their columns: `!toy code|name|age`, then `a|Ann|1`.
private struct ToyFormat: FileFormat {
  let name = FileFormatName("toy")
  let title = "Toy"
  let endings = ["toy"]
  let signatures = [Self.mark]
  let isTabular = true

  static let mark = Array("!toy ".utf8)
  static let separator = FormatField("toySeparator", default: "|")

  let options: [FormatOption] =
    FormatOption.ofText + [
      FormatOption("toy_separator", Self.separator, help: "the character between two values") {
        value throws(ReaderError) in try value.text()
      }
    ]

  var access: FormatAccess {
    .text { (window, options, position) throws(ReaderError) in
      try ToyReader(window: window, options: options, from: position)
    }
  }

  func validate(_ options: ReaderOptions) throws(ReaderError) {
    _ = try ReaderOptions.byte(options[Self.separator], of: "toy_separator")
  }
}

private final class ToyReader: SequentialReader {
  let columns: [String]
  var failure: ReaderError?
  private let window: SourceWindow
  private let separator: UInt8
  private let limit: Int
  private(set) var position: ReaderPosition

  init(window: SourceWindow, options: ReaderOptions, from position: ReaderPosition?) throws(ReaderError) {
    self.window = window
    separator = options[ToyFormat.separator].utf8.first ?? 0
    limit = options.maximumRecordBytes
    let title = window.bytes.prefix { $0 != UInt8(ascii: "\n") }
    guard title.starts(with: ToyFormat.mark) else { throw .malformed(line: 1, column: 1, what: "the title is missing") }
    columns = title.dropFirst(ToyFormat.mark.count).split(separator: separator).map {
      String(decoding: $0, as: UTF8.self)
    }
    window.consume(min(title.count + 1, window.unread))
    self.position = position ?? ReaderPosition(byteOffset: window.offset, line: 2, record: 0)
    if let position { try window.resume(at: position) }
  }

  var bytesTotal: Int64 { window.bytesTotal }
  var bytesRead: Int64 { window.bytesRead }
  var rejectForm: any RejectForm { ToyRejects(columns: columns, separator: separator) }

  func readRecord(into batch: RecordBatch) throws(ReaderError) -> Bool {
    let found = try window.takeLine(
      endingWith: UInt8(ascii: "\n"), limit: limit, into: batch, line: position.line
    ) { start, end, _ in
      let storage = batch.storage
      let (firstCell, arena) = (storage.pointee.cellCount, storage.pointee.arenaCount)
      let line = UnsafeBufferPointer(start: start, count: end - start)
      for value in line.split(separator: separator, omittingEmptySubsequences: false) {
        storage.pointee.append(
          Cell(
            kind: value.isEmpty ? .empty : .text, offset: UInt32(arena + value.startIndex),
            length: UInt32(value.count)))
      }
      storage.pointee.finish(
        bytes: start, kept: line.count, line: position.line, byteOffset: window.offset, byteLength: line.count,
        firstCell: firstCell)
    }
    guard found else { return false }
    position = ReaderPosition(byteOffset: window.offset, line: position.line + 1, record: position.record + 1)
    return true
  }
}

private struct ToyRejects: RejectForm {
  let columns: [String]
  let separator: UInt8
  private var hasReasons: Bool { columns.starts(with: RejectReason.columns) }

  var opening: [UInt8] { ToyFormat.mark + line((hasReasons ? [] : RejectReason.columns) + columns) }

  func record(_ rejection: Rejection) -> [UInt8] {
    let values = rejection.raw.split(separator: separator, omittingEmptySubsequences: false)
    let own = values.dropFirst(hasReasons ? RejectReason.columns.count : 0).map { String(decoding: $0, as: UTF8.self) }
    return line([String(rejection.line), rejection.column, rejection.code, rejection.message] + own)
  }

  private func line(_ values: [String]) -> [UInt8] {
    Array(values.map { Array($0.utf8) }.joined(separator: [separator])) + [UInt8(ascii: "\n")]
  }
}

/// In processes of their own: a registration is for a whole process, and other tests look at all formats.
@Suite("A format added in one file and one registration")
struct ToyFormatTests {
  @Test("is known by its ending and by its signature, and imported with its options")
  func imported() async {
    await #expect(processExitsWith: .success) {
      FileFormats.standard.add(ToyFormat())
      for name in ["people.toy", "PEOPLE.TOY", "people.dat", "people.csv"] {
        let room = try ImportRoom(.sqlite)
        let end = try room.run("!toy code|name|age\na|Ann|1\nb|Bob|2\n", as: name)
        #expect(end.tally == "2i 0u 0= 0r 0?")
        #expect(try room.rows("code", "name", "age") == ["a|Ann|1", "b|Bob|2"])
      }
      let room = try ImportRoom(.memory)
      let options = try ReaderOptions(named: ["format": ["toy"], "toy_separator": ["/"]])
      try room.run("!toy code/name\na/Ann\n", as: "people", reader: options)
      #expect(try room.rows("code", "name") == ["a|Ann"])
      // All columns are known from the beginning, so a missing key fails before anything is read.
      #expect(try room.failure("!toy name|age\n", as: "b.toy", mode: .upsert, job: "2") != nil)
    }
  }

  @Test("has options that are refused, stored, explained and reported as those of any format")
  func options() async {
    await #expect(processExitsWith: .success) {
      let formats = FileFormats.standard
      formats.add(ToyFormat())
      #expect(ImportOptionKey(rawValue: "toy_separator")?.isOfReading == true)
      #expect(formats.optionsHelp.contains("toy_separator: the character between two values (Toy)"))
      let options = try ReaderOptions(named: ["toy_separator": ["/"]])
      let stored = try JSONEncoder().encode(options)
      #expect(String(decoding: stored, as: UTF8.self).contains(#""toySeparator":"\/""#))
      #expect(try JSONDecoder().decode(ReaderOptions.self, from: stored) == options)
      #expect(
        throws: ReaderError.invalidOption(name: "toy_separator", reason: "“ab” isn't one byte, or it ends a line")
      ) {
        try ReaderOptions(named: ["toy_separator": ["ab"]])
      }
      var csv = options
      csv.format = .csv
      #expect(
        formats.conflicts(in: csv, given: ["toy_separator"]) == [
          OptionConflict(key: "toy_separator", problem: "only Toy has it, and the format is csv")
        ])
      let room = try ImportRoom(.memory)
      let end = try room.run("code,name\na,Ann\n", as: "a.csv", reader: options)
      #expect(end.notes.contains("the file is read as csv, of which the option(s) toy_separator say nothing"))
    }
  }

  @Test("has its rejects in its own form and under its ending, and they are imported once corrected")
  func rejects() async {
    await #expect(processExitsWith: .success) {
      FileFormats.standard.add(ToyFormat())
      let room = try ImportRoom(.sqlite)
      let end = try room.run("!toy code|name|age\na|Ann|1\nb|Bob|old\nc|Cleo|3\n", as: "people.dat")
      #expect(end.tally == "2i 0u 0= 1r 0?")
      let rejects = try #require(room.rejects())
      #expect(
        rejects.hasPrefix("!toy lade_line|lade_column|lade_code|lade_message|code|name|age\n3|age|not_an_integer|"))
      #expect(rejects.hasSuffix("|b|Bob|old\n"))
      let options = ReaderOptions(format: FileFormatName(rawValue: "toy"))
      #expect(RejectFileName.name(job: "7", source: "people.dat", options) == "7.rejects.toy")
      #expect(
        try RejectSummary.read(room.rejectsFile(), options: ReaderOptions()).groups.map(\.code) == ["not_an_integer"])
      try room.run(rejects.replacing("|old", with: "|2"), as: "1.rejects.toy", job: "2")
      #expect(try room.rows("code", "age") == ["a|1", "b|2", "c|3"])
    }
  }

  @Test("resumes at the byte behind each batch")
  func resumed() async {
    await #expect(processExitsWith: .success) {
      FileFormats.standard.add(ToyFormat())
      let text = "!toy code|name|age\n" + (0..<20).map { "p\($0)|Person \($0)|\($0 == 7 ? "x" : "\($0)")\n" }.joined()
      for name in ["people.toy", "people.dat"] {
        let whole = try ImportRoom(.sqlite)
        try whole.run(text, as: name)
        let room = try ImportRoom(.sqlite)
        var stops = 0
        while try !room.run(text, as: name, batch: 3, stopAfter: 1).isFinished, stops < 20 {
          stops += 1
          try room.reopen()
        }
        #expect(stops >= 6)
        #expect(try room.rows("code", "name", "age") == whole.rows("code", "name", "age"))
        #expect(room.rejects() == whole.rejects())
      }
    }
  }
}
