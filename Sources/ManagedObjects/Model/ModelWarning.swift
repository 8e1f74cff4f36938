/// A part of a model file that this library doesn't know and ignores, with its location.
public struct ModelWarning: Sendable, Hashable, CustomStringConvertible {
  /// The file's path, as passed in.
  public let file: String
  /// The line in that file, from 1.
  public let line: Int
  /// The message.
  public let message: String

  /// A warning about one location in a model file.
  public init(file: String, line: Int, message: String) {
    self.file = file
    self.line = line
    self.message = message
  }

  /// The warning as text, with its location.
  public var description: String { "\(file):\(line): \(message)" }
}
