import ControlAPI
import Foundation

/// The manual page of a verb, generated from the verb's own help, so that they can't diverge.
struct ManualPage: Sendable {
  let verb: VerbDescription
  /// The program with all its verbs.
  let program: VerbDescription

  /// All pages: the program's and each verb's.
  static func all() throws -> [ManualPage] {
    let program = try VerbDescription.all()
    return program.family.map { ManualPage(verb: $0, program: program) }
  }

  /// `ladectl-store-check`.
  var name: String { verb.words.joined(separator: "-") }

  /// The file name in section 1 of the manual.
  var fileName: String { name + ".1" }

  /// The page in roff.
  /// - Parameter date: when it was written.
  func source(date: Date) -> String {
    """
    .\\" Written by 'ladectl manual'.
    .TH "\(name.uppercased())" 1 "\(date.formatted(.iso8601.year().month().day()))" "lade \(LadeVersion.current)" "Lade"
    .SH NAME
    \(Roff.text(name)) \\- \(Roff.text(abstract))
    .SH SYNOPSIS
    \(synopsis)
    \(description)\(verbs)\(arguments)\(examples)\(exitStatus)\(environment).SH SEE ALSO
    \(seeAlso)

    """
  }

  private var abstract: String {
    let text = verb.abstract ?? ""
    return text.hasSuffix(".") ? String(text.dropLast()) : text
  }

  private var synopsis: String {
    var words = [Roff.bold(verb.words.joined(separator: " "))]
    if !verb.verbs.isEmpty { words.append(Roff.italic("verb")) }
    for argument in verb.shownArguments {
      let dots = argument.isRepeating ? " .\\|.\\|." : ""
      let term = (argument.isPositional ? Roff.italic(argument.valueName ?? "") : Self.term(argument)) + dots
      words.append(argument.isOptional ? "[\(term)]" : term)
    }
    return words.joined(separator: "\n")
  }

  /// The longest name with the value's placeholder.
  private static func term(_ argument: VerbDescription.Argument) -> String {
    let names = argument.names ?? []
    let name = Roff.bold((names.first { $0.kind == "long" } ?? names.first)?.text ?? "")
    return argument.value.map { name + " " + Roff.italic($0) } ?? name
  }

  private var description: String {
    let words = [verb.abstract, Self.withoutExitStatus(verb.discussion)].compactMap(\.self).joined(separator: "\n\n")
    return ".SH DESCRIPTION\n" + Roff.paragraphs(words)
  }

  /// The program's help ends with text that has its own section in the pages.
  private static func withoutExitStatus(_ discussion: String?) -> String? {
    discussion.map { $0.split(separator: "\n\nExit status:", maxSplits: 1).first.map(String.init) ?? "" }
  }

  private var verbs: String {
    guard !verb.verbs.isEmpty else { return "" }
    return verb.verbs.reduce(into: ".SH VERBS\n") { text, verb in
      text += ".TP\n\(Roff.bold(verb.commandName))\n\(Roff.text(verb.abstract ?? ""))\n"
    }
  }

  private var arguments: String {
    guard !verb.shownArguments.isEmpty else { return "" }
    return verb.shownArguments.reduce(into: ".SH OPTIONS\n") { text, argument in
      let names =
        argument.isPositional
        ? Roff.italic(argument.valueName ?? "")
        : (argument.names ?? []).map { Roff.bold($0.text) }.joined(separator: ", ")
          + (argument.value.map { " " + Roff.italic($0) } ?? "")
      var words = argument.abstract ?? ""
      if let values = argument.allValues, !values.isEmpty, argument.kind != "flag" {
        words += " One of " + values.joined(separator: ", ") + "."
      }
      if let standard = argument.defaultValue { words += " Without it: \(standard)." }
      text += ".TP\n\(names)\n\(Roff.text(words.isEmpty ? "(see above)" : words))\n"
    }
  }

