/// Why a model can't be used.
public enum ModelError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The file or folder can't be read.
  case unreadable(path: String, reason: String)
  /// The XML isn't well-formed, or isn't a Core Data model.
  case malformed(file: String, line: Int, reason: String)
  /// The definitions don't fit together; every problem that was found.
  case inconsistent([String])
  /// Two models define the same entity differently.
  case conflictingEntities([String])

  /// What is wrong, each problem on its own.
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
