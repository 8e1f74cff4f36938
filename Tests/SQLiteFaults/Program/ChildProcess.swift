import CSQLiteFaults
import Foundation
import Glibc

/// How a process ended that was a copy of this one.
enum ChildEnd: Equatable {
  case exit
  /// Killed, with the first line that it wrote to its standard error.
  case signal(Int32, String)
}

/// Runs code in a copy of this process, so that it may end without the others noticing. This process has one thread.
enum ChildProcess {
  /// The seconds that the work of one process takes at most. It takes less than one.
  private static let limit: UInt32 = 120

  private final class Body {
    let run: () -> Void
    init(_ run: @escaping () -> Void) { self.run = run }
  }

  /// - Parameter log: the file that becomes the process's standard error.
  static func run(log: URL, _ body: @escaping () -> Void) throws -> ChildEnd {
    let path = log.path
    let work = Body {
      let file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o644)
      if file >= 0 { dup2(file, STDERR_FILENO) }
      body()
    }
    let status = lade_faults_fork(
      limit, { Unmanaged<Body>.fromOpaque($0!).takeUnretainedValue().run() }, Unmanaged.passUnretained(work).toOpaque())
    guard status >= 0 else { throw POSIXError(.init(rawValue: errno) ?? .EAGAIN) }
    let signal = status & 0x7f
    if signal == 0, (status >> 8) & 0xff == 0 { return .exit }
    let text = (try? String(contentsOf: log, encoding: .utf8)) ?? ""
    return .signal(signal, String(text.prefix { $0 != "\n" }))
  }
}
