import Foundation
import TestSupport
import Testing

/// A terminal with a shell in it, by tmux(1): what is typed, and what is then to be seen.
///
/// It never waits for a time: tmux copies what it draws into a file, and whenever that grows the screen is looked at again.
final class TmuxTerminal {
  private let program: URL
  private let folder: DaemonFolder
  private let socket: String
  private let environment: [String: String]
  private let drawn: FileGrowth

  /// Whether tmux is there; says so where it isn't, for the tests are skipped then.
  static let isThere: Bool = {
    if Products.system("tmux") != nil { return true }
    print("tmux isn't there (make deps installs it): nothing is seen on a terminal")
    return false
  }()

  /// Runs a terminal of some size while `body` runs.
  static func with(
    _ folder: DaemonFolder, columns: Int = 80, rows: Int = 24, _ body: (TmuxTerminal) async throws -> Void
  ) async throws {
    let terminal = try await TmuxTerminal(folder, columns, rows)
    do {
      try await terminal.shows { $0.first == "$" }
      try await body(terminal)
    } catch {
      let screen = try? await terminal.screen()
      print("the terminal was:\n" + (screen ?? []).joined(separator: "\n"))
      try await terminal.tmux("kill-server")
      throw error
    }
    try await terminal.tmux("kill-server")
  }

  private init(_ folder: DaemonFolder, _ columns: Int, _ rows: Int) async throws {
    self.folder = folder
    program = try #require(Products.system("tmux"))
    socket = folder.file("tmux")
    let path = Products.folder.path + ":" + (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin")
    environment = Products.environment([
      "LADE_SOCKET": folder.file("s"), "PATH": path, "LC_ALL": "C.UTF-8", "PS1": "$ ", "TERM": "xterm", "HISTFILE": "",
      "NO_COLOR": "",
    ])
    try folder.write("", to: "drawn")
    drawn = try FileGrowth(of: folder.file("drawn"))
    // The shell begins when its output is being copied.
    let shell = "read start; cd '\(folder.path)'; clear; exec bash --norc --noprofile -i"
    let size = ["-x", "\(columns)", "-y", "\(rows)"]
    try await tmux(["-f", "/dev/null", "new-session", "-d"] + size + ["sh", "-c", shell])
    try await tmux("set-option", "-g", "window-size", "manual")
    try await tmux("pipe-pane", "-o", "cat >> '\(folder.file("drawn"))'")
    try await type("", "Enter")
  }

  /// Types text, and then keys by tmux's names: `Enter`, `C-c`.
  func type(_ text: String, _ keys: String...) async throws {
    if !text.isEmpty { try await tmux("send-keys", "-l", text) }
    if !keys.isEmpty { try await tmux(["send-keys"] + keys) }
  }

  func resize(columns: Int, rows: Int) async throws {
    try await tmux("resize-window", "-x", "\(columns)", "-y", "\(rows)")
  }

  /// The lines of the screen, without spaces at their ends.
  func screen() async throws -> [String] {
    try await tmux("capture-pane", "-p").split(separator: "\n", omittingEmptySubsequences: false).dropLast().map {
      String($0.reversed().drop { $0 == " " }.reversed())
    }
  }

  /// The screen with the codes of its colours and weights.
  func inks() async throws -> String { try await tmux("capture-pane", "-p", "-e") }

  /// Waits until the screen is as it should be; returns it.
  @discardableResult
  func shows(_ condition: ([String]) -> Bool) async throws -> [String] {
    while true {
      let screen = try await screen()
      if condition(screen) { return screen }
      var changes = drawn.changes.makeAsyncIterator()
      guard await changes.next() != nil else { throw CancellationError() }
    }
  }

  /// Waits until a line has these words.
  @discardableResult
  func shows(_ words: String) async throws -> [String] { try await shows { $0.contains { $0.contains(words) } } }

  /// Whether a program has the alternate screen, and whether the cursor is to be seen.
  func modes() async throws -> (alternate: Bool, cursor: Bool) {
    let flags = try await tmux("display-message", "-p", "#{alternate_on}#{cursor_flag}")
    return (flags.hasPrefix("1"), flags.dropFirst().hasPrefix("1"))
  }

  /// What stty(1) says of the terminal; for a shell that waits for a command.
  func settings() async throws -> String {
    let file = "stty-\(UUID().uuidString.prefix(8))"
    try await type("stty -g > \(file); echo written \(file)", "Enter")
    try await shows { $0.contains("written \(file)") }
    return try folder.text(file)
  }

  @discardableResult
  private func tmux(_ arguments: String...) async throws -> String { try await tmux(arguments) }

  @discardableResult
  private func tmux(_ arguments: [String]) async throws -> String {
    let files = folder.file("tmux-\(UUID().uuidString.prefix(13))")
    let run = try await ProgramOutput.of(program, ["-S", socket] + arguments, environment: environment, files: files)
    for end in [".out", ".err"] { try FileManager.default.removeItem(atPath: files + end) }
    guard run.status == 0 else {
      throw ProgramFailure(program: "tmux", arguments: arguments, what: "status \(run.status)", error: run.error)
    }
    return run.text
  }
}
