import Foundation
import TestSupport
import Testing

@testable import ControlServer
@testable import ladectl

@Suite("Manual pages and help")
struct ManualTests {
  @Test("every verb has a page with its words, its arguments and every exit status")
  func pages() throws {
    let pages = try ManualPage.all()
    let names = Set(pages.map(\.name))
    for verb in ["", "-submit", "-import", "-watch", "-store-check", "-lane-concurrency", "-recipe-test", "-manual"] {
      #expect(names.contains("ladectl" + verb))
    }
    for page in pages {
      let source = page.source(date: Date(timeIntervalSince1970: 0))
      #expect(source.contains(" 1 \"1970-01-01\" \"lade"), "\(page.name)")
      #expect(source.contains("\n" + Roff.text(page.verb.abstract ?? "?")), "\(page.name)")
      for argument in page.verb.shownArguments {
        for name in argument.names ?? [] { #expect(source.contains(Roff.bold(name.text)), "\(page.name) \(name.text)") }
      }
      for status in ladectl.ExitStatus.allCases { #expect(source.contains(Roff.text(status.meaning)), "\(page.name)") }
    }
  }

  @Test("the program's page has examples that can be run")
  func examples() throws {
    let page = try #require(try ManualPage.all().first { $0.name == "ladectl" }).source(date: Date())
    #expect(page.contains(".SH EXAMPLES"))
    for (_, line) in ManualPage.examples {
      #expect(page.contains(Roff.text(line)))
      for command in line.components(separatedBy: " && ") {
        // A quote holds one word with spaces.
        let words = command.components(separatedBy: "'").enumerated().flatMap { number, text in
          number.isMultiple(of: 2) ? text.split(separator: " ").map(String.init) : [text]
        }
        #expect(throws: Never.self, "\(command)") { _ = try Ladectl.parseAsRoot(Array(words.dropFirst())) }
      }
    }
  }

  @Test("every verb that writes JSON says which documents, by the names of the interface's description")
  func shapes() throws {
    let document = try DocumentValue(yaml: String(decoding: PackageResources.openapi_yaml, as: UTF8.self))
    let known = Set(document["components"]["schemas"].members.map(\.key))
    #expect(known.contains("JobList"))
    for verb in try VerbDescription.all().family where verb.shownArguments.contains(where: { $0.isNamed("--json") }) {
      let sentence = verb.discussion?.split(separator: "\n").last { $0.hasPrefix("With --json: ") } ?? ""
      #expect(!sentence.isEmpty, "\(verb.words)")
      for name in sentence.split(whereSeparator: { !$0.isLetter }).dropFirst()
      where name.first?.isUppercase == true && name != "JSON" {
        #expect(known.contains(String(name)), "\(verb.words): \(name)")
      }
    }
  }

  @Test("every argument and option of every verb says what it is for")
  func help() throws {
    for verb in try VerbDescription.all().family {
      #expect(verb.abstract?.isEmpty == false, "\(verb.words)")
      for argument in verb.shownArguments where argument.names?.contains(where: { $0.name == "version" }) != true {
        #expect(
          argument.abstract?.isEmpty == false,
          "\(verb.words) \(argument.names?.first?.name ?? argument.valueName ?? "")")
      }
    }
  }

  @Test("help speaks of verbs, and no line of an example is wrapped")
  func words() async throws {
    for words in [["--help"], ["store", "--help"], ["help", "lane"], ["import", "--help"]] {
      let run = try await LadectlProcess.run(words)
      #expect(run.status == 0 && !run.output.lowercased().contains("subcommand"), "\(run.output)")
    }
    for verb in try VerbDescription.all().family {
      for line in (verb.discussion ?? "").split(separator: "\n") where line.hasPrefix("  ladectl") {
        #expect(line.count <= 80, "\(verb.words): \(line)")
      }
    }
  }

  @Test("a verb's own options come before those of every job, and those before --json")
  func order() throws {
    for verb in try VerbDescription.all().family {
      let names = verb.shownArguments.compactMap { $0.names?.first?.name }
      guard let lane = names.firstIndex(of: "lane"), names.contains("unique-key"), names.contains("wait") else {
        continue
      }
      #expect(names.firstIndex(of: "json").map { $0 > lane } == true, "\(verb.words)")
      for own in ["delimiter", "columns", "set", "depth", "keep"] {
        if let place = names.firstIndex(of: own) { #expect(place < lane, "\(verb.words) --\(own)") }
      }
    }
  }

  @Test("groff has nothing to complain of")
  func groff() async throws {
    guard FileManager.default.isExecutableFile(atPath: "/usr/bin/groff") else {
      return print("groff isn't there: the pages aren't formatted")
    }
    let directory = try TemporaryDirectory()
    let written = try await LadectlProcess.run(["manual", "--output", directory.path])
    #expect(written.status == 0, "\(written.error)")
    let files = try FileManager.default.contentsOfDirectory(atPath: directory.path).map(directory.file)
    #expect(files.count == (try ManualPage.all().count))
    let groff = try await LadectlProcess.run(program: "/usr/bin/groff", ["-man", "-ww", "-z", "-k", "-Tutf8"] + files)
    #expect(groff.error == "")
    #expect(groff.status == 0)
    let text = try await LadectlProcess.run(
      program: "/usr/bin/groff", ["-man", "-k", "-Tutf8", "-P-cbou", directory.file("ladectl-store-check.1")])
    #expect(text.output.contains("ladectl store check"))
    #expect(text.output.contains("--wait"))
  }

  @Test("one page is written to standard output, and one that isn't there is an error")
  func onePage() async throws {
    let page = try await LadectlProcess.run(["manual", "lane", "concurrency"])
    #expect(page.output.contains("LADECTL-LANE-CONCURRENCY"))
    let none = try await LadectlProcess.run(["manual", "juggle"])
    #expect(none.status == 64)
    #expect(none.error.contains("There is no verb 'juggle'"))
  }
}

extension VerbDescription.Argument {
  fileprivate func isNamed(_ text: String) -> Bool { names?.contains { $0.text == text } ?? false }
}
