import Foundation
import Glibc
import TestSupport
import Testing

@Suite("Data on a terminal", .startsDaemons)
struct TerminalDataTests {
  /// Colours, a window's title, an erased screen by one character of C1, a changed direction of writing.
  private static let name = "\u{1B}[31mred\u{1B}]0;title\u{07} \u{9B}2J \u{202E}left\u{7F} end"

  @Test("control characters that a store holds don't reach a terminal, and reach a file as they are")
  func fetch() async throws {
    let folder = try DaemonFolder.withMembers()
    let daemon = try await folder.start()
    let job = try await folder.imported("number,name\n1,\(Self.name)\n", as: "a.csv", into: "members")
    #expect(job.state == .completed, "\(job.reason ?? "")")
    for format in [["--format", "csv"], ["--format", "json"], ["--format", "table"], ["--json"]] {
      let arguments = ["fetch", "Member", "--columns", "number,name"] + format
      let shown = try await onTerminal(folder, arguments)
      #expect(shown.contains("red") && shown.contains("end"), "\(format): \(shown)")
      #expect(Self.controls(in: shown) == [], "\(format)")
    }
    let csv = try await folder.ladectl("fetch", "Member", "--columns", "number,name", "--format", "csv")
    #expect(csv.text == "number,name\n1,\(Self.name)\n")
    let json = try await folder.ladectl("fetch", "Member", "--columns", "name", "--format", "json")
    #expect(try JSONDecoder().decode([[String: String]].self, from: Data(json.text.utf8)) == [["name": Self.name]])
    try await daemon.stop()
  }

  @Test("nor do those of a file from which a model is inferred reach a terminal", arguments: [["--json"], []])
  func infer(_ form: [String]) async throws {
    let folder = try DaemonFolder.withMembers()
    try folder.write("number,\(Self.name)\n1,2\n", to: "a.csv")
    let shown = try await onTerminal(folder, ["model", "infer", folder.file("a.csv")] + form)
    #expect(shown.contains("number"), "\(shown)")
    #expect(Self.controls(in: shown) == [])
  }

  /// The characters of a text that would control a terminal, but for the ends of lines.
  private static func controls(in text: String) -> [UInt32] {
    text.unicodeScalars.filter { scalar in
      scalar != "\r" && scalar != "\n" && (scalar.properties.generalCategory == .control || scalar == "\u{202E}")
    }.map(\.value)
  }

  /// What ladectl writes when its output is a terminal.
  private func onTerminal(_ folder: DaemonFolder, _ arguments: [String]) async throws -> String {
    var (terminal, other): (Int32, Int32) = (-1, -1)
    var name = [CChar](repeating: 0, count: 128)
    try #require(openpty(&terminal, &other, &name, nil, nil) == 0)
    defer { close(terminal) }
    let path = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    let files = folder.nextRun()
    try FileManager.default.createSymbolicLink(atPath: files + ".out", withDestinationPath: path)
    let ladectl = try ChildProcess(
      Products.ladectl, arguments,
      environment: Products.environment([
        "LADE_SOCKET": folder.file("s"), "NO_COLOR": "1", "TERM": "xterm", "LC_ALL": "C.UTF-8",
      ]), files: files)
    #expect(try await ladectl.ending.value() == .exit(0))
    // As long as it was open here, too, nothing of what was written was lost.
    close(other)
    var all: [UInt8] = []
    var bytes = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = read(terminal, &bytes, bytes.count)
      guard count > 0 else { return String(decoding: all, as: UTF8.self) }
      all += bytes[..<count]
    }
  }
}
