/// Why a model can't be used.
public enum ModelError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The file or folder can't be read.
  case unreadable(path: String, reason: String)
  /// The XML isn't well-formed, isn't a Core Data model, or says what a model can't be. Lists every mistake.
  case malformed([ModelMistake])
  /// The definitions are inconsistent. Lists every problem.
  case inconsistent([String])
  /// Two models define the same entity differently.
  case conflictingEntities([String])

  /// The number of problems that a message lists; ``inconsistent(_:)`` has all.
  private static let shown = 50

  /// A file with a mistake after which nothing more can be said about it.
  static func mistake(file: String, line: Int, reason: String) -> ModelError {
    .malformed([ModelMistake(file: file, line: line, reason: reason)])
  }

  /// Each problem as a message.
  public var description: String {
    switch self {
    case .unreadable(let path, let reason): return "can't read the model \(path): \(reason)"
    case .malformed(let mistakes): return mistakes.map(\.description).joined(separator: "\n")
    case .inconsistent(let problems):
      return "the model doesn't fit together: " + problems.prefix(Self.shown).joined(separator: "; ")
        + (problems.count > Self.shown ? "; and \(problems.count - Self.shown) more such problems" : "")
    case .conflictingEntities(let names):
      return "both models define \(names.joined(separator: ", ")): rename one of each"
    }
  }
}

/// One mistake in a model file, with its location.
public struct ModelMistake: Error, Sendable, Hashable, CustomStringConvertible {
  /// The file's path, as passed in.
  public let file: String
  /// The line in that file, from 1; nil for a mistake that no single line makes.
  public let line: Int?
  /// What is wrong.
  public let reason: String

  /// A mistake at one location in a model file.
  public init(file: String, line: Int?, reason: String) {
    self.file = file
    self.line = line
    self.reason = reason
  }

  /// The mistake as text, with its location.
  public var description: String { file + (line.map { ":\($0)" } ?? "") + ": " + reason }
}

/// A part of a model file that this library doesn't know and ignores, with its location.
public struct ModelWarning: Sendable, Hashable, CustomStringConvertible {
  /// The file's path, as passed in.
  public let file: String
  /// The line in that file, from 1; nil for a compiled model, which has no lines.
  public let line: Int?
  /// The message.
  public let message: String

  /// A warning about one location in a model file.
  public init(file: String, line: Int?, message: String) {
    self.file = file
    self.line = line
    self.message = message
  }

  /// The warning as text, with its location.
  public var description: String { file + (line.map { ":\($0)" } ?? "") + ": " + message }
}
