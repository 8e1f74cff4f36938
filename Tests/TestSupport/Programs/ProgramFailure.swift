/// A program that didn't do what a test needs it for.
package struct ProgramFailure: Error, CustomStringConvertible {
  package let program: String
  package let arguments: [String]
  package let what: String
  package let error: String

  package init(program: String, arguments: [String], what: String, error: String) {
    self.program = program
    self.arguments = arguments
    self.what = what
    self.error = error
  }

  package var description: String { "\(program) \(arguments.joined(separator: " ")): \(what)\n\(error)" }
}
