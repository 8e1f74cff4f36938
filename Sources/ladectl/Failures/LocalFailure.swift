import ArgumentParser
import ControlAPI
import ManagedObjects

/// A failure on the client's side of the socket.
enum LocalFailure: Error, Sendable, Hashable {
  /// A model couldn't be read; the reason is the object layer's.
  case cantReadModel(path: String, reason: String)
  /// The template of a Core Data store couldn't be read; the reason is the reader's.
  case cantReadTemplate(path: String, reason: String)
  /// A model has mistakes, one a line.
  case wrongModel(mistakes: String)
  /// A model couldn't be inferred from files, or not be written; the reason is the importer's.
  case cantInferModel(reason: String)
  /// A companion program is missing.
  case noSuchProgram(name: String)
  /// No store was named and there are several.
  case severalStores([String])
  /// A description of jobs couldn't be read; the reason is the system's or the decoder's.
  case cantReadDescription(path: String, reason: String)
  /// There is no such verb.
  case noSuchVerb(MisspeltVerb)
  /// The configuration has no such recipe.
  case noSuchRecipe(String, known: [String])
  /// There is no file that an import could read.
  case noSuchFile(path: String)
  /// The write-ahead log beside a database can't be read; the reason is the reader's.
  case cantReadLog(path: String, reason: String)
  /// There is no manual page for such a verb.
  case noSuchPage(verb: String)
  /// A file couldn't be written; the reason is the system's.
  case cantWrite(path: String, reason: String)
  /// A model couldn't be written; the reason, with the path and what to do, is the importer's.
  case cantWriteModel(reason: String)
  /// Standard output couldn't be written; the reason is the system's.
  case cantWriteOutput(reason: String)

  /// A job has more open rejects than can be edited at once.
  case tooMuchToEdit(job: Int64)
  /// The editor ended with a failure, or couldn't be started.
  case editorFailed(editor: String)

  /// A confirmation is needed, and there is no terminal to ask on.
  case noTerminal(question: String)

  /// The failure to read a model.
  init(_ error: ModelError) {
    guard case .unreadable(let path, let reason) = error else {
      self = .wrongModel(mistakes: "\(error)")
      return
    }
    self = .cantReadModel(path: path, reason: reason)
  }

  /// The exit status that scripts get.
  var exitStatus: ExitStatus {
    switch self {
    case .noTerminal, .severalStores, .noSuchPage, .noSuchVerb: .usage
    case .cantReadModel, .cantReadTemplate, .wrongModel, .cantInferModel, .noSuchProgram, .cantWrite, .cantWriteModel,
      .cantWriteOutput,
      .tooMuchToEdit, .editorFailed, .cantReadDescription, .noSuchFile, .cantReadLog, .noSuchRecipe:
      .failed
    }
  }

