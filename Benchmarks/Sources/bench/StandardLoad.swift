import BenchSupport
import Foundation

/// The rows that imports are measured with, as a CSV file: see `standard-load.awk`, which makes them.
struct StandardLoad {
  var rows: Int
  var file: URL

  /// Finds the file from an earlier run in `folder`, or makes it; then reads it once, so that no
  /// program that is measured has to wait for the disk.
  init(rows: Int, generator: URL, folder: URL) throws {
    self.rows = rows
    file = folder.appending(path: "people-\(rows).csv")
    if try !isMade(since: generator) {
      say("making \(file.path)")
      try generate(with: generator, in: folder)
    }
    let handle = try FileHandle(forReadingFrom: file)
    while let block = try handle.read(upToCount: 1 << 20), !block.isEmpty {}
    try handle.close()
  }

  private func isMade(since generator: URL) throws -> Bool {
    guard FileManager.default.fileExists(atPath: file.path) else { return false }
    let dates = try [file, generator].map {
      try FileManager.default.attributesOfItem(atPath: $0.path)[.modificationDate] as? Date ?? .distantPast
    }
    return dates[0] >= dates[1]
  }

  /// Writes beside the file and renames, so that an interrupted run leaves no half load behind.
  private func generate(with generator: URL, in folder: URL) throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let unfinished = folder.appending(path: "people-\(rows).csv.part")
    guard FileManager.default.createFile(atPath: unfinished.path, contents: nil) else {
      throw CocoaError(.fileWriteUnknown, userInfo: [NSFilePathErrorKey: unfinished.path])
    }
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["awk", "-f", generator.path, "-v", "rows=\(rows)"]
    process.standardOutput = try FileHandle(forWritingTo: unfinished)
    try process.run()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      throw MeasuringError.failed(program: "awk", status: Int(process.terminationStatus))
    }
    guard rename(unfinished.path, file.path) == 0 else {
      throw CocoaError(.fileWriteUnknown, userInfo: [NSFilePathErrorKey: file.path])
    }
  }
}
