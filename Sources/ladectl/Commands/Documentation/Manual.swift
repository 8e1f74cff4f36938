import ArgumentParser
import Foundation

extension Ladectl {
  /// `ladectl manual`: the manual pages.
  struct Manual: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Print the manual pages for man(1).",
      discussion: """
        Prints the page of one verb, or writes the pages of all verbs into a folder with --output:

          ladectl manual store check | man -l -
          ladectl manual --output /usr/local/share/man/man1

        The pages have the date of SOURCE_DATE_EPOCH if that is set, so that a build can be repeated; otherwise today's.
        """)

    @Argument(help: "The verb; the program itself if omitted.")
    var verb: [String] = []

    @Option(help: ArgumentHelp("Write all pages into this folder.", valueName: "folder"), completion: .directory)
    var output: String?

    func validate() throws {
      guard output == nil || verb.isEmpty else {
        throw ValidationError("With --output all pages are written; leave the verb out.")
      }
    }

    func run() throws {
      let pages = try ManualPage.all()
      let seconds = ProcessInfo.processInfo.environment["SOURCE_DATE_EPOCH"].flatMap(Double.init)
      let date = seconds.map { Date(timeIntervalSince1970: $0) } ?? Date()
      guard let output else {
        guard let page = pages.first(where: { $0.verb.words.dropFirst().elementsEqual(verb) }) else {
          throw LocalFailure.noSuchPage(verb: verb.joined(separator: " "))
        }
        return Terminal().write(page.source(date: date))
      }
      do {
        for page in pages {
          let file = URL(fileURLWithPath: output, isDirectory: true).appendingPathComponent(page.fileName)
          try Data(page.source(date: date).utf8).write(to: file)
        }
      } catch {
        throw LocalFailure.cantWrite(path: output, reason: error.localizedDescription)
      }
    }
  }
}
