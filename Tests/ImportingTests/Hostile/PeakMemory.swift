import Foundation

/// The memory of this process, in MiB.
enum PeakMemory {
  /// Its peak so far.
  static var most: Int { status("VmHWM:") }
  /// Its current memory.
  static var now: Int { status("VmRSS:") }

  /// Resets `most` to the current memory.
  static func forget() throws {
    let file = try FileHandle(forWritingTo: URL(fileURLWithPath: "/proc/self/clear_refs"))
    try file.write(contentsOf: Data("5".utf8))
    try file.close()
  }

  private static func status(_ key: String) -> Int {
    let text = FileManager.default.contents(atPath: "/proc/self/status").map { String(decoding: $0, as: UTF8.self) }
    let line = (text ?? "").split(separator: "\n").first { $0.hasPrefix(key) }
    return (line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) } ?? .max) >> 10
  }
}
