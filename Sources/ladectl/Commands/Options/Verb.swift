import ArgumentParser

/// What a verb writes with `--json`. The names are those of the schemas in the control interface's description
/// (openapi.json), where each is told of member by member.
enum JSONShape: Sendable, Hashable {
  /// One document.
  case document(String)
  /// Documents, each on a line of its own, as things happen.
  case lines(String)
  /// One or the other document, and when.
  case either(String, String, when: String)
  /// What a program that needs no daemon tells, in words.
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
  /// A verb's configuration, with what it writes as JSON said at the end of its description.
  static func verb(
    _ name: String, _ abstract: String, _ discussion: String = "", json: JSONShape, aliases: [String] = []
  ) -> CommandConfiguration {
    CommandConfiguration(
      commandName: name, abstract: abstract,
      discussion: (discussion.isEmpty ? "" : discussion + "\n\n") + json.sentence, aliases: aliases)
  }
}
