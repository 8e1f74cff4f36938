import ControlAPI

/// The context of every verb: the daemon, the terminal and the output format.
struct Session: Sendable {
  let client: ControlClient
  let terminal: Terminal
  let json: Bool

  /// Writes a verb's result as JSON if requested, otherwise as text.
  func report(_ value: some Encodable, _ text: () -> String) throws {
    terminal.write(json ? try JSONText.of(value) : text())
  }
}
