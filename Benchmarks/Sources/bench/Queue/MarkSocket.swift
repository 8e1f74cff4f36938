import Foundation
import Glibc

/// Hears from `lade-queue` when jobs begin.
final class MarkSocket {
  let path: String
  private let descriptor: Int32

  init(in folder: URL) throws {
    path = folder.appending(path: "marks").path
    descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
    let result = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    guard result == 0 else { throw QueueBenchmarkError.system("\(path): \(String(cString: strerror(errno)))") }
    var timeout = timeval(tv_sec: 30, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
  }

  deinit {
    close(descriptor)
    unlink(path)
  }

  /// When the next job began: seconds of ``now``.
  func next() throws -> Double {
    var nanoseconds: Int64 = 0
    guard recv(descriptor, &nanoseconds, MemoryLayout<Int64>.size, 0) == MemoryLayout<Int64>.size else {
      throw QueueBenchmarkError.system("no job began within half a minute")
    }
    return Double(nanoseconds) / 1e9
  }

  /// Seconds of the clock that never is set.
  static var now: Double {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }
}

/// What keeps the benchmark from going on.
enum QueueBenchmarkError: Error, CustomStringConvertible {
  case system(String)
  case wrongCount(who: String, expected: Int, found: Int64)

  var description: String {
    switch self {
    case .system(let what): what
    case .wrongCount(let who, let expected, let found): "\(who) ended \(found) jobs, and was given \(expected)"
    }
  }
}
