import ArgumentParser
import LadeTypes

/// A duration on the command line: `90s`, `10m`, `2h`, `1d`; a number alone is seconds.
struct Period: Sendable, Hashable {
  let seconds: Double

  /// Parses it.
  /// - Throws: `ValidationError` that lists the accepted forms.
  init(parsing text: String) throws {
    guard let duration = Duration(parsing: text, allowsBareSeconds: true), duration > .zero else {
      throw ValidationError("'\(text)' isn't a time span; write 90s, 10m, 2h or 1d.")
    }
    seconds = duration.seconds
  }
}
