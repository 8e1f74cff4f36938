import ArgumentParser
import ManagedObjects

/// A word where a verb should be, and the verb that was probably meant: ArgumentParser only says that it didn't expect it.
struct MisspeltVerb: Sendable, Hashable {
  let word: String
  /// The words before it, which are verbs: `ladectl store`.
  let parent: String
  let nearest: String?

  /// Looks for one among a command line's words; nil where every verb is one.
  init?(in words: [String]) throws {
    var verb = try VerbDescription.all()
    for word in words {
      // After an option it may be its value; a verb that has none under it takes what it likes.
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
