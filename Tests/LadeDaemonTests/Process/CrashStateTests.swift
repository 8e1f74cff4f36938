import Foundation
import Glibc
import TestSupport
import Testing

/// A daemon does its work while everything that it changes on the disk is recorded. Then the power fails before any of these
/// changes: what was synced is there, of the rest any part, and a new daemon goes on from that. In the end there is what one
/// undisturbed run leaves. The submitters have synced their files, and the folders where they put them, before.
///
/// Some of the states are opened, or several at each change. ``FaultSample`` has their number and its seed.
@Suite("A daemon after a loss of power", .startsDaemons)
struct CrashStateTests {
  private static let parts = 3

  @Test(
    "leaves the rows, rejects, exports and backups of one run, and has all that it had acknowledged",
    arguments: 0..<parts)
  func everyState(_ part: Int) async throws {
    let scenario = try FaultScenario()
    var machine = try Machine(scenario.folder)
    let shim = try FaultShim(in: scenario.folder, watch: [])
    let daemon = try scenario.folder.launch(shim.recording)
    try await daemon.ready()
    let jobs = try #require(try await scenario.finish(daemon))
    try await daemon.stop()
    let disk = try machine.disk(after: Data(contentsOf: URL(fileURLWithPath: shim.journal)))
    try machine.expectAllIsRecorded(disk)
    let expected = try await scenario.result(jobs)

    var random = SeededGenerator(seed: FaultSample.seed &+ UInt64(part))
    var states: [(cut: Int, choice: CrashDisk.Choice)] = []
    if let size = FaultSample.size(96) {
      for number in 0..<size / Self.parts {
        let choices = CrashDisk.Choice.allCases
        // The first is the end, with nothing but what is sure to be there.
        let cut = number == 0 ? disk.count : Int.random(in: 0...disk.count, using: &random)
        states.append((cut, choices[number % choices.count]))
      }
    } else {
      for cut in stride(from: part, through: disk.count, by: Self.parts) {
        states += CrashDisk.Choice.allCases.map { (cut, $0) }
      }
      states.shuffle(using: &random)
    }
    var tally = FaultSample.Tally("states opened")
    for (cut, choice) in states {
      let remark =
        "a loss of power before change \(cut) of \(disk.count), \(choice), seed \(FaultSample.seed), part \(part)"
      try machine.restore(disk.state(before: cut, choice, &random))
      scenario.acknowledge(first: disk.acknowledged(before: cut))
      let next = try scenario.folder.launch()
      guard try await next.started.value() == .ready, let jobs = try await scenario.finish(next) else {
        let (ending, log) = (try await next.ended(), try next.log)
        Issue.record("the next daemon ended with \(ending) after \(remark):\n\(log)")
        continue
      }
      next.terminate()
      #expect(try await next.ended() == .exit(0), "\(remark)")
      FaultScenario.compare(try await scenario.result(jobs), with: expected, remark)
      tally.add()
    }
    tally.tell()
    print("crash states: LADE_FAULT_SEED=\(FaultSample.seed), part \(part): \(states.count), of \(disk.count) changes")
  }
}

/// The folders of a daemon, which can be put into the state that a loss of power leaves.
private struct Machine {
  private let folder: DaemonFolder
  /// The submitters' files keep their inodes and times, by which the daemon recognises them.
  private let submitted: [UInt64: DiskJournal.FileID]
  private let start: CrashDisk.Tree
  /// When the daemon's files were written, by which it recognises its copy of a file.
  private var times: [DiskJournal.FileID: timespec] = [:]

  private static let roots = ["spool", "state", "main.sqlite"]

  /// - Parameter folder: with what has been handed over, and no daemon yet.
  init(_ folder: DaemonFolder) throws {
    self.folder = folder
    var (start, submitted) = (CrashDisk.Tree(), [UInt64: DiskJournal.FileID]())
    for path in try Self.paths(in: folder) {
      if let inode = try Self.inode(of: path, in: folder) {
        submitted[inode] = submitted.count + 1
        start.nodes[path] = .file(submitted.count)
        start.contents[submitted.count] = try folder.data(path)
      } else {
        start.nodes[path] = .folder
      }
    }
    (self.start, self.submitted) = (start, submitted)
    try FileManager.default.createDirectory(atPath: folder.file("kept"), withIntermediateDirectories: false)
  }

  func disk(after journal: Data) throws -> CrashDisk {
    CrashDisk(start, try DiskJournal(journal, root: folder.path, files: submitted))
  }

  /// Expects all that was recorded to be what is there now: nothing was changed by a call that the library doesn't see.
  mutating func expectAllIsRecorded(_ disk: CrashDisk) throws {
    var random = SeededGenerator(seed: 1)
    var tree = disk.state(before: disk.count, .everything, &random, tears: false)
    tree.nodes = tree.nodes.filter { Self.isKept($0.key) }
    let paths = try Self.paths(in: folder)
    #expect(Set(paths) == Set(tree.nodes.keys))
    for path in paths {
      guard case .file(let file) = tree.nodes[path] else { continue }
      times[file] = try Self.status(of: path, in: folder).st_mtim
      let isEqual = try folder.data(path) == tree.contents[file]
      #expect(isEqual, "\(path) is recorded as it is")
    }
  }

  /// Makes the folders what the disk holds.
  func restore(_ tree: CrashDisk.Tree) throws {
    let files = FileManager.default
    for path in try Self.paths(in: folder) {
      guard let inode = try Self.inode(of: path, in: folder), let file = submitted[inode] else { continue }
      try files.moveItem(atPath: folder.file(path), toPath: folder.file("kept/\(file)"))
    }
    for name in try folder.names(in: "") where Self.isKept(name) { try files.removeItem(atPath: folder.file(name)) }
    for (path, node) in tree.nodes.sorted(by: { $0.key < $1.key }) where Self.isKept(path) {
      switch node {
      case .folder: try files.createDirectory(atPath: folder.file(path), withIntermediateDirectories: true)
      case .file(let file):
        if files.fileExists(atPath: folder.file("kept/\(file)")) {
          try files.moveItem(atPath: folder.file("kept/\(file)"), toPath: folder.file(path))
        } else {
          try folder.write(tree.contents[file] ?? Data(), to: path)
          if let time = times[file] {
            guard utimensat(AT_FDCWD, folder.file(path), [time, time], 0) == 0 else { throw POSIXError(.EIO) }
          }
        }
      }
    }
  }

  /// Whether a path is one of those that matter. SQLite makes its index of a log again from the log.
  private static func isKept(_ path: String) -> Bool {
    roots.contains { path == $0 || path.hasPrefix($0 + "/") || $0 == "main.sqlite" && path.hasPrefix($0) }
      && !path.hasSuffix("-shm")
  }

  private static func paths(in folder: DaemonFolder) throws -> [String] {
    try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter(isKept)
  }

  /// The inode of a file; nil of a folder.
  private static func inode(of path: String, in folder: DaemonFolder) throws -> UInt64? {
    let status = try status(of: path, in: folder)
    return status.st_mode & S_IFMT == S_IFREG ? UInt64(status.st_ino) : nil
  }

  private static func status(of path: String, in folder: DaemonFolder) throws -> stat {
    var status = stat()
    guard lstat(folder.file(path), &status) == 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
    return status
  }
}
