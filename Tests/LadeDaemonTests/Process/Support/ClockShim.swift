import Foundation
import Glibc

/// The clock of a daemon, which a test sets while the daemon runs, by a library that is preloaded into it
/// (`Tests/ClockShim/clockshim.c`). Nothing else on the machine sees it.
struct ClockShim {
  private static let library = Result { try PreloadedLibrary.compiled("ClockShim/clockshim.c") }

  /// For ``DaemonFolder/launch(_:by:)``.
  let environment: [String: String]
  private let file: FileHandle

  init(in folder: DaemonFolder) throws {
    let path = try folder.write(Data(count: 8), to: "clock")
    environment = ["LD_PRELOAD": PreloadedLibrary.variable(try Self.library.get()), "CLOCK_SHIM": path]
    file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
  }

  /// Sets it this far from the real time; a negative interval is before it.
  func set(aheadBy interval: TimeInterval) throws {
    try file.seek(toOffset: 0)
    try file.write(contentsOf: withUnsafeBytes(of: Int64(interval * 1e9)) { Data($0) })
  }
}
