import Foundation

/// How much of a store's SQL is logged. The numbers are those of Core Data's `-com.apple.CoreData.SQLDebug`.
public enum SQLLogLevel: Int, Sendable, Hashable, CaseIterable {
  /// Nothing.
  case off = 0
  /// Each statement with its rows and time, and migrations with theirs. Arguments are shown as `?`; constants that a
  /// statement contains itself are shown.
  case statements = 1
  /// The same, with the arguments.
  case arguments = 3
  /// The same, with the database's plan of each query.
  case plans = 4

  /// The level of a number: that of the greatest level up to it.
  init(number: Int) { self = Self.allCases.last { $0.rawValue <= number } ?? .off }

  /// The level that the process was started with: by the environment variable `LADE_SQL_DEBUG`, or else by Core Data's
  /// argument, `-com.apple.CoreData.SQLDebug 1`; ``off`` without either.
  public static let ofProcess: SQLLogLevel = {
    let arguments = CommandLine.arguments
    let argument = arguments.firstIndex(of: "-com.apple.CoreData.SQLDebug").flatMap {
      arguments.dropFirst($0 + 1).first
    }
    let text = ProcessInfo.processInfo.environment["LADE_SQL_DEBUG"] ?? argument
    return SQLLogLevel(number: text.flatMap { Int($0) } ?? 0)
  }()
}