  /// The failure as a problem; its status is 0, since no daemon was involved.
  var problem: Problem {
    switch self {
    case .cantReadModel(let path, let reason):
      Problem(
        status: 0, code: "cant_read_model", title: "The model can't be read", detail: "\(path): \(reason)",
        hint: "It reads .xcdatamodeld and .xcdatamodel directories, compiled models, and Core Data stores.")
    case .cantReadTemplate(let path, let reason):
      Problem(
        status: 0, code: "cant_read_template", title: "The template can't be read", detail: "\(path): \(reason)",
        hint: "A template is a store that the app wrote, or the .momd from the app's bundle with its VersionInfo.plist."
      )
    case .wrongModel(let mistakes):
      Problem(
        status: 0, code: "cant_read_model", title: "The model has mistakes", detail: mistakes,
        hint: "'man lade-model' describes model files.")
    case .cantInferModel(let reason):
      Problem(status: 0, code: "cant_infer_model", title: "No model was inferred", detail: reason, hint: nil)
    case .noSuchProgram(let name):
      Problem(
        status: 0, code: "no_such_program", title: "A program is missing",
        detail: "\(name) is missing or can't be started.",
        hint: "It is installed with ladectl, in the same folder or in $PATH.")
    case .severalStores(let names):
      Problem(
        status: 0, code: "several_stores", title: "Which store?", detail: "There are several stores.",
        hint: "Name one of \(names.joined(separator: ", ")).")
    case .noTerminal(let question):
      Problem(
        status: 0, code: "nobody_to_ask", title: "No terminal", detail: question,
        hint: "The question can't be asked without a terminal: answer it with --yes.")
    case .cantReadDescription(let path, let reason):
      Problem(
        status: 0, code: "cant_read_description", title: "The description can't be read", detail: "\(path): \(reason)",
        hint: "It is a BatchSubmission of the control interface, as JSON.")
    case .noSuchRecipe(let name, let known):
      Problem(
        status: 0, code: "no_such_recipe", title: "No such recipe", detail: "There is no recipe '\(name)'.",
        hint: NearestName.of(name, among: known).map { "Did you mean \($0)?" } ?? "'ladectl recipe' lists the recipes.")
    case .noSuchFile(let path):
      Problem(
        status: 0, code: "no_such_file", title: "No such file", detail: "There is no file \(path).",
        hint: nil)
    case .cantReadLog(let path, let reason):
      Problem(
        status: 0, code: "cant_read_log", title: "The database can't be read with its log",
        detail: "\(path): \(reason)",
        hint: "Close the program that has it open, or run: sqlite3 FILE 'PRAGMA wal_checkpoint(TRUNCATE)'")
    case .noSuchVerb(let verb):
      Problem(
        status: 0, code: "no_such_verb", title: "No such verb",
        detail: "'\(verb.parent)' has no verb '\(verb.word)'" + (verb.nearest.map { "; did you mean '\($0)'?" } ?? "."),
        hint: "'\(verb.parent) --help' lists the verbs.")
    case .noSuchPage(let verb):
      Problem(
        status: 0, code: "no_such_verb", title: "No such verb", detail: "There is no verb '\(verb)'.",
        hint: "'ladectl help' lists them.")
    case .cantWriteModel(let reason):
      Problem(status: 0, code: "cant_write", title: "The model can't be written", detail: reason, hint: nil)
    case .tooMuchToEdit(let job):
      Problem(
        status: 0, code: "too_much_to_edit", title: "Too much to edit",
        detail: "Job \(job) has more open rejects than can be edited at once.",
        hint:
          "Correct the recipe and run 'ladectl rejects retry \(job)', or import a corrected copy of the reject file.")
    case .editorFailed(let editor):
      Problem(
        status: 0, code: "editor_failed", title: "The editor failed",
        detail: "'\(editor)' couldn't be started, or ended with a failure. Nothing was submitted.",
        hint: "$VISUAL or $EDITOR names the editor.")
    case .cantWriteOutput(let reason):
      Problem(
        status: 0, code: "cant_write", title: "It can't be written",
        detail: "The output couldn't be written: \(reason).",
        hint: nil)
    case .cantWrite(let path, let reason):
      Problem(
        status: 0, code: "cant_write", title: "It can't be written", detail: "\(path): \(reason)",
        hint: "Check that the folder exists and that you can write in it.")
    }
  }
}

/// An unknown verb with the probable correction. ArgumentParser only says that the argument is unexpected.
struct MisspeltVerb: Sendable, Hashable {
  let word: String
  /// The valid verbs before it: `ladectl store`.
  let parent: String
  let nearest: String?

  /// What other tools call our verbs.
  private static let elsewhere = [
    "jobs": "list", "queue": "list", "ls": "list", "job": "show", "info": "show", "add": "submit", "load": "import",
    "kill": "cancel", "stop": "cancel", "delete": "remove", "rm": "remove", "logs": "log", "follow": "watch",
    "query": "fetch", "select": "fetch", "restart": "retry", "top": "watch",
  ]

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
      let others = verb.family.filter { $0.commandName == word }
      nearest =
        others.count == 1
        ? others[0].words.dropFirst(verb.words.count).joined(separator: " ")
        : (verb.words.count == 1 ? Self.elsewhere[word] : nil)
          ?? NearestName.of(word, among: verb.verbs.map(\.commandName))
      return
    }
    return nil
  }
}
