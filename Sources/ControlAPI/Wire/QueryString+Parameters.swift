extension QueryString {
  /// Refuses a misspelt parameter instead of answering another question than was asked.
  /// - Throws: ``QueryError/unknown(name:known:)``.
  package func refuseNames(otherThan known: [String]) throws {
    for name in names where !known.contains(name) { throw QueryError.unknown(name: name, known: known) }
  }

  /// A parameter's words, with commas between; empty when it isn't there.
  package func list(_ name: String) -> [String] {
    self[name]?.split(separator: ",").map { word in
      var word = word
      while word.first == " " { word.removeFirst() }
      while word.last == " " { word.removeLast() }
      return String(word)
    } ?? []
  }

  /// A parameter that is a whole number; nil when it isn't there.
  /// - Throws: ``QueryError/invalid(name:value:expected:)``.
  package func integer(_ name: String, in range: ClosedRange<Int64>) throws -> Int64? {
    guard let text = self[name] else { return nil }
    guard let number = Int64(text), range.contains(number) else {
      let bounds =
        range.upperBound == .max ? "from \(range.lowerBound)" : "from \(range.lowerBound) to \(range.upperBound)"
      throw QueryError.invalid(name: name, value: text, expected: "a whole number \(bounds)")
    }
    return number
  }

  /// A parameter that is `true` or `false`; nil when it isn't there. `1` and nothing after the name are true, too.
  /// - Throws: ``QueryError/invalid(name:value:expected:)``.
  package func flag(_ name: String) throws -> Bool? {
    switch self[name] {
    case nil: return nil
    case "true", "1", "": return true
    case "false", "0": return false
    case let text?: throw QueryError.invalid(name: name, value: text, expected: "true or false")
    }
  }
}

extension String {
  /// The word as one of several.
  /// - Throws: ``QueryError/invalid(name:value:expected:)``.
  func asWord<Word: RawRepresentable & CaseIterable>(of type: Word.Type, in name: String) throws -> Word
  where Word.RawValue == String {
    guard let word = Word(rawValue: self) else {
      let known = Word.allCases.map(\.rawValue).joined(separator: ", ")
      throw QueryError.invalid(name: name, value: self, expected: "one of " + known)
    }
    return word
  }
}
