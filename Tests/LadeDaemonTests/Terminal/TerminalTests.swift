import ControlAPI
import Foundation
import Testing

// One daemon after the other: a user of the system has 128 inotify instances (inotify(7)) for all of them.
@Suite("On a real terminal", .startsDaemons, .serialized, .enabled(if: TmuxTerminal.isThere))
struct TerminalTests {
  private static let recipes = "  members: { store: main, entity: Member, batch_size: 500 }"
  private static let rows = 100_000

  private func started() async throws -> (DaemonFolder, DaemonProcess) {
    let folder = try DaemonFolder(model: Members.model, recipes: Self.recipes)
    return (folder, try await folder.start())
  }

  @Test(
    "watch draws lanes, bars and what has ended, follows the terminal's size, and q gives it back")
  func watch() async throws {
    let (folder, daemon) = try await started()
    try await TmuxTerminal.with(folder) { terminal in
      let before = try await terminal.settings()
      try await terminal.type("ladectl watch", "Enter")
      let first = try await terminal.shows("q leaves")
      #expect(first.count == 24)
      #expect(first[0].hasPrefix("laded 0.1.0, up "), "\(first[0])")
      #expect(first.contains { $0.hasPrefix("LANE") } && first.contains { $0.hasPrefix("import") })
      #expect(first[23] == "q leaves; the jobs go on")
      let modes = try await terminal.modes()
      #expect(modes == (alternate: true, cursor: false))

      try folder.drop(Members(rows: Self.rows).csv, as: "members.csv", into: "members")
      let running = try await terminal.shows { $0.contains { $0.contains("━") && $0.contains("records/s") } }
      let bar = running.first { $0.contains("━") } ?? ""
      #expect(bar.hasPrefix("1 members.csv") && bar.contains("%") && bar.contains(" left"), "\(bar)")

      try await terminal.resize(columns: 50, rows: 12)
      let small = try await terminal.shows { $0.count == 12 && $0.last == "q leaves; the jobs go on" }
      #expect(small[0].hasPrefix("laded 0.1.0"))
      let ended = try await terminal.shows("1 members.csv completed: 100,000")
      #expect(ended.contains("ENDED"))
      #expect(!ended.contains { $0.contains("━") })

      try await terminal.type("q")
      try await terminal.shows { $0.last { !$0.isEmpty } == "$" }
      #expect(try await terminal.modes() == (alternate: false, cursor: true))
      try await terminal.type("echo status=$?", "Enter")
      try await terminal.shows("status=0")
      #expect(try await terminal.settings() == before)
    }
    try await daemon.stop()
  }

