import ArgumentParser
import ControlAPI

/// A wrong command line in ladectl's words. ArgumentParser's errors are private to it, so their texts are read.
struct UsageMistake: Sendable {
  /// What is wrong, as a sentence.
  let detail: String
  let hint: String

  /// - Parameters:
  ///   - text: ArgumentParser's message.
  ///   - verb: the verb that was called.
  init(_ text: String, of verb: VerbDescription?) {
    detail = Self.sentence(text, verb)
    let words = verb?.words.joined(separator: " ") ?? "ladectl"
    hint =
      verb.map { $0.verbs.isEmpty ? "'\(words) --help' describes its options." : "'\(words) --help' lists the verbs." }
      ?? "'ladectl help VERB' describes a verb and its options."
  }

  private static func sentence(_ text: String, _ verb: VerbDescription?) -> String {
    if let match = text.wholeMatch(of: /Unknown option '(-[^']*)'.*/.dotMatchesNewlines()) {
      let option = String(match.output.1)
      let meant = nearest(to: option, in: verb).map { "; did you mean \($0)?" } ?? "."
      return "There is no option \(option)\(meant)"
    }
    if let match = text.wholeMatch(of: /Missing expected argument '(.*)'/) {
      return "\(match.output.1.replacing(" ...", with: "")) is missing."
    }
    if let match = text.wholeMatch(of: /Missing value for '(\S+)(?: (<.*>))?'/) {
      return "\(match.output.1) needs a value\(match.output.2.map { ": \(match.output.1) \($0)" } ?? "")."
    }
    if let match = text.wholeMatch(of: /(?:\d+ u|U)nexpected arguments?: ?(.*)|Unexpected argument (.*)/) {
      let those = match.output.1 ?? match.output.2 ?? ""
      return "\(those): more arguments than the verb takes."
    }
    if let match = text.wholeMatch(of: /The option '(\S+)' does not take any value, but '(.*)' was specified\./) {
      return "\(match.output.1) takes no value, and was given '\(match.output.2)'."
    }
    return invalid(text) ?? text
  }

  /// `The value 'x' is invalid for '--mode <mode>'…`
  private static func invalid(_ text: String) -> String? {
    let pattern = /The value '(.*)' is invalid for '(\S+)(?: <[^']*>)?'(.*)/.dotMatchesNewlines()
    guard let match = text.wholeMatch(of: pattern) else { return nil }
    let (_, value, name, rest) = match.output
    // Our own error, which says it all.
    if let own = rest.wholeMatch(of: /: (.*)/.dotMatchesNewlines()) { return String(own.output.1) }
    let listed = rest.matches(of: /'([^']*)'/).map { String($0.output.1) }
    let lines = rest.matches(of: /\n *- (\S+)/).map { String($0.output.1) }
    let known = listed + lines
    let text = "\(name) can't be '\(value)'"
    guard !known.isEmpty else { return text + "." }
    if let nearest = NearestName.of(String(value), among: known) { return text + "; did you mean \(nearest)?" }
    return text + "; it is one of \(known.joined(separator: ", "))."
  }

  private static func nearest(to option: String, in verb: VerbDescription?) -> String? {
    let known = (verb?.shownArguments ?? []).flatMap { $0.names ?? [] }.map(\.text)
    let name = String(option.prefix { $0 != "=" })
    // What was typed is more likely a beginning than a mistake.
    let begun = known.filter { $0.hasPrefix(name) }
    return begun.count == 1 ? begun[0] : NearestName.of(name, among: known)
  }
}

extension Problem {
  /// The members of requests whose options of ladectl have names of their own.
  private static let ownNames = [
    "held": "hold", "tags": "tag", "unique_period": "unique-for", "header": "no-header",
  ]

  /// The detail with the names of a verb's options instead of those of the request's members.
  func detail(namingOptionsOf verb: VerbDescription?) -> String {
    guard let verb, ["invalid_request", Self.unreachableSource].contains(code),
      let match = detail.prefixMatch(of: #/([a-z_]+)(?:\.([a-z_]+)(?:\.\S*)?)?: /#)
    else { return detail }
    let options = Set(verb.shownArguments.flatMap { $0.names ?? [] }.map(\.text))
    func option(_ member: Substring) -> String? {
      let name = Self.ownNames[String(member)] ?? String(member).replacing("_", with: "-")
      return options.contains("--" + name) ? "--" + name : nil
    }
    let reason = detail[match.range.upperBound...]
    let (member, inner) = (match.output.1, match.output.2)
    if member != "options" {
      if let option = option(member) { return "\(option): \(reason)" }
      return member == "priority" && options.contains("--to") ? "--to: \(reason)" : String(reason)
    }
    if let inner { return (option(inner) ?? "--option \(inner)") + ": \(reason)" }
    guard let first = reason.prefixMatch(of: /[a-z_]+/)?.output, let option = option(first) else {
      return String(reason)
    }
    return option + reason.dropFirst(first.count)
  }
}
