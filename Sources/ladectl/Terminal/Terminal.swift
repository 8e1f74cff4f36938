import Glibc

/// Standard output and its capabilities.
struct Terminal: Sendable {
  /// Whether it is a terminal that understands cursor movements.
  let isInteractive: Bool
  let style: Style
  /// For standard error, which may be a terminal when standard output isn't, and the other way round.
  let errorStyle: Style
  /// The maximum width of a line; nil for no limit, as in a pipe.
  let width: Int?

  /// Detects the capabilities of standard output from its type and the environment.
  init() {
    func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
    isInteractive = isatty(STDOUT_FILENO) == 1 && !["", "dumb"].contains(variable("TERM") ?? "")
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].compactMap(variable).first { !$0.isEmpty } ?? ""
    let unicode = locale.uppercased().contains("UTF-8") || locale.uppercased().contains("UTF8")
    let allowsColours = (variable("NO_COLOR") ?? "").isEmpty && !["", "dumb"].contains(variable("TERM") ?? "")
    style = Style(colours: isInteractive && allowsColours, unicode: unicode)
    errorStyle = Style(colours: isatty(STDERR_FILENO) == 1 && allowsColours, unicode: unicode)
    width = isInteractive ? Self.size()?.columns ?? variable("COLUMNS").flatMap { Int($0) } ?? 80 : nil
  }

  /// The current size of the terminal; nil if unknown.
  static func size() -> (columns: Int, rows: Int)? {
    var size = winsize()
    guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else { return nil }
    return (Int(size.ws_col), Int(size.ws_row))
  }

  /// Whether the user can be asked: input and output are a terminal.
  var canAsk: Bool { isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1 }

  /// Writes what a store holds: for a program as it is, for a terminal without characters that would control it.
  func writeData(_ text: String) { write(isatty(STDOUT_FILENO) == 1 ? text.printableLines : text) }

  /// Writes a part of a file likewise.
  func writeData(_ bytes: [UInt8]) {
    if isatty(STDOUT_FILENO) == 1 { writeData(String(decoding: bytes, as: UTF8.self)) } else { write(bytes) }
  }

  func write(_ text: String) { write(Array(text.utf8)) }

  /// Writes all of it. If the reader has gone, as after `| head`, SIGPIPE ends the program as usual.
  private func write(_ bytes: [UInt8]) {
    var bytes = bytes[...]
    while !bytes.isEmpty {
      let count = bytes.withUnsafeBytes { Glibc.write(STDOUT_FILENO, $0.baseAddress, $0.count) }
      if count >= 0 {
        bytes = bytes.dropFirst(count)
      } else if errno != EINTR {
        if errno == EPIPE {
          signal(SIGPIPE, SIG_DFL)
          raise(SIGPIPE)
        }
        Failure(LocalFailure.cantWriteOutput(reason: String(cString: strerror(errno)))).exit(asJSON: false)
      }
    }
  }
}

/// Standard error, for text that doesn't belong to the result. A failure to write there can't be reported anywhere.
enum StandardError {
  /// Writes text that contains data: for a program as it is, for a terminal without characters that would control it.
  static func writeData(_ text: String) { write(isatty(STDERR_FILENO) == 1 ? text.printableLines : text) }

  static func write(_ text: String) {
    var bytes = Array(text.utf8)[...]
    while !bytes.isEmpty {
      let count = bytes.withUnsafeBytes { Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
      guard count >= 0 || errno == EINTR else { return }
      bytes = bytes.dropFirst(max(count, 0))
    }
  }
}

extension String {
  /// Its lines, without characters that would control a terminal.
  fileprivate var printableLines: String {
    split(separator: "\n", omittingEmptySubsequences: false).map { String($0).printable }.joined(separator: "\n")
  }
}

/// A question to the user at the terminal. It goes to standard error, since the output may be redirected.
enum Question {
  /// Whether the answer is yes; anything else, including no answer, is no.
  static func ask(_ question: String) -> Bool {
    StandardError.write("\(question) [y/N] ")
    guard let answer = readLine(strippingNewline: true) else {
      StandardError.write("\n")
      return false
    }
    return ["y", "yes"].contains(answer.lowercased())
  }
}

/// The last lines of the terminal, redrawn in place, below lines that stay.
///
/// It only produces text: ECMA-48's cursor-up and erase-to-end, then lines. No line of the region may be wider than the
/// terminal, or the line count would be wrong; permanent lines may.
struct LiveRegion: Sendable {
  private var drawn = 0

  /// The text that erases the region, adds permanent lines, and redraws the region.
  mutating func redraw(staying: [String] = [], live: [String]) -> String {
    var text = drawn > 0 ? "\u{1B}[\(drawn)A\r\u{1B}[J" : ""
    for line in staying + live { text += line + "\n" }
    drawn = live.count
    return text
  }
}
