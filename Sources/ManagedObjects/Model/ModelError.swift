/// Why a model can't be used.
public enum ModelError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The file or folder can't be read.
  case unreadable(path: String, reason: String)
  /// The XML isn't well-formed, or isn't a Core Data model.
  case malformed(file: String, line: Int, reason: String)
  /// The definitions are inconsistent. Lists every problem.
  case inconsistent([String])
  /// Two models define the same entity differently.
  case conflictingEntities([String])

  /// Each problem as a message.
  public var description: String {
    switch self {
    case .unreadable(let path, let reason): return "can't read the model \(path): \(reason)"
    case .malformed(let file, let line, let reason): return "\(file):\(line): \(reason)"
    case .inconsistent(let problems): return "the model doesn't fit together: " + problems.joined(separator: "; ")
    case .conflictingEntities(let names):
      return "both models define \(names.joined(separator: ", ")): rename one of each"
    }
  }
}
