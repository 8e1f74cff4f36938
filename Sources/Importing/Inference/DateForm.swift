import ManagedObjects

/// The forms of dates that are tried, besides ISO 8601.
struct DateForm: Sendable {
  let format: String
  let pattern: DatePattern

  /// A number of eight digits counts as a date only if the column's name suggests one.
  static let compact = 0

  static let all: [DateForm] = [
    "yyyyMMdd", "yyyy/MM/dd", "dd.MM.yyyy", "dd/MM/yyyy", "MM/dd/yyyy", "yyyy/MM/dd HH:mm:ss", "dd.MM.yyyy HH:mm",
    "dd.MM.yyyy HH:mm:ss", "dd/MM/yyyy HH:mm", "MM/dd/yyyy HH:mm", "dd/MM/yyyy HH:mm:ss", "MM/dd/yyyy HH:mm:ss",
    "MM/dd/yyyy hh:mm:ss a", "d MMM yyyy", "d-MMM-yyyy", "EEE, d MMM yyyy HH:mm:ss Z",
  ].map { format in
    do {
      return DateForm(format: format, pattern: try DatePattern(format, attribute: ""))
    } catch {
      preconditionFailure("\(format) is in the list above: \(error)")
    }
  }

  /// Whether the text is a date of this form, limited to the years 1900 to 2099 where nothing else identifies it.
  func fits(_ text: UnsafeRawBufferPointer, isCompact: Bool) -> Bool {
    guard let instant = pattern.microsecondsSince1970(text) else { return false }
    return !isCompact || (-2_208_988_800_000_000..<4_102_444_800_000_000).contains(instant)
  }

  /// Whether a column of this name may hold dates.
  static func isNamed(_ name: String) -> Bool {
    let words = EntityNames.words(of: name).map { $0.lowercased() }
    return words.contains { word in
      Self.words.contains(word) || word.hasSuffix("date") || word.hasPrefix("date") || word.hasSuffix("datum")
    }
  }

  private static let words: Set<String> = [
    "at", "birth", "birthday", "born", "closed", "created", "day", "deadline", "died", "dob", "due", "ended", "expires",
    "expiry", "fecha", "from", "modified", "on", "opened", "since", "started", "until", "updated", "valid", "when",
  ]
}
