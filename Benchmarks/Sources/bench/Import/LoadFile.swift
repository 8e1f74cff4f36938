import BenchSupport
import Foundation

/// The rows that imports are measured with, as a file: see `standard-load.awk` and `keyed-load.awk`, which make them.
struct LoadFile {
  /// How the same people are written: what differs from the standard load.
  enum Variant: String {
    case people
    /// The email begins with eight random digits.
    case randomEmail = "random-email"
    /// Every hundredth person is a year older.
    case changed
    /// A JSON object a line.
    case ndjson
    /// An eighth column with the code of a club.
    case withClubs = "with-clubs"
    /// Not people, but their clubs.
    case clubs
    /// Readings, which are found by keys of several kinds.
    case readings
    /// Every hundredth reading has another level.
    case changedReadings = "changed-readings"
    /// A JSON object a line, with five objects in it.
    case parents
    /// The files of a transit feed.
    case stops, routes, trips
    case stopTimes = "stop_times"

    /// The program that makes it, in the folder of the benchmarks.
    var generator: String {
      switch self {
      case .people, .randomEmail, .changed, .ndjson, .withClubs, .clubs: "standard-load.awk"
      case .readings, .changedReadings, .parents, .stops, .routes, .trips, .stopTimes: "keyed-load.awk"
      }
    }

    /// The generator's options, besides the number of rows.
    fileprivate var options: [String] {
      switch self {
      case .people: []
      case .randomEmail: ["email=random"]
      case .changed: ["changed=\(LoadFile.changedEach)"]
      case .ndjson: ["format=ndjson"]
      case .withClubs: ["clubs=\(LoadFile.clubs)"]
      case .clubs: ["clubs=\(LoadFile.clubs)", "format=clubs"]
      case .readings: []
      case .changedReadings: ["changed=\(LoadFile.changedEach)"]
      case .parents, .stops, .routes, .trips, .stopTimes: ["format=\(rawValue)"]
      }
    }
  }

  /// Of ``Variant/changed``: one in this many rows differs.
  static let changedEach = 100
  /// How many clubs there are.
  static let clubs = 100_000
  /// How many objects are in each of ``Variant/parents``.
  static let parts = 5

  var rows: Int
  var file: URL

  /// Finds the file from an earlier run in `folder`, or makes it; then reads it once, so that no
  /// program that is measured has to wait for the disk.
  init(_ variant: Variant = .people, rows: Int, generator: URL, folder: URL) throws {
    self.rows = rows
    let ending = variant == .ndjson || variant == .parents ? "ndjson" : "csv"
    file = folder.appending(path: "\(variant.rawValue)-\(rows).\(ending)")
    let maker = try Maker(generator: generator, options: ["rows=\(rows)"] + variant.options)
    if !maker.hasMade(file) {
      say("making \(file.relativePath)")
      try maker.make(file)
    }
    let handle = try FileHandle(forReadingFrom: file)
    while let block = try handle.read(upToCount: 1 << 20), !block.isEmpty {}
    try handle.close()
  }
}

/// The generator with its options. A note next to each file identifies the generator: a different one generates the file
/// again, an unchanged one that was merely checked out again doesn't.
private struct Maker {
  private let generator: URL
  private let options: [String]
  private let note: String

  init(generator: URL, options: [String]) throws {
    self.generator = generator
    self.options = options
    note = options.joined(separator: " ") + "\n" + (try String(contentsOf: generator, encoding: .utf8))
  }

  func hasMade(_ file: URL) -> Bool {
    guard FileManager.default.fileExists(atPath: file.path),
      let noted = FileManager.default.contents(atPath: place(ofNoteFor: file).path)
    else { return false }
    return noted == Data(note.utf8)
  }

  private func place(ofNoteFor file: URL) -> URL { file.appendingPathExtension("made-by") }

  /// Writes to a temporary file and renames it, so that an interrupted run leaves no partial load behind.
  func make(_ file: URL) throws {
    try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    let unfinished = file.appendingPathExtension("part")
    guard FileManager.default.createFile(atPath: unfinished.path, contents: nil) else {
      throw CocoaError(.fileWriteUnknown, userInfo: [NSFilePathErrorKey: unfinished.path])
    }
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["awk", "-f", generator.path] + options.flatMap { ["-v", $0] }
    process.standardOutput = try FileHandle(forWritingTo: unfinished)
    try process.run()
    process.waitUntilExit()
    guard process.terminationReason == .exit, process.terminationStatus == 0 else {
      throw MeasuringError.failed(program: "awk", status: Int(process.terminationStatus))
    }
    guard rename(unfinished.path, file.path) == 0 else {
      throw CocoaError(.fileWriteUnknown, userInfo: [NSFilePathErrorKey: file.path])
    }
    try Data(note.utf8).write(to: place(ofNoteFor: file), options: .atomic)
  }
}
