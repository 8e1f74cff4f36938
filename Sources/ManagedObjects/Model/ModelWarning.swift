/// Something in a model file that this library doesn't know and has set aside, with where it stands.
public struct ModelWarning: Sendable, Hashable, CustomStringConvertible {
  /// The file's path, as it was given.
  public let file: String
  /// The line in that file, from 1.
  public let line: Int
  /// What it is, for a person.
  public let message: String

  /// A warning about one place of a model file.
  public init(file: String, line: Int, message: String) {
    self.file = file
    self.line = line
    self.message = message
  }

  /// The warning in words, with its place.
  public var description: String { "\(file):\(line): \(message)" }
}
