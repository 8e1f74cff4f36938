import ArgumentParser

/// A duration on the command line: `90s`, `10m`, `2h`, `1d`; a number alone is seconds.
struct Period: Sendable, Hashable {
  let seconds: Double

  /// Parses it.
  /// - Throws: `ValidationError` that lists the accepted forms.
  init(parsing text: String) throws {
    guard let seconds = Self.seconds(text[...]) ?? Self.seconds(text + "s"), seconds > 0 else {
      throw ValidationError("'\(text)' isn't a time span; write 90s, 10m, 2h or 1d.")
    }
    self.seconds = seconds
  }

  /// The seconds in a number with a unit; nil for anything else.
  static func seconds(_ text: some StringProtocol) -> Double? {
    let units: [Character: Double] = ["s": 1, "m": 60, "h": 3600, "d": 86400]
    guard let last = text.last, let unit = units[last], let number = Double(text.dropLast()), number >= 0,
      number.isFinite
    else { return nil }
    return number * unit
  }
}
