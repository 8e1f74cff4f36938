/// Names of entities, derived from those of files: `stop_times` becomes `StopTime`.
enum EntityNames {
  /// The name of the entity for a file with this name, without its ending.
  static func entity(of base: String) -> String {
    var words = words(of: base)
    if let last = words.popLast() { words.append(singular(last)) }
    let name = words.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    guard let first = name.unicodeScalars.first else { return "Record" }
    return (0x41...0x5A).contains(first.value) ? name : "Record" + name
  }

  /// The part that two names of the same entity share: letters and digits only, in lower case.
  static func matching(_ name: String) -> String { words(of: name).joined().lowercased() }

  /// The words of a name, split at everything but letters and digits of ASCII, and at capitals after lower-case letters.
  /// Accents are removed where that leaves ASCII.
  static func words(of name: String) -> [String] {
    var words: [String] = []
    var word = ""
    var wasSmall = false
    for scalar in NameText.unaccented(name).unicodeScalars {
      let isCapital = (0x41...0x5A).contains(scalar.value)
      if isCapital, wasSmall, !word.isEmpty {
        words.append(word)
        word = ""
      }
      if NameText.isWord(scalar), scalar != "_" {
        word.unicodeScalars.append(scalar)
      } else if !word.isEmpty {
        words.append(word)
        word = ""
      }
      wasSmall = (0x61...0x7A).contains(scalar.value) || (0x30...0x39).contains(scalar.value)
    }
    if !word.isEmpty { words.append(word) }
    return words.map { word in
      // SHOUTED names are read as plain ones.
      word.count > 1 && word == word.uppercased() ? word.lowercased() : word
    }
  }

  private static let irregular = [
    "people": "person", "children": "child", "men": "man", "women": "woman", "feet": "foot", "teeth": "tooth",
    "mice": "mouse", "geese": "goose", "indices": "index", "vertices": "vertex", "matrices": "matrix",
    "criteria": "criterion", "phenomena": "phenomenon", "analyses": "analysis", "bases": "base", "movies": "movie",
    "cookies": "cookie", "ties": "tie", "pies": "pie", "shoes": "shoe", "leaves": "leaf", "shelves": "shelf",
    "halves": "half", "wolves": "wolf", "knives": "knife", "wives": "wife", "lives": "life", "heroes": "hero",
    "potatoes": "potato", "tomatoes": "tomato", "echoes": "echo", "quizzes": "quiz", "buses": "bus",
    "viruses": "virus", "aliases": "alias", "gases": "gas", "lenses": "lens", "caches": "cache", "axes": "axis",
    "series": "series", "species": "species", "news": "news", "status": "status", "address": "address", "data": "data",
    "goods": "goods", "means": "means", "lens": "lens", "sales": "sale", "leases": "lease", "databases": "database",
  ]

  /// The singular of an English word, by its ending; a word that isn't a plural stays the same.
  static func singular(_ word: String) -> String {
    let lower = word.lowercased()
    if let known = irregular[lower] { return word.first?.isUppercase == true ? known.capitalizedFirst : known }
    func without(_ count: Int, _ ending: String = "") -> String { word.dropLast(count) + ending }
    guard lower.count > 3, lower.hasSuffix("s") else { return word }
    // Not plurals: boss, status, analysis, gas.
    if lower.hasSuffix("ss") || lower.hasSuffix("us") || lower.hasSuffix("is") { return word }
    if lower.hasSuffix("ies") { return without(3, "y") }
    for ending in ["sses", "shes", "ches", "xes", "zzes"] where lower.hasSuffix(ending) { return without(2) }
    if lower.hasSuffix("uses"), !lower.hasSuffix("ouses"), !lower.hasSuffix("auses") { return without(2) }
    return without(1)
  }
}

extension String {
  fileprivate var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}

/// Parts of file names. These are text only: no file is opened by them.
enum FileNames {
  /// The name without folders.
  static func last(of path: String) -> String {
    path.split(separator: "/").last.map(String.init) ?? path
  }

  /// The name without folders and without the endings of format and compression.
  static func base(of path: String) -> String {
    var name = last(of: path)
    if let compressed = SourceCompression.ofName(name) { name = compressed.inner }
    guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return name }
    let ending = name[name.index(after: dot)...]
    // `v1.2` is a name; endings are short and begin with a letter.
    guard (1...8).contains(ending.count), ending.first?.isLetter == true else { return name }
    return String(name[..<dot])
  }
}
