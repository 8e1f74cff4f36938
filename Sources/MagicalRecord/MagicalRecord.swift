import Foundation
import Synchronization

/// MagicalRecord's conveniences: one stack for a program, and finders, saves and imports that know it.
///
/// ```swift
/// MagicalRecord.setUp(try MagicalStack(model: model, store: .sqlite(at: url)))
/// try await MagicalRecord.save { context in
///   let person = try Person.createEntity(in: context)
///   person.name = "Ada"
/// }
/// ```
///
/// Source: MagicalRecord. A context may be given wherever one is meant by default, and nothing else needs the stack.
public enum MagicalRecord {
  private struct State: Sendable {
    var stack: MagicalStack?
    var loggingLevel = LoggingLevel.error
    var errorHandler: (@Sendable (any Error) -> Void)?
    var logHandler: @Sendable (LoggingLevel, String) -> Void = { level, message in
      FileHandle.standardError.write(Data("\(level): \(message)\n".utf8))
    }
  }

  private static let state = Mutex(State())

  /// How much is said of what the conveniences do. Each level says what those before it say, too.
  public enum LoggingLevel: Int, Sendable, Comparable, CaseIterable {
    /// Nothing.
    case off
    /// Saves that failed, and whatever else an error handler is told.
    case error
    /// What is unusual, such as a save without changes.
    case warn
    /// Stacks that are set up and cleaned up.
    case info
    /// Every save and every context.
    case verbose

    /// By how much is said.
    public static func < (a: LoggingLevel, b: LoggingLevel) -> Bool { a.rawValue < b.rawValue }
  }

  /// The stack that is meant where no context is given; nil before ``setUp(_:)``.
  public static var stack: MagicalStack? { state.withLock { $0.stack } }

  /// Makes a stack the program's. Safe from any thread.
  public static func setUp(_ stack: MagicalStack) {
    state.withLock { $0.stack = stack }
    log(.info, "a stack was set up: \(stack)")
  }

  /// Lets go of the program's stack, and of the calling thread's context.
  public static func cleanUp() {
    resetContextForCurrentThread()
    state.withLock { $0.stack = nil }
    log(.info, "the stack was cleaned up")
  }

  /// How much is said. At the beginning ``LoggingLevel/error``.
  public static var loggingLevel: LoggingLevel {
    get { state.withLock { $0.loggingLevel } }
    set { state.withLock { $0.loggingLevel = newValue } }
  }

  /// Says where what is logged goes: to standard error at the beginning. Called on any thread.
  public static func setLogHandler(_ handler: @escaping @Sendable (LoggingLevel, String) -> Void) {
    state.withLock { $0.logHandler = handler }
  }

  /// Says who hears of the errors of saves, beside their callers. Called on the queue of the context that failed.
  public static func setErrorHandler(_ handler: (@Sendable (any Error) -> Void)?) {
    state.withLock { $0.errorHandler = handler }
  }

  /// Says something, if the level is to be said.
  package static func log(_ level: LoggingLevel, _ message: @autoclosure () -> String) {
    let handler = state.withLock { $0.loggingLevel >= level ? $0.logHandler : nil }
    handler?(level, message())
  }

  /// Tells an error to whoever wants to hear of it.
  static func handle(_ error: any Error, _ what: String, isLogged: Bool = true) {
    if isLogged { log(.error, "\(what): \(error)") }
    state.withLock { $0.errorHandler }?(error)
  }

  static func currentStack() throws -> MagicalStack {
    guard let stack else { throw MagicalRecordError.noStack }
    return stack
  }
}

/// Why a convenience couldn't be used.
public enum MagicalRecordError: Error, Sendable, Hashable, CustomStringConvertible {
  /// No context was given, and the program has no stack.
  case noStack
  /// A sort term is none: "name,age:NO".
  case sortTerm(String)

  /// What is missing, and what to do.
  public var description: String {
    switch self {
    case .noStack: return "there is no stack: call MagicalRecord.setUp(_:) first, or give a context"
    case .sortTerm(let term): return "\"\(term)\" isn't a sort term: write attributes as \"name,age:NO\""
    }
  }
}
