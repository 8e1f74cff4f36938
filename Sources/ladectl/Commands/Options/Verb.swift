import ArgumentParser

/// The output of a verb with `--json`. The names are those of the schemas in the description of the control interface
/// (openapi.yaml), which documents each member.
enum JSONShape: Sendable, Hashable {
  /// One JSON document.
  case document(String)
  /// A stream of documents, one per line.
  case lines(String)
  /// One of two documents, and when.
  case either(String, String, when: String)
  /// The output of a verb that needs no daemon, described in words.
  case local(String)

  /// The sentence for help and manual pages.
  var sentence: String {
    switch self {
    case .document(let name): "With --json: one document, \(name)."
    case .lines(let name): "With --json: a document a line, each \(name)."
    case .either(let one, let other, let when): "With --json: one document, \(one); \(when), \(other)."
    case .local(let words): "With --json: one document: \(words)."
    }
  }
}

extension Ladectl {
  /// A verb's configuration; its description ends with its JSON output.
  static func verb(
    _ name: String, _ abstract: String, _ discussion: String = "", json: JSONShape, aliases: [String] = []
  ) -> CommandConfiguration {
    CommandConfiguration(
      commandName: name, abstract: abstract,
      discussion: (discussion.isEmpty ? "" : discussion + "\n\n") + json.sentence, aliases: aliases)
  }
}
