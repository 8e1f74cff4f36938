import ArgumentParser
import ManagedObjects

/// An unknown verb with the probable correction. ArgumentParser only says that the argument is unexpected.
struct MisspeltVerb: Sendable, Hashable {
  let word: String
  /// The valid verbs before it: `ladectl store`.
  let parent: String
  let nearest: String?

  /// Searches a command line; nil if all verbs are known.
  init?(in words: [String]) throws {
    var verb = try VerbDescription.all()
    for word in words {
      // After an option it may be the option's value; a verb without subcommands takes any arguments.
      guard !word.hasPrefix("-"), !verb.verbs.isEmpty, word != "help" else { return nil }
      if let next = verb.verbs.first(where: { $0.commandName == word || $0.aliases?.contains(word) == true }) {
        verb = next
        continue
      }
      self.word = word
      parent = verb.words.joined(separator: " ")
      nearest = NearestName.of(word, among: verb.verbs.map(\.commandName))
      return
    }
    return nil
  }
}
