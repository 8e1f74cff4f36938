import Foundation

/// What is done to a store, so that calls of SQLite can fail in the course of it.
protocol Work: Sendable {
  var name: String { get }
  /// Makes the files that it begins with, in an empty folder.
  func prepare(_ folder: URL) throws
  /// Opens what it works on.
  func begin(_ folder: URL) throws -> any WorkSession
  /// What it leaves, as lines: the same after any number of failures as after one run without.
  func contents(_ folder: URL) throws -> [String]
}

/// The stores that a work has open.
protocol WorkSession {
  /// Does the work, or what an earlier try has left of it.
  /// - Returns: what is reported of it, the same however often it was tried.
  func work() throws -> String
  func close() throws
}

/// All works, in the order in which they run.
enum Works {
  static let all: [any Work] =
    ImportWork.all + [FeedWork(), QueueWork()] + UpkeepWork.all + MigrationWork.all
}
