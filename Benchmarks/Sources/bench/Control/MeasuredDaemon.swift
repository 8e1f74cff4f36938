import BenchSupport
import Foundation
import Glibc

/// A laded with everything of its own, asked over its socket.
final class MeasuredDaemon {
  /// What is asked in turn; the first is that of the job.
  private static let uris = [
    "/v1/jobs/1", "/v1/status", "/v1/jobs?limit=20", "/v1/lanes", "/v1/stats", "/v1/log?limit=20",
    "/v1/objects/Person?limit=20",
  ]
  private static let interval: Duration = .milliseconds(10)

  private let folder: URL
  private let process = Process()
  private var socket: String { folder.appending(path: "s").path }
  private var watchers: [Int32] = []

  init(laded: URL, folder: URL, model: URL) throws {
    self.folder = folder
    if FileManager.default.fileExists(atPath: folder.path) { try FileManager.default.removeItem(at: folder) }
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let configuration = folder.appending(path: "lade.yaml")
    let text = """
      spool: spool
      state: state
      socket: s
      log_level: notice
      stores: {main: {path: main.sqlite, model: \(model.absoluteURL.path)}}

      """
    try Data(text.utf8).write(to: configuration)
    process.executableURL = laded
    process.arguments = ["--config", configuration.path]
    try process.run()
    let deadline = ContinuousClock.now + .seconds(20)
    while true {
      do {
        _ = try ask("GET", "/v1/status")
        return
      } catch {
        guard process.isRunning, ContinuousClock.now < deadline else { throw error }
        Thread.sleep(forTimeInterval: 0.02)
      }
    }
  }

  func stop() {
    for watcher in watchers { shutdown(watcher, Int32(SHUT_RDWR)) }
    process.terminate()
    process.waitUntilExit()
  }

  /// Follows a standing query, and throws away what it hears.
  func watch(_ uri: String) throws {
    let descriptor = try connected("GET", uri, nil)
    watchers.append(descriptor)
    Thread.detachNewThread {
      var bytes = [UInt8](repeating: 0, count: 65_536)
      while recv(descriptor, &bytes, bytes.count, 0) > 0 {}
      close(descriptor)
    }
  }

  /// Asks in turn, until the import of a file has ended; without a file for five seconds.
  func measure(_ file: URL?) throws -> ControlRound {
    var round = ControlRound()
    if let file {
      let body = #"{"source": "\#(file.absoluteURL.path)", "entity": "Person"}"#
      let answer = try ask("POST", "/v1/jobs", body)
      guard answer.hasPrefix("HTTP/1.1 201") else { throw NoAnswer(uri: "/v1/jobs", answer: answer) }
    }
    let start = ContinuousClock.now
    var next = start
    var isAtWork = true
    while isAtWork {
      for uri in Self.uris where file != nil || uri != Self.uris[0] {
        let asked = ContinuousClock.now
        let answer = try ask("GET", uri)
        round.times.append(asked.duration(to: .now) / .milliseconds(1))
        guard answer.hasPrefix("HTTP/1.1 200") else { throw NoAnswer(uri: uri, answer: answer) }
        if uri == Self.uris[0] {
          if answer.contains(#""state":"discarded""#) { throw NoAnswer(uri: uri, answer: answer) }
          isAtWork = !answer.contains(#""state":"completed""#)
        }
        next += Self.interval
        let pause = ContinuousClock.now.duration(to: next)
        if pause > .zero { Thread.sleep(forTimeInterval: pause / .seconds(1)) }
      }
      if file == nil { isAtWork = start.duration(to: .now) < .seconds(5) }
    }
    round.seconds = start.duration(to: .now) / .seconds(1)
    round.times.sort()
    round.mainQueue = Self.number("p99", after: "main_queue", in: try ask("GET", "/v1/stats")) * 1000
    round.peakMiB = try peak()
    return round
  }

  /// Imports a file and asks for nothing but the end, twice a second: what the main queue does for the import alone.
  func measureUnasked(_ file: URL) throws -> ControlRound {
    let before = try busy()
    let body = #"{"source": "\#(file.absoluteURL.path)", "entity": "Person"}"#
    let answer = try ask("POST", "/v1/jobs", body)
    guard answer.hasPrefix("HTTP/1.1 201") else { throw NoAnswer(uri: "/v1/jobs", answer: answer) }
    let start = ContinuousClock.now
    while true {
      Thread.sleep(forTimeInterval: 0.5)
      let answer = try ask("GET", Self.uris[0])
      if answer.contains(#""state":"completed""#) { break }
      if answer.contains(#""state":"discarded""#) { throw NoAnswer(uri: Self.uris[0], answer: answer) }
    }
    var round = ControlRound()
    round.seconds = start.duration(to: .now) / .seconds(1)
    let stats = try ask("GET", "/v1/stats")
    round.busyShare = (try busy() - before) / round.seconds
    round.mainQueue = Self.number("p99", after: "main_queue", in: stats) * 1000
    round.longestWait = Self.number("longest", after: "main_queue", in: stats) * 1000
    round.savesMerged = Int(Self.number("saves_merged", after: "main", in: stats))
    round.mergeLag = Self.number("p99", after: "main", in: stats) * 1000
    round.peakMiB = try peak()
    return round
  }

  /// Seconds that the contexts of the main queue have worked.
  private func busy() throws -> Double { Self.number("main_queue_busy", in: try ask("GET", "/v1/stats")) }

  private static func number(_ name: String, in answer: String) -> Double {
    guard let value = answer.range(of: "\"\(name)\":")?.upperBound else { return 0 }
    return Double(answer[value...].prefix { "0123456789.eE+-".contains($0) }) ?? 0
  }

  /// A number in a section of an answer; 0 where there is none.
  private static func number(_ name: String, after section: String, in answer: String) -> Double {
    guard let place = answer.range(of: "\"\(section)\":{")?.upperBound,
      let value = answer[place...].range(of: "\"\(name)\":")?.upperBound
    else { return 0 }
    return Double(answer[value...].prefix { "0123456789.eE+-".contains($0) }) ?? 0
  }

  /// The most memory that it had, in MiB.
  private func peak() throws -> Double {
    let status = try String(contentsOfFile: "/proc/\(process.processIdentifier)/status", encoding: .utf8)
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
    return (line?.split(separator: " ").compactMap { Double($0) }.first ?? 0) / 1024
  }

  private func ask(_ method: String, _ uri: String, _ body: String? = nil) throws -> String {
    let descriptor = try connected(method, uri, body)
    defer { close(descriptor) }
    var answer: [UInt8] = []
    var bytes = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = recv(descriptor, &bytes, bytes.count, 0)
      if count <= 0 { return String(decoding: answer, as: UTF8.self) }
      answer += bytes[..<count]
    }
  }

  private func connected(_ method: String, _ uri: String, _ body: String?) throws -> Int32 {
    let request = Array(
      ("\(method) \(uri) HTTP/1.1\r\nHost: laded\r\nConnection: close\r\nContent-Length: \(body?.utf8.count ?? 0)\r\n\r\n"
        + (body ?? "")).utf8)
    let descriptor = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: socket.utf8.prefix($0.count - 1)) }
    let status = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    guard status == 0, send(descriptor, request, request.count, Int32(MSG_NOSIGNAL)) == request.count else {
      let code = errno
      close(descriptor)
      throw POSIXError(.init(rawValue: code) ?? .EIO)
    }
    return descriptor
  }
}

/// An answer that isn't what was asked for.
struct NoAnswer: Error, CustomStringConvertible {
  let uri: String
  let answer: String

  var description: String { "\(uri) was answered by \(answer.prefix(500))" }
}
