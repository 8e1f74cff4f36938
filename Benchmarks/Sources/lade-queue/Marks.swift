import Glibc

/// Tells the benchmark when a job began.
final class Marks: Sendable {
  static let shared = Marks()
  private let descriptor: Int32

  private init() {
    guard let path = getenv("BENCH_MARKS") else {
      descriptor = -1
      return
    }
    descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { bytes in
      bytes.copyBytes(from: UnsafeRawBufferPointer(start: path, count: min(strlen(path), bytes.count - 1)))
    }
    let result = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    if result != 0 { perror("BENCH_MARKS") }
  }

  /// Sends the time: nanoseconds of the clock that never is set.
  func send() {
    guard descriptor >= 0 else { return }
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    var nanoseconds = Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    _ = Glibc.send(descriptor, &nanoseconds, MemoryLayout<Int64>.size, 0)
  }
}
