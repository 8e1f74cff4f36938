import ControlAPI

/// What every verb has: the daemon, the terminal and the form of the result.
struct Session: Sendable {
  let client: ControlClient
  let terminal: Terminal
  let json: Bool

  /// Writes a verb's result: as JSON where that was asked for, else in words.
  func report(_ value: some Encodable, _ text: () -> String) throws {
    terminal.write(json ? try JSONText.of(value) : text())
  }
}
