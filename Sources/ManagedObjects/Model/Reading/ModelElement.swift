/// One element of a model file, with the line on which its tag ends.
final class ModelElement {
  let name: String
  let attributes: [String: String]
  let line: Int
  var children: [ModelElement] = []
  /// The line of the first text inside it that isn't white space. A model has no text.
  var strayTextLine: Int?

  init(name: String, attributes: [String: String], line: Int) {
    self.name = name
    self.attributes = attributes
    self.line = line
  }
}
