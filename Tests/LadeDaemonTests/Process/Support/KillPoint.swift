import Foundation
import Glibc

/// Where a daemon is to be killed: at a change of its store or its reject files, by a library that is preloaded into it
/// (`Tests/KillPoint/killpoint.c`). Unlike a kill after some time, this one hits what it is meant to on any machine.
final class KillPoint {
  private static let library = Result { try PreloadedLibrary.compiled("KillPoint/killpoint.c") }

  /// For ``DaemonFolder/launch(_:)``.
  let environment: [String: String]
  private let file: FileHandle
  private let hold: String
  private var released: FileHandle?

  /// - Parameters:
  ///   - watch: what the paths have in them whose changes count, with colons between.
  ///   - holding: what the paths of folders have in them that can't be listed until ``letGo()``. Who waits counts as a
  ///     change.
  ///   - waits: whether a change at which the daemon is to be killed is held up until ``letGo()`` instead.
  ///   - locks: whether taking a lock counts as a change, too. It can fail, but the process isn't killed there.
  init(
    in folder: DaemonFolder, watch: String = "/main.sqlite:/rejects/", holding: String? = nil, waits: Bool = false,
    locks: Bool = false
  ) throws {
    let path = try folder.write(Data(count: 16), to: "kill-point")
    hold = folder.file("kill-point-hold")
    var environment = [
      "LD_PRELOAD": PreloadedLibrary.variable(try Self.library.get()), "KILL_POINT": path, "KILL_WATCH": watch,
    ]
    if waits || holding != nil {
      guard mkfifo(hold, 0o600) == 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
      environment["KILL_HOLD_PIPE"] = hold
    }
    if waits { environment["KILL_WAITS"] = "1" }
    if let holding { environment["KILL_HOLD"] = holding }
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

  /// Begins to count again, for a daemon that is to be killed at another change in each round: at every third, or with
  /// `LADE_FAULTS=all` in the environment at each.
  /// - Parameter round: from 1.
  func arm(round: Int) throws { try arm(1 + (round - 1) * Self.step) }

  /// How many changes there were at least, when none was met in the last of so many rounds.
  static func changes(in rounds: Int) -> Int { 1 + (rounds - 2) * step }

  private static let step = FaultSample.isAll ? 1 : 3

  /// Begins to count again.
  /// - Parameter number: the change that is to fail once, from 1.
  func failOnce(_ number: Int) throws { try arm(-number) }

  /// Waits until the change that was chosen is held up.
  /// - Parameter number: as it was armed.
  func reached(_ number: Int) async throws {
    while try changes() < number { await Task.yield() }
  }

  /// Lets what waits go on. What is chosen from now on waits again.
  func letGoOnce() async throws {
    var pipe = open(hold, O_WRONLY | O_NONBLOCK | O_CLOEXEC)
    // A change is counted just before it waits.
    while pipe < 0, errno == ENXIO {
      await Task.yield()
      pipe = open(hold, O_WRONLY | O_NONBLOCK | O_CLOEXEC)
    }
    guard pipe >= 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
    close(pipe)
  }

  /// Lets folders be listed from now on, and what waits go on.
  func letGo() throws { released = try FileHandle(forUpdating: URL(fileURLWithPath: hold)) }

  /// How many changes there were since.
  func changes() throws -> Int {
    try file.seek(toOffset: 0)
    guard let bytes = try file.read(upToCount: 8), bytes.count == 8 else { throw POSIXError(.EIO) }
    return Int(bytes.withUnsafeBytes { $0.loadUnaligned(as: Int64.self) })
  }
}