  @Test(
    "a signal ends watch as it should, and only after the terminal is as it was",
    arguments: [(SIGINT, 130), (SIGTERM, 143), (SIGHUP, 129), (SIGQUIT, 131)])
  func signals(_ signal: Int32, _ status: Int) async throws {
    let (folder, daemon) = try await started()
    try await TmuxTerminal.with(folder) { terminal in
      let before = try await terminal.settings()
      try await terminal.type("ulimit -c 0; sh -c 'echo $$ > pid; exec ladectl watch'", "Enter")
      try await terminal.shows("q leaves")
      if signal == SIGINT {
        try await terminal.type("", "C-c")
      } else {
        kill(try #require(pid_t(try folder.text("pid").trimmingCharacters(in: .newlines))), signal)
      }
      try await terminal.shows { $0.last { !$0.isEmpty } == "$" }
      try await terminal.type("echo status=$?", "Enter")
      try await terminal.shows("status=\(status)")
      #expect(try await terminal.modes() == (alternate: false, cursor: true))
      #expect(try await terminal.settings() == before)
    }
    try await daemon.stop()
  }

  @Test("Ctrl-Z stops watch and gives the terminal back, and fg goes on")
  func stop() async throws {
    let (folder, daemon) = try await started()
    try await TmuxTerminal.with(folder) { terminal in
      let before = try await terminal.settings()
      for _ in 0..<2 {
        try await terminal.type("clear; ladectl watch", "Enter")
        try await terminal.shows("q leaves")
        try await terminal.type("", "C-z")
        try await terminal.shows("Stopped")
        #expect(try await terminal.modes() == (alternate: false, cursor: true))
        #expect(try await terminal.settings() == before)
        try await terminal.type("clear; fg", "Enter")
        try await terminal.shows("q leaves")
        #expect(try await terminal.modes() == (alternate: true, cursor: false))
        try await terminal.type("q")
        try await terminal.shows { $0.last { !$0.isEmpty } == "$" }
      }
      #expect(try await terminal.settings() == before)
    }
    try await daemon.stop()
  }

  @Test("watch says that the daemon has gone, and goes on with the next one")
  func restart() async throws {
    let (folder, daemon) = try await started()
    try await TmuxTerminal.with(folder) { terminal in
      try await terminal.type("ladectl watch", "Enter")
      try await terminal.shows("q leaves")
      try await daemon.stop()
      try await terminal.shows { $0.first?.hasPrefix("laded isn't running") == true }
      let next = try await folder.start()
      try await terminal.shows { $0.first?.hasPrefix("laded 0.1.0, up") == true }
      try await terminal.type("q")
      try await terminal.shows { $0.last { !$0.isEmpty } == "$" }
      try await next.stop()
    }
  }

  @Test("wait draws a bar over itself, leaves one line, and ends with the job's status")
  func wait() async throws {
    let (folder, daemon) = try await started()
    try await TmuxTerminal.with(folder, columns: 120, rows: 10) { terminal in
      try folder.drop(Members(rows: Self.rows).csv, as: "members.csv", into: "members")
      try await terminal.type("ladectl wait --all; echo status=$?", "Enter")
      let running = try await terminal.shows { $0.contains { $0.contains("━") } }
      #expect(running.count { $0.contains("members.csv") } == 1)
      let ended = try await terminal.shows("status=0")
      let text = ended.joined(separator: "\n")
      #expect(text.contains("1 members.csv completed: 100,000 records"), "\(text)")
      #expect(!text.contains("━"))
    }
    try await daemon.stop()
  }

  @Test("a terminal gets colours, and with NO_COLOR none, but all else")
  func colours() async throws {
    let (folder, daemon) = try await started()
    #expect(try await folder.imported("number,name\n1,Ada\n", as: "one.csv", into: "members").state == .completed)
    try await TmuxTerminal.with(folder, columns: 120) { terminal in
      try await terminal.type("ladectl list", "Enter")
      try await terminal.shows("one.csv")
      #expect(try await terminal.inks().contains("\u{1B}[32mcompleted"))
      try await terminal.type("clear; NO_COLOR=1 ladectl list", "Enter")
      try await terminal.shows { $0.first?.hasPrefix("ID") == true && $0.contains { $0.contains("one.csv") } }
      let plain = try await terminal.inks()
      #expect(plain.contains("completed") && !plain.contains("\u{1B}"), "\(plain)")
      try await terminal.type("clear; NO_COLOR=1 ladectl watch", "Enter")
      try await terminal.shows { screen in
        screen.last == "q leaves; the jobs go on" && screen.contains { $0.contains("one.csv completed") }
      }
      #expect(!(try await terminal.inks().contains("\u{1B}[3")))
      try await terminal.type("q")
      try await terminal.shows { $0.last { !$0.isEmpty } == "$" }
    }
    try await daemon.stop()
  }

  @Test("on a terminal that can't be drawn on watch says so and writes lines")
  func dumb() async throws {
    let (folder, daemon) = try await started()
    try await TmuxTerminal.with(folder, columns: 120) { terminal in
      try await terminal.type("TERM=dumb ladectl watch", "Enter")
      try await terminal.shows("this isn't a terminal to draw on")
      try folder.drop("number,name,age,manager\n1,Ada,36,\n", as: "one.csv", into: "members")
      try await terminal.shows("1 one.csv completed: 1 record, 1 inserted")
      #expect(try await terminal.modes() == (alternate: false, cursor: true))
      try await terminal.type("", "C-c")
      try await terminal.shows { $0.last { !$0.isEmpty } == "$" }
    }
    try await daemon.stop()
  }
}
