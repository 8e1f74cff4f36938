import ControlAPI

/// Text styles: colours where wanted, characters beyond ASCII where the terminal can show them.
struct Style: Sendable, Hashable {
  /// A terminal's colours and weights by SGR number (ECMA-48).
  enum Ink: Int, Sendable {
    case bold = 1
    case dim = 2
    case red = 31
    case green = 32
    case yellow = 33
    case cyan = 36
  }

  var colours: Bool
  var unicode: Bool

  /// For a pipe.
  static let plain = Style(colours: false, unicode: true)

  /// The text in an ink.
  func callAsFunction(_ text: String, _ ink: Ink?) -> String {
    guard colours, let ink, !text.isEmpty else { return text }
    return "\u{1B}[\(ink.rawValue)m\(text)\u{1B}[0m"
  }

  /// The ink of a job: that of its state, and of a warning if it completed with rejects.
  static func ink(of job: Job) -> Ink? { job.hasRejects ? .yellow : ink(of: job.state) }

  /// The ink of a job's state.
  static func ink(of state: JobState) -> Ink? {
    switch state {
    case .running: .cyan
    case .completed: .green
    case .retryable, .cancelled: .yellow
    case .discarded: .red
    case .scheduled: .dim
    case .available: nil
    }
  }
}