  /// What a newcomer does first. The pages of the verbs have their own examples in their descriptions.
  static let examples: [(purpose: String, command: String)] = [
    ("Draft a model from a file", "ladectl model infer people.csv --output People.xcdatamodel"),
    ("Try a recipe without writing anything", "ladectl recipe test people.csv --recipe people"),
    ("Import a file and wait for the result", "ladectl import people.csv --recipe people --wait"),
    ("See why records were rejected", "ladectl rejects 12"),
    ("See everything about a job", "ladectl show 12"),
    ("Query objects", "ladectl fetch Person --where 'age > 30' --sort -age --limit 10"),
    ("Export objects", "ladectl export Person --where 'age > 30' --format csv --wait"),
    ("Cancel the unfinished jobs of a recipe", "ladectl cancel --all --recipe people --yes"),
    ("Back up a store", "ladectl store backup main --wait"),
    ("Check a changed configuration and apply it", "ladectl config check && ladectl reload"),
  ]

  private var examples: String {
    guard verb.words.count == 1 else { return "" }
    return Self.examples.reduce(into: ".SH EXAMPLES\n") { text, example in
      text += ".PP\n\(Roff.text(example.purpose)):\n.PP\n.nf\n    \(Roff.text(example.command))\n.fi\n"
    }
  }

  private var exitStatus: String {
    let list = ExitStatus.allCases.reduce(into: "") { text, status in
      text += ".TP\n\(Roff.bold("\(status.rawValue)"))\n\(Roff.text(status.meaning))\n"
    }
    return ".SH EXIT STATUS\n" + list
      + ".PP\nA program that a signal ends has its number and 128 in the shell, as always.\n"
  }

  private var environment: String {
    """
    .SH ENVIRONMENT
    .TP
    \(Roff.bold("LADE_SOCKET"))
    The daemon's control socket; without it, /run/lade/control.sock.
    .TP
    \(Roff.bold("LADE_COMPLETION_PATIENCE"))
    Seconds that the completion of a word in a shell may wait for the daemon; 0.5 without it.
    .TP
    \(Roff.bold("NO_COLOR"))
    No colours, if it isn't empty.
    .TP
    \(Roff.bold("TERM"))
    With 'dumb', neither colours nor anything that is drawn over.

    """
  }

  private var seeAlso: String {
    var others = verb.verbs.map { (verb.words + [$0.commandName]).joined(separator: "-") }
    if verb.words.count > 1 { others.insert(verb.words.dropLast().joined(separator: "-"), at: 0) }
    return others.map { Roff.bold($0) + "(1)" }.joined(separator: ",\n")
      + (others.isEmpty ? Roff.bold("laded") + "(8)" : "")
  }
}

/// Text in roff with the man(7) macros.
enum Roff {
  /// Literal text on lines of its own, with roff requests escaped.
  static func text(_ text: String) -> String {
    let escaped = text.replacing("\\", with: "\\e").replacing("-", with: "\\-")
    return escaped.hasPrefix(".") || escaped.hasPrefix("'") ? "\\&" + escaped : escaped
  }

  static func bold(_ text: String) -> String { "\\fB\(Self.text(text))\\fR" }
  static func italic(_ text: String) -> String { "\\fI\(Self.text(text))\\fR" }

  /// Paragraphs separated by blank lines; indented lines are preformatted, for tables and examples.
  static func paragraphs(_ words: String) -> String {
    var result = ""
    var isVerbatim = false
    func verbatim(_ begins: Bool) {
      guard begins != isVerbatim else { return }
      result += begins ? ".PP\n.nf\n" : ".fi\n.PP\n"
      isVerbatim = begins
    }
    for line in words.split(separator: "\n", omittingEmptySubsequences: false) {
      if line.hasPrefix("  ") {
        verbatim(true)
        result += "    " + text(String(line.drop { $0 == " " })) + "\n"
      } else if line.isEmpty {
        if isVerbatim { verbatim(false) } else { result += ".PP\n" }
      } else {
        verbatim(false)
        result += text(String(line)) + "\n"
      }
    }
    verbatim(false)
    while result.hasSuffix(".PP\n") { result.removeLast(4) }
    return result.replacing(".PP\n.PP\n", with: ".PP\n")
  }
}
