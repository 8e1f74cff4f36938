import Foundation
import Glibc
import TestSupport

/// Where a daemon is to be killed: at a change of its store or its reject files, by a library that is preloaded into it
/// (`Tests/KillPoint/killpoint.c`). Unlike a kill after some time, this one hits what it is meant to on any machine.
final class KillPoint {
  private static let library = Result { try compiled() }

  /// For ``DaemonFolder/launch(_:)``.
  let environment: [String: String]
  private let file: FileHandle
  private let hold: String
  private var released: FileHandle?

  /// - Parameters:
  ///   - watch: what the paths have in them whose changes count, with colons between.
  ///   - holding: what the paths of folders have in them that can't be listed until ``letGo()``. Who waits counts as a
  ///     change.
  ///   - locks: whether taking a lock counts as a change, too. It can fail, but the process isn't killed there.
  init(
    in folder: DaemonFolder, watch: String = "/main.sqlite:/rejects/", holding: String? = nil, locks: Bool = false
  ) throws {
    let path = try folder.write(Data(count: 16), to: "kill-point")
    let preloaded = [ProcessInfo.processInfo.environment["LD_PRELOAD"], try Self.library.get()].compactMap { $0 }
    hold = folder.file("kill-point-hold")
    var environment = [
      "LD_PRELOAD": preloaded.joined(separator: ":"), "KILL_POINT": path,
      "KILL_WATCH": watch,
    ]
    if let holding {
      guard mkfifo(hold, 0o600) == 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
      environment["KILL_HOLD"] = holding
      environment["KILL_HOLD_PIPE"] = hold
    }
    if locks { environment["KILL_LOCKS"] = "1" }
    self.environment = environment
    file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
  }

  /// Begins to count again.
  /// - Parameter number: the change at which the next daemon is to be killed, from 1; nil for none.
  func arm(_ number: Int?) throws {
    try file.seek(toOffset: 0)
    try file.write(contentsOf: [0, Int64(number ?? 0)].withUnsafeBytes { Data($0) })
  }

  /// Begins to count again.
  /// - Parameter number: the change that is to fail once, from 1.
  func failOnce(_ number: Int) throws { try arm(-number) }

  /// Lets folders be listed from now on.
  func letGo() throws { released = try FileHandle(forUpdating: URL(fileURLWithPath: hold)) }

  /// How many changes there were since.
  func changes() throws -> Int {
    try file.seek(toOffset: 0)
    guard let bytes = try file.read(upToCount: 8), bytes.count == 8 else { throw POSIXError(.EIO) }
    return Int(bytes.withUnsafeBytes { $0.loadUnaligned(as: Int64.self) })
  }

  private static func compiled() throws -> String {
    guard let compiler = ["cc", "gcc", "clang"].lazy.compactMap(Products.system).first else {
      throw ProgramFailure(program: "cc", arguments: [], what: "it isn't installed: run make deps", error: "")
    }
    let source = Products.package.appendingPathComponent("Tests/KillPoint/killpoint.c").path
    // Beside the programs that it is for, under a name of its own until it is whole: other test runs may want it, too.
    let library = Products.folder.appendingPathComponent("killpoint.so").path
    let made = library + ".\(getpid())"
    let run = try ProgramOutput.now(
      compiler, ["-shared", "-fPIC", "-O1", "-o", made, source, "-ldl"], environment: Products.environment([:]))
    guard run.status == 0, rename(made, library) == 0 else {
      throw ProgramFailure(program: "cc", arguments: [source], what: "status \(run.status)", error: run.error)
    }
    return library
  }
}
