import ArgumentParser
import ControlAPI
import Glibc

extension Ladectl {
  /// `ladectl config`: commands for the daemon's configuration.
  struct Config: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "config", abstract: "Check and show the daemon's configuration.",
      subcommands: [Check.self, Show.self])

    /// `ladectl config check`: validates it.
    struct Check: ControlCommand {
      static let configuration = verb(
        "check", "Validate the configuration before the daemon uses it.",
        """
        The running daemon reads its configuration file again, with the drop-ins in the folder of the same name and '.d', its \
        environment, and the models they name; it changes nothing. With a file, 'laded --check-config' reads that file, \
        without a running daemon; whether that differs from what a daemon works by isn't known then. Exits with 0 if it is \
        valid, otherwise with 1.
        """, json: .document("a ConfigurationCheck"))

      @Argument(help: "A file other than the daemon's.", completion: .file(extensions: ["yaml", "yml"]))
      var file: String?

      @OptionGroup var output: OutputOptions
      @OptionGroup var connection: ConnectionOptions

      func run(_ session: Session) async throws {
        if let file, output.json {
          let run = try ProgramBeside("laded").outcome(["--check-config", "--config", file])
          let check = ConfigurationCheck(checking: file, status: run.status, output: run.error)
          try session.report(check) { "" }
          if !check.isGood { throw ExitStatus.failed.silently }
          return
        }
        if let file { throw try ProgramBeside("laded").run(["--check-config", "--config", file]) }
        let check = try await session.client.checkConfiguration()
        try session.report(check) { check.text }
        if !check.isGood { throw ExitStatus.failed.silently }
      }
    }
  }
}

extension Ladectl.Config {
  /// `ladectl config show`.
  struct Show: ControlCommand {
    static let configuration = Ladectl.verb(
      "show", "Show what the files and variables of the configuration say together, with the place of each key.",
      """
      It reads them as they are now: 'ladectl reload' puts them in force. Keys that none of them says have their defaults, \
      which lade.yaml(5) describes. Secrets aren't shown.

        ladectl config show
        ladectl config show lanes.import
      """, json: .document("a ConfigurationSettings"))

    @Argument(help: ArgumentHelp("Only this key and those under it, such as recipes.people.", valueName: "key"))
    var key: String?

    @OptionGroup var output: OutputOptions
    @OptionGroup var connection: ConnectionOptions

    func run(_ session: Session) async throws {
      let all = try await session.client.configurationSettings()
      let settings = key.map { all.under($0) } ?? all
      try session.report(settings) {
        guard !settings.settings.isEmpty else { return "No file and no variable says anything of this.\n" }
        return settings.table().rendered(width: session.terminal.width, style: session.terminal.style)
      }
      if all.differs, !session.json {
        session.remark("The daemon works by something else: 'ladectl reload' changes that, or a restart.")
      }
    }
  }
}

extension ConfigurationSettings {
  /// Only a key and those under it.
  func under(_ key: String) -> ConfigurationSettings {
    ConfigurationSettings(
      layers: layers, settings: settings.filter { $0.key == key || $0.key.hasPrefix(key + ".") }, differs: differs)
  }

  /// - Parameter prefix: what is left out of the keys.
  func table(without prefix: String = "") -> TextTable {
    TextTable(
      columns: [.init("KEY", cut: .nothing), .init("VALUE"), .init("FROM", cut: .middle, rank: 1)],
      rows: settings.map { setting in
        [
          .init(String(setting.key.dropFirst(prefix.count))), .init(setting.value),
          .init(setting.file + (setting.line.map { ":\($0)" } ?? "")),
        ]
      })
  }
}

extension ConfigurationCheck {
  /// What `laded --check-config` has found: a line for each mistake, `FILE:LINE:COLUMN: message` or `FILE: message`.
  init(checking file: String, status: Int32, output: String) {
    let lines = output.split(separator: "\n").map { $0.hasPrefix("laded: ") ? $0.dropFirst("laded: ".count) : $0 }
    self.init(
      path: file, isGood: status == 0, differs: false, mistakes: status == 0 ? [] : lines.map { Mistake(line: $0) })
    guard status == 0 else { return }
    let mark = "warning: "
    warnings = lines.filter { $0.hasPrefix(mark) }.map { Mistake(line: $0.dropFirst(mark.count)) }
  }

  fileprivate var text: String {
    let path = path.printable
    guard isGood else {
      return mistakes.map(shown).joined()
    }
    func line(_ what: String, _ keys: [String]) -> String {
      keys.isEmpty ? "" : "\(what): \(keys.map(\.printable).joined(separator: ", "))\n"
    }
    return "\(path): good\n" + line("'ladectl reload' applies", changed)
      + line("'ladectl reload' removes", removed) + line("needs a restart", needsRestart)
      + line("'ladectl store migrate' or a restart takes up the model of", needsMigration)
      + warnings.map { "warning: " + shown($0) }.joined()
  }

  private func shown(_ mistake: Mistake) -> String {
    var place = mistake.file?.printable ?? path.printable
    if let line = mistake.line { place += ":\(line)" + (mistake.column.map { ":\($0)" } ?? "") }
    // Most messages name the key themselves.
    let key = mistake.key.flatMap { mistake.message.contains($0) ? nil : $0.printable + ": " } ?? ""
    return "\(place): " + key + mistake.message.printable + "\n"
  }
}

extension ConfigurationCheck.Mistake {
  /// One line of what `laded --check-config` has found.
  fileprivate init(line: Substring) {
    guard let found = line.wholeMatch(of: /(.+?)(?::(\d+):(\d+))?: (.*)/) else {
      self.init(message: String(line))
      return
    }
    let (_, place, row, column, message) = found.output
    self.init(
      file: String(place), line: row.flatMap { Int($0) }, column: column.flatMap { Int($0) }, message: String(message))
  }
}
