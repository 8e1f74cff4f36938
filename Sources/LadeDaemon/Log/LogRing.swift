import ControlAPI
import Foundation
import Logging
import Synchronization

/// The last lines of the log in memory, and their listeners. The number of lines and their lengths are bounded.
final class LogRing: Sendable {
  /// The number of lines that are kept.
  static let capacity = LogQuery.maximumLimit
  /// The most that is kept of a message, and of one value beside it, in characters.
  static let longestText = 2000

  private struct State {
    var lines: [LogLine] = []
    /// Where the oldest is.
    var start = 0
    var number: Int64 = 0
    var listeners: [Int: AsyncStream<LogLine>.Continuation] = [:]
    var nextListener = 0
  }

  private let state = Mutex(State())

  func add(_ level: LogLevel, _ message: String, _ metadata: [String: String], at time: Date = Date()) {
    var metadata = metadata.mapValues { String($0.prefix(Self.longestText)) }
    let job = metadata["job"].flatMap { Int64($0) }
    if job != nil { metadata["job"] = nil }
    let text = String(message.prefix(Self.longestText))
    state.withLock { [metadata] state in
      state.number += 1
      let line = LogLine(number: state.number, at: time, level: level, message: text, job: job, metadata: metadata)
      if state.lines.count < Self.capacity {
        state.lines.append(line)
      } else {
        state.lines[state.start] = line
        state.start = (state.start + 1) % Self.capacity
      }
      // Under the lock, so that each listener gets the lines in order. A continuation only buffers them.
      for listener in state.listeners.values { listener.yield(line) }
    }
  }

  /// The last lines that match, oldest first.
  func lines(_ query: LogQuery) -> [LogLine] {
    state.withLock { state in
      var found: [LogLine] = []
      for offset in state.lines.indices.reversed() where found.count < query.limit {
        let line = state.lines[(state.start + offset) % state.lines.count]
        if line.number <= query.after ?? 0 { break }
        if query.matches(line) { found.append(line) }
      }
      return found.reversed()
    }
  }

  /// The lines from now on.
  func stream() -> AsyncStream<LogLine> {
    let (stream, continuation) = AsyncStream<LogLine>.makeStream()
    let number = state.withLock { state in
      state.nextListener += 1
      state.listeners[state.nextListener] = continuation
      return state.nextListener
    }
    continuation.onTermination = { [weak self] _ in
      self?.state.withLock { _ = $0.listeners.removeValue(forKey: number) }
    }
    return stream
  }

  var listeners: Int { state.withLock { $0.listeners.count } }
}

/// Puts lines into a ring, beside the handler that writes them.
struct RingLogHandler: LogHandler {
  let ring: LogRing
  var metadata: Logger.Metadata = [:]
  var logLevel = Logger.Level.trace

  init(_ ring: LogRing) { self.ring = ring }

  subscript(metadataKey key: String) -> Logger.MetadataValue? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: Logging.LogEvent) {
    var values = metadata
    if let more = event.metadata { values.merge(more) { $1 } }
    ring.add(LogLevel(event.level), event.message.description, values.mapValues(\.description))
  }
}

extension LogLevel {
  init(_ level: Logger.Level) {
    switch level {
    case .trace: self = .trace
    case .debug: self = .debug
    case .info: self = .info
    case .notice: self = .notice
    case .warning: self = .warning
    case .error: self = .error
    case .critical: self = .critical
    }
  }
}
